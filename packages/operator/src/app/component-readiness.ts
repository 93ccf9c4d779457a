import type { KubeObject } from "../kube/kube-client.ts";
import type { PodTrouble } from "../kube/pod-trouble.ts";
import { readinessOf } from "../kube/readiness.ts";
import type { Readiness } from "../kube/readiness-state.ts";

export const WORKLOADS = new Set(["Deployment", "StatefulSet", "Job", "CronJob"]);

/**
 * A component is what its workload is: a volume that is bound by the first pod must not hold up a component that has
 * none yet. What has failed counts wherever it is.
 */
export function componentReadiness(objects: readonly KubeObject[]): Readiness {
  const all = objects.map((object) => ({ object, readiness: readinessOf(object) }));
  const main = all.find(({ object }) => WORKLOADS.has(object.kind))?.readiness;
  const failed = all.find(({ readiness }) => readiness.state === "failed")?.readiness;
  const readyReplicas = main?.readyReplicas ?? 0;
  if (failed) return { ...failed, readyReplicas };
  if (main) return main;
  const unready = all.find(({ readiness }) => readiness.state !== "ready")?.readiness;
  return { ...(unready ?? { state: "ready", message: null }), readyReplicas };
}

/** Its pods say better than a workload why it does not get ready, unless the API server does not even take them. */
export function explained(readiness: Readiness, trouble: PodTrouble | null) {
  const { reason = null } = readiness;
  const isSaid = readiness.state === "ready" || reason !== null || trouble === null;
  return isSaid ? { ...readiness, reason } : { ...readiness, ...trouble };
}
