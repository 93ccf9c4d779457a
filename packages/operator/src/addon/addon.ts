import { type AddonReport, LABELS, type Reasoned, safeText, UNKNOWN_DRIFT } from "@binnacle/contract";
import { componentStatuses, type SeenComponent } from "../app/phase.ts";
import type { StoredResource } from "../desired/desired-state.ts";
import { reportedExports } from "../helm/exports.ts";
import type { ReleaseStatus, WantedHelm } from "../helm/helm-releases.reconciler.ts";
import type { ReleaseRemoval } from "../helm/release.reconciler.ts";
import { podsMadeBy } from "../helm/release-pods.ts";
import type { ReleaseWorkload } from "../helm/release-readiness.ts";
import { releaseOfInstance } from "../helm/revision.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf } from "../kube/object-fields.ts";
import { troubleOf } from "../kube/pod-trouble.ts";
import { recheckMs } from "../kube/recheck.ts";
import { driftReport, driftStatus, type EarlierDrift, earlierDriftIn } from "../reconcile/drift-report.ts";
import { type LastPhase, lastPhaseIn, phaseSince } from "../reconcile/last-phase.ts";

export type Addon = StoredResource<"addon_instance">;

export const exportsSecretOf = (addon: string): string => `${addon}-addon-exports`;
export const releaseIdOf = ({ spec: { namespace, name } }: Addon) => releaseOfInstance(namespace, name);

export const exportsPlaceOf = ({ spec: { project_id, namespace, name } }: Addon) => ({
  namespace,
  name: exportsSecretOf(name),
  labels: { [LABELS.project]: project_id, [LABELS.addon]: name },
});

export function releaseOf(addon: Addon): WantedHelm {
  const { chart, export_schema } = addon.spec;
  return {
    ...releaseIdOf(addon),
    chart,
    values: addon.secret.values,
    exportSchema: export_schema,
    exportsPlace: exportsPlaceOf(addon),
  };
}

/** The operator's record of an instance, in its own status. */
export interface AddonMemory {
  /** The generation that was reported on last; null before the first. */
  readonly generation: number | null;
  /** The last generation that was seen ready; null where none ever was. */
  readonly readyGeneration: number | null;
  readonly lastPhase: LastPhase | null;
  readonly drift: EarlierDrift;
}

export function memoryIn(holder: KubeObject): AddonMemory {
  const { generation, readyGeneration, drift } = statusOf(holder);
  return {
    generation: typeof generation === "number" ? generation : null,
    readyGeneration: typeof readyGeneration === "number" ? readyGeneration : null,
    lastPhase: lastPhaseIn(holder),
    drift: earlierDriftIn(drift),
  };
}

/** The operator's memory of the instance as the status keeps it. */
export const statusFields = (generation: number, { readyGeneration }: AddonMemory, { phase, drift }: AddonReport) => ({
  generation,
  readyGeneration: phase === "ready" ? generation : readyGeneration,
  drift: driftStatus(drift ?? UNKNOWN_DRIFT),
});

export function addonReport(
  seen: ReleaseStatus,
  generation: number,
  { readyGeneration, lastPhase, drift }: AddonMemory,
  nowMs: number,
): AddonReport & Reasoned {
  const { drifted, healed, blocked, isCertain: isWhole } = seen;
  const phase = phaseOf(seen, generation, readyGeneration);
  return {
    phase,
    phase_since: phaseSince(lastPhase, phase, nowMs),
    reason: seen.reason,
    message: seen.message === null ? null : safeText(seen.message),
    exports: { ...reportedExports(seen.exports) },
    drift: driftReport({ drifted, healed, blocked, isWhole }, drift, new Date(nowMs).toISOString()),
    components_status: componentStatuses(
      seen.workloads.slice(0, MOST_WORKLOADS).map((one) => workloadOf(one, seen, phase, nowMs)),
      nowMs,
    ),
  };
}

const MOST_WORKLOADS = 100;

