import type { LeftObject } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { conditionOf, statusOf, textIn } from "../kube/object-fields.ts";

/** On a pod that the kubelet runs from a file; it goes with the node alone. */
const MIRROR = "kubernetes.io/config.mirror";

/**
 * Whether the pod has to leave its node. A DaemonSet would start its pod again at once, and a pod that has ended holds
 * nothing.
 */
export function mustLeave(pod: KubeObject): boolean {
  const { ownerReferences = [], annotations = {} } = pod.metadata;
  const isDaemon = ownerReferences.some(({ kind, controller }) => kind === "DaemonSet" && controller === true);
  const hasEnded = ["Succeeded", "Failed"].includes(textIn(statusOf(pod)["phase"]));
  return !isDaemon && !(MIRROR in annotations) && !hasEnded;
}

/** Whether the kubelet of the node answers. */
export const isReady = (node: KubeObject): boolean => conditionOf(node, "Ready")?.status === "True";

export const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const leftObject = (object: KubeObject, kind: string, reason: string): LeftObject => ({
  kind,
  namespace: object.metadata.namespace ?? null,
  name: object.metadata.name,
  reason,
});
