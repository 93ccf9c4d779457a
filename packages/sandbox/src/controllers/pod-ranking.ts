import { conditionOf } from "./conditions.ts";
import { isReady, type Pod } from "./pod.ts";
import { msOf } from "./stamp.ts";

const COST = "controller.kubernetes.io/pod-deletion-cost";

/** The pods of a set, those first that are missed least: not running, then unready, then cheap, then young. */
export const rankedForDeletion = (pods: readonly Pod[]): readonly Pod[] =>
  [...pods].sort((a, b) => {
    const [left, right] = [rankOf(a), rankOf(b)];
    const place = left.findIndex((value, index) => value !== right[index]);
    return (left[place] ?? 0) - (right[place] ?? 0);
  });

const rankOf = (pod: Pod): readonly number[] => [
  Number(pod.spec.nodeName !== undefined),
  ["Pending", "Unknown", "Running"].indexOf(pod.status?.phase ?? "Pending"),
  Number(isReady(pod)),
  Number(pod.metadata.annotations?.[COST] ?? 0) || 0,
  -(msOf(conditionOf(pod, "Ready")?.lastTransitionTime) ?? 0),
  -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
  -(msOf(pod.metadata.creationTimestamp) ?? 0),
];
