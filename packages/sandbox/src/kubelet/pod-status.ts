import type { Write } from "../controllers/control.ts";
import { numberOf } from "../controllers/fingerprint.ts";
import { type Condition, type ContainerStatus, type Pod, type PodStatus, withCondition } from "../controllers/pod.ts";
import { statusWrites } from "../controllers/writes.ts";

export const KUBELET = "kubelet";

type Phase = "Pending" | "Running" | "Succeeded" | "Failed";

/** An address in the range that clusters use for pods; nothing answers there. */
function podIp(pod: Pod): string {
  const number = numberOf(pod.metadata.uid ?? pod.metadata.name);
  return `10.244.${(number >>> 8) & 0xff}.${1 + (number % 254)}`;
}

export function nodeIp(name: string): string {
  const number = numberOf(name);
  return `10.0.${(number >>> 8) & 0xff}.${1 + (number % 254)}`;
}

/** The status of a pod of this phase with these containers, all conditions included. */
export function podWrites(
  pod: Pod,
  phase: Phase,
  containerStatuses: readonly ContainerStatus[],
  nowMs: number,
  more: Partial<PodStatus> = {},
): Write[] {
  const isReady = phase === "Running" && containerStatuses.every(({ ready }) => ready);
  const reason = phase === "Succeeded" ? "PodCompleted" : phase === "Failed" ? "PodFailed" : "ContainersNotReady";
  const unready = containerStatuses.filter(({ ready }) => !ready).map(({ name }) => name);
  const readiness = (type: string): Condition =>
    isReady
      ? { type, status: "True" }
      : {
          type,
          status: "False",
          reason,
          ...(reason === "ContainersNotReady"
            ? { message: `containers with unready status: [${unready.join(" ")}]` }
            : {}),
        };
  const isStarted = phase !== "Pending" || containerStatuses.some(({ state }) => state.running);
  const conditions = [
    { type: "PodReadyToStartContainers", status: isStarted ? ("True" as const) : ("False" as const) },
    { type: "Initialized", status: "True" as const },
    readiness("Ready"),
    readiness("ContainersReady"),
    { type: "PodScheduled", status: "True" as const },
  ].reduce<readonly Condition[]>((all, one) => withCondition(all, one, nowMs), pod.status?.conditions ?? []);
  const addresses = isStarted ? { podIP: podIp(pod), podIPs: [{ ip: podIp(pod) }] } : {};
  const status = { ...pod.status, ...addresses, ...more, phase, conditions, containerStatuses };
  return statusWrites("pods", pod, status, KUBELET);
}
