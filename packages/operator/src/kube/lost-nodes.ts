import type { KubeObject } from "./kube-client.ts";
import { conditionOf, listIn, specOf, statusOf, textIn } from "./object-fields.ts";

/**
 * The nodes whose kubelet does not answer, by the pods of DaemonSets on them, which stay there. Kubernetes takes their readiness away,
 * and leaves what the kubelet has last said of their containers.
 */
export function lostNodes(pods: readonly KubeObject[]): ReadonlySet<string> {
  const lost = pods.filter((pod) => isOfDaemonSet(pod) && isAbandoned(pod));
  return new Set(lost.map((pod) => textIn(specOf(pod)["nodeName"])).filter((node) => node !== ""));
}

const isOfDaemonSet = ({ metadata: { ownerReferences = [] } }: KubeObject): boolean =>
  ownerReferences.some(({ kind }) => kind === "DaemonSet");

/** A kubelet that answers gives a reason: a container that is not ready, or a readiness gate. */
function isAbandoned(pod: KubeObject): boolean {
  const containers = listIn(statusOf(pod)["containerStatuses"]);
  const isReady = conditionOf(pod, "Ready");
  const isUp = containers.length > 0 && containers.every(({ ready }) => ready === true);
  return isUp && isReady?.status === "False" && !/^(Containers|ReadinessGates)NotReady$/.test(isReady.reason);
}