/** A workload that is not ready is what the instance as a whole would be. */
function workloadOf(
  workload: ReleaseWorkload,
  seen: ReleaseStatus,
  phase: AddonReport["phase"],
  nowMs: number,
): SeenComponent {
  const { name, readiness, counts } = workload;
  const pods = seen.makers ? podsMadeBy(seen.makers, workload, seen.pods) : [];
  const trouble = readiness?.state === "ready" ? null : troubleOf(pods, nowMs);
  const hasServed = phase !== "installing" && phase !== "failed";
  const unready = phase === "installing" || phase === "upgrading" ? "deploying" : hasServed ? "degraded" : "failed";
  return {
    name,
    phase: readiness?.state === "ready" ? "running" : unready,
    reason: readiness === null ? "ObjectMissing" : (readiness.reason ?? trouble?.reason ?? null),
    message: readiness === null ? "It is not on the cluster." : (trouble?.message ?? readiness.message),
    desiredReplicas: counts.desired,
    readyReplicas: counts.ready,
    updatedReplicas: counts.updated,
    image: counts.image,
    pods,
  };
}

/** A release that was ready before is degraded, not failed. An unknown state never counts as ready. */
function phaseOf(seen: ReleaseStatus, generation: number, readyGeneration: number | null): AddonReport["phase"] {
  const { state, observation } = seen;
  const hasServed = readyGeneration !== null;
  if (state === "ready") return "ready";
  if (observation.isForeign) return "failed";
  if (state === "failed") return hasServed ? "degraded" : "failed";
  if (!hasServed) return "installing";
  if (state === "unknown") return "degraded";
  const isChanging = observation.doing !== null || !observation.isCurrent;
  return isChanging || readyGeneration !== generation ? "upgrading" : "degraded";
}

/** As an app that is suspended: what is wrong keeps its reason, and what is held back is not ready. */
export function suspendedReport(seen: AddonReport & Reasoned, { observation }: ReleaseStatus): AddonReport & Reasoned {
  if (seen.phase === "failed" || seen.phase === "degraded") return seen;
  const message = observation.isCurrent ? HELD : HELD_BACK;
  return { ...seen, reason: "Suspended", message };
}

const HELD = "Its project is suspended: nothing is applied or corrected.";
const HELD_BACK = "Its project is suspended: what is stored is not applied, and nothing is corrected.";

/** The report of an instance whose project was suspended while it was being deleted. */
export const SUSPENDED_DELETION: AddonReport & Reasoned = {
  phase: "deleting",
  reason: "Suspended",
  message: "Its project is suspended: it is deleted when that ends.",
  exports: {},
};

const MOST_NAMED = 5;

/** Reports what the deletion of an instance still waits for. */
export function deletingReport(
  { left, failure }: ReleaseRemoval,
  finalizers: readonly string[] = [],
): AddonReport & Reasoned {
  const names = [...left, ...finalizers.map((name) => `finalizer ${name}`)];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  const waits = names.length > 0 ? `Still on the cluster: ${names.slice(0, MOST_NAMED).join(", ")}${more}.` : null;
  const message = failure ?? waits;
  return {
    phase: "deleting",
    reason: failure ? "UninstallFailed" : finalizers.length > 0 ? "HeldByFinalizers" : "Deleting",
    message: message === null ? null : safeText(message),
    exports: {},
  };
}

/** The API server has refused to show the objects. */
export const refusedReport = (
  { message }: Error,
  reason: "RefusedByCluster" | "ClusterError",
  isDeleting: boolean,
  readyGeneration: number | null,
): AddonReport & Reasoned => ({
  phase: isDeleting ? "deleting" : readyGeneration === null ? "failed" : "degraded",
  reason,
  message: safeText(message),
  exports: {},
});

/** An object of its name is somebody else's, so it is not stored. */
export const nameTakenReport = (message: string): AddonReport & Reasoned => ({
  phase: "failed",
  reason: "NameTaken",
  message: safeText(message),
  exports: {},
});

const SETTLED_MS = 180_000;

/**
 * The time until the next reconcile when no event comes. `healInMs`: until the next healing; null where none is due. `unchangedMs`: for
 * how long the same has been reported.
 */
export function requeueMs({ phase }: AddonReport, healInMs: number | null, unchangedMs: number): number {
  const usualMs = phase === "ready" ? SETTLED_MS : recheckMs(unchangedMs);
  return Math.max(0, Math.min(healInMs ?? usualMs, usualMs));
}
