import {
  type AddonBody,
  type AddonDefinitionFile,
  type AddonReport,
  canonicalJson,
  isSafeText,
} from "@binnacle/contract";
import { afterReport, type Instance } from "./addon.ts";
import { overlay, type Values } from "./addon-values.ts";

/** What a cluster is told of an addon instance; its secrets, by path, are already opened. */
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

/** Each secret at the end of its path, instead of the reference that stands there in what people read. */
export function withSecrets(values: Values, secrets: ReadonlyMap<string, string>): Record<string, unknown> {
  return [...secrets].reduce<Values>((filled, [path, secret]) => overlay(filled, alongPath(path, secret)), values);
}

const alongPath = (path: string, secret: string): Values =>
  path.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), secret) as Values;

/**
 * What a report makes of an instance; the same object where it changes nothing. A generation that the cluster was never
 * told of is not believed, and a deletion is asked for here: a cluster neither begins nor ends one.
 */
export function addonAfterReport(
  instance: Instance,
  generation: number,
  { phase, ...report }: AddonReport,
  definition: Pick<AddonDefinitionFile, "export_schema"> | null,
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
    // Without a definition nobody knows which of the new ones are secret; those that are on record stay.
    return observed && (definition ? observed : { ...observed, exports: instance.exports });
  }
}

/** What keeps it from going, where something does. */
function deletionUnderWay(
  { phase, generation: present }: Instance,
  generation: number,
  { reason, message }: Pick<AddonReport, "reason" | "message">,
): Partial<Instance> | null {
  if (phase !== "deleting" || generation !== present) return null;
  return { observed_generation: generation, phase_reason: reason, phase_message: message };
}

/** Somebody has deleted it on the cluster; it is told again, and nothing of it is known until the next report. */
export function missingAddon(instance: Instance): Instance {
  if (instance.phase === "deleting") return instance;
  return {
    ...instance,
    phase: "pending",
    phase_reason: "DeletedOnCluster",
    phase_message: "It was deleted on the cluster and is being made again.",
  };
}
