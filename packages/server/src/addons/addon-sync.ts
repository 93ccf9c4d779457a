import {
  type AddonBody,
  type AddonDefinitionFile,
  type AddonReport,
  canonicalJson,
  isSafeText,
  type Reason,
  UNKNOWN_DRIFT,
} from "@binnacle/contract";
import { phaseSinceAfter, storedStatus } from "../apps/component-status.ts";
import { driftAfter, NO_DRIFT_REPORTED } from "../apps/drift-report.ts";
import { afterReport, type Instance } from "./addon.ts";
import { overlay, type Values } from "./addon-values.ts";

/** The body of an addon instance that is sent to its cluster. `secrets` are opened, by path. */
export function addonBody(
  instance: Instance,
  { chart: { repo, name }, default_values, export_schema }: AddonDefinitionFile,
  secrets: ReadonlyMap<string, string>,
): AddonBody {
  return {
    spec: {
      project_id: instance.project_id,
      namespace: instance.namespace,
      name: instance.name,
      chart: { repo, name, version: instance.chart_version },
      export_schema,
    },
    secret: { values: withSecrets(overlay(default_values, instance.values), secrets) },
  };
}

/** Puts each secret at its path, in place of the reference that readers see. */
export function withSecrets(values: Values, secrets: ReadonlyMap<string, string>): Record<string, unknown> {
  return [...secrets].reduce<Values>((filled, [path, secret]) => overlay(filled, alongPath(path, secret)), values);
}

const alongPath = (path: string, secret: string): Values =>
  path.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), secret) as Values;

/**
 * Applies a report to an instance; returns the same object where nothing changes. A generation that was never sent to
 * the cluster is ignored. A deletion is requested here only: a cluster neither begins nor ends one.
 */
export function addonAfterReport(
  instance: Instance,
  generation: number,
  { phase, ...report }: AddonReport,
  definition: Pick<AddonDefinitionFile, "export_schema"> | null,
  now: Date,
): Instance {
  if (generation > instance.generation) return instance;
  const next = phase === "deleting" ? deletionUnderWay(instance, generation, report) : seen();
  const after = { ...instance, ...next };
  return canonicalJson(after) === canonicalJson(instance) ? instance : after;

  function seen(): Partial<Instance> | null {
    const given = Object.entries(report.exports).filter(([, value]) => value === null || isSafeText(value));
    const exports = Object.fromEntries(given);
    const observed = afterReport(
      instance,
      { ...report, generation, phase: phase as Exclude<typeof phase, "deleting">, exports },
      definition,
    );
    if (!observed) return null;
    const isPresent = generation === instance.generation && instance.phase !== "deleting";
    return {
      ...observed,
      ...(isPresent ? { phase_since: phaseSinceAfter(instance, { ...report, phase }, now) } : {}),
      ...(isPresent ? driftAfter(instance, report.drift ?? UNKNOWN_DRIFT, now) : {}),
      component_statuses: (report.components_status ?? []).map(storedStatus),
      // Without the definition it is unknown which new exports are secret, so the stored ones stay.
      ...(definition ? {} : { exports: instance.exports }),
    };
  }
}

/** Keeps the reported reason why a deletion does not proceed. */
function deletionUnderWay(
  { phase, generation: present }: Instance,
  generation: number,
  { reason, message }: Pick<AddonReport, "reason" | "message">,
): Partial<Instance> | null {
  if (phase !== "deleting" || generation !== present) return null;
  return { observed_generation: generation, phase_reason: reason, phase_message: message };
}

/** The instance was deleted on the cluster. It is sent again, and its state is unknown until the next report. */
export function missingAddon(instance: Instance, now: Date): Instance {
  if (instance.phase === "deleting") return instance;
  return {
    ...instance,
    component_statuses: [],
    ...NO_DRIFT_REPORTED,
    phase: "pending",
    phase_since: now,
    phase_reason: "DeletedOnCluster" satisfies Reason,
    phase_message: "It was deleted on the cluster and is being made again.",
  };
}
