import { numberOf } from "../controllers/fingerprint.ts";
import type { Container, ContainerEnd, ContainerStatus, Pod } from "../controllers/pod.ts";
import { stampOf } from "../controllers/writes.ts";

const hex = (text: string): string => numberOf(text).toString(16).padStart(8, "0");

/** Each run of a container has its own id; the scheme of this one shows that it is simulated. */
const containerId = (pod: Pod, name: string, restartCount: number): string =>
  `simulated://${[0, 1, 2, 3].map((part) => hex(`${pod.metadata.uid}/${name}/${restartCount}/${part}`)).join("")}`;

const before = (pod: Pod, { name }: Container): ContainerStatus | undefined =>
  pod.status?.containerStatuses?.find((status) => status.name === name);

function blank(pod: Pod, container: Container): ContainerStatus {
  const { name, image = "" } = container;
  const { restartCount = 0, lastState = {} } = before(pod, container) ?? {};
  return { name, image, imageID: "", ready: false, started: false, restartCount, state: {}, lastState };
}

export function waiting(pod: Pod, container: Container, reason: string, message?: string): ContainerStatus {
  return { ...blank(pod, container), state: { waiting: message === undefined ? { reason } : { reason, message } } };
}

export function running(pod: Pod, container: Container, isReady: boolean, nowMs: number): ContainerStatus {
  const status = blank(pod, container);
  return {
    ...status,
    imageID: `simulated://${status.image}`,
    containerID: containerId(pod, container.name, status.restartCount),
    ready: isReady,
    started: true,
    state: { running: { startedAt: stampOf(nowMs) } },
  };
}

/** The next run of a container that has ended. */
export function restarted(pod: Pod, container: Container, end: ContainerEnd, nowMs: number): ContainerStatus {
  const restartCount = (before(pod, container)?.restartCount ?? 0) + 1;
  return {
    ...running(pod, container, false, nowMs),
    restartCount,
    containerID: containerId(pod, container.name, restartCount),
    lastState: { terminated: end },
  };
}

export function ended(pod: Pod, container: Container, end: ContainerEnd): ContainerStatus {
  const status = before(pod, container) ?? blank(pod, container);
  return { ...status, ready: false, started: false, state: { terminated: end } };
}

export function backedOff(pod: Pod, container: Container, end: ContainerEnd, message: string): ContainerStatus {
  const status = before(pod, container) ?? blank(pod, container);
  const state = { waiting: { reason: "CrashLoopBackOff", message } };
  return { ...status, ready: false, started: false, state, lastState: { terminated: end } };
}

export function endOf(pod: Pod, container: Container, exitCode: number, reason: string, nowMs: number): ContainerEnd {
  const status = before(pod, container);
  return {
    exitCode,
    reason,
    startedAt: status?.state.running?.startedAt ?? stampOf(nowMs),
    finishedAt: stampOf(nowMs),
    containerID: status?.containerID ?? "",
  };
}

/** Containers that prepare the pod have done so by the time it starts; those that stay beside it run. */
export const initStatus = (pod: Pod, container: Container, nowMs: number): ContainerStatus => {
  const run = running(pod, container, true, nowMs);
  if (container.restartPolicy === "Always") return run;
  const at = stampOf(nowMs);
  const terminated = {
    exitCode: 0,
    reason: "Completed",
    startedAt: at,
    finishedAt: at,
    containerID: run.containerID ?? "",
  };
  return { ...run, started: false, state: { terminated } };
};
