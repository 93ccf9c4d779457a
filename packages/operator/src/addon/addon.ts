import { type AddonReport, LABELS, safeText } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-state.ts";
import { exportsTold } from "../helm/exports.ts";
import type { ReleaseStatus, WantedHelm } from "../helm/helm-releases.reconciler.ts";
import type { ReleaseRemoval } from "../helm/release.reconciler.ts";
import { releaseOfInstance } from "../helm/revision.ts";

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

/** `readyGeneration`: the last generation that was seen ready; null where none ever was. */
export function addonReport(seen: ReleaseStatus, generation: number, readyGeneration: number | null): AddonReport {
  return {
    phase: phaseOf(seen, generation, readyGeneration),
    reason: seen.reason,
    message: seen.message === null ? null : safeText(seen.message),
    exports: { ...exportsTold(seen.exports) },
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

const MOST_NAMED = 5;

/** Reports what the deletion of an instance still waits for. */
export function deletingReport({ left, failure }: ReleaseRemoval, finalizers: readonly string[] = []): AddonReport {
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
  isDeleting: boolean,
  readyGeneration: number | null,
): AddonReport => ({
  phase: isDeleting ? "deleting" : readyGeneration === null ? "failed" : "degraded",
  reason: "RefusedByCluster",
  message: safeText(message),
  exports: {},
});

const SETTLED_MS = 180_000;
const UNSETTLED_MS = 3_000;

/** The time until the next reconcile when no event comes. */
export const requeueMs = ({ phase }: AddonReport): number => (phase === "ready" ? SETTLED_MS : UNSETTLED_MS);
