import { NOTHING, type Outcome } from "../controllers/control.ts";
import { type ContainerEnd, type ContainerStatus, controllerOf, type Pod } from "../controllers/pod.ts";
import { msOf, normal, warning } from "../controllers/writes.ts";
import { type Fate, fateOf } from "./container-run.ts";
import { backedOff, ended, endOf, restarted } from "./container-status.ts";
import { KUBELET, podWrites } from "./pod-status.ts";
import type { SimulationSettings } from "./settings.ts";

interface End {
  readonly exitCode: number;
  readonly reason: string;
  readonly afterMs: number;
  /** Its restart policy is asked whether it starts again. */
  readonly mayRestart: boolean;
}

/** Sets replace a pod that has failed at once, and would do so without a pause. */
const FAIL_IN_SET_MS = 10_000;

/** How and when a running pod ends; null for one that runs until somebody deletes it. */
function comingEnd(pod: Pod, fate: Fate | null, { crashMs, runMs }: SimulationSettings): End | null {
  const owner = controllerOf(pod)?.kind;
  switch (fate) {
    case "crash":
      return { exitCode: 1, reason: "Error", afterMs: crashMs, mayRestart: true };
    case "oom":
      return { exitCode: 137, reason: "OOMKilled", afterMs: crashMs, mayRestart: true };
    case "fail": {
      const afterMs = owner === undefined || owner === "Job" ? runMs : FAIL_IN_SET_MS;
      return { exitCode: 1, reason: "Error", afterMs, mayRestart: false };
    }
    case "unready":
      return null;
    case "image":
    case "unschedulable":
    case null: {
      const isRunOnce = owner === "Job" || (pod.spec.restartPolicy ?? "Always") !== "Always";
      return isRunOnce ? { exitCode: 0, reason: "Completed", afterMs: runMs, mayRestart: false } : null;
    }
  }
}

/** A running pod ends, or starts again, when its time has come. */
export function stepEnd(pod: Pod, settings: SimulationSettings, nowMs: number): Outcome {
  const end = comingEnd(pod, fateOf(pod), settings);
  const [first] = pod.status?.containerStatuses ?? [];
  if (!end || !first) return NOTHING;
  const last = first.lastState.terminated;
  if (first.state.waiting && last) return stepBackoff(pod, last, first.restartCount, settings, nowMs);
  const startedMs = msOf(first.state.running?.startedAt);
  if (startedMs === null) return NOTHING;
  const dueMs = startedMs + end.afterMs;
  if (nowMs < dueMs) return { writes: [], wakeAtMs: dueMs };
  return end.mayRestart && pod.spec.restartPolicy !== "Never"
    ? crashed(pod, end, first.restartCount, settings, nowMs)
    : finished(pod, end, nowMs);
}

function finished(pod: Pod, { exitCode, reason }: End, nowMs: number): Outcome {
  const phase = exitCode === 0 ? "Succeeded" : "Failed";
  const statuses = pod.spec.containers.map((container) =>
    ended(pod, container, endOf(pod, container, exitCode, reason, nowMs)),
  );
  return { writes: podWrites(pod, phase, statuses, nowMs), wakeAtMs: null };
}

function crashed(pod: Pod, end: End, restarts: number, settings: SimulationSettings, nowMs: number): Outcome {
  const pauseMs = backoffMs(restarts, settings);
  const message = `back-off ${duration(pauseMs)} restarting failed container`;
  const statuses = pod.spec.containers.map((container): ContainerStatus => {
    const now = endOf(pod, container, end.exitCode, end.reason, nowMs);
    // The first restart comes at once.
    return pauseMs === 0
      ? restarted(pod, container, now, nowMs)
      : backedOff(
          pod,
          container,
          now,
          `${message}=${container.name} pod=${pod.metadata.name}_${pod.metadata.namespace}`,
        );
  });
  return {
    writes: [
      ...podWrites(pod, "Running", statuses, nowMs),
      ...(pauseMs === 0 ? [] : [warning(KUBELET, pod, "BackOff", backOffMessage(pod))]),
    ],
    wakeAtMs: pauseMs === 0 ? null : nowMs + pauseMs,
  };
}

/** Always the same words, so that it stays one event. */
const backOffMessage = ({ metadata, spec }: Pod): string =>
  `Back-off restarting failed container ${spec.containers[0]?.name} in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`;

function stepBackoff(
  pod: Pod,
  last: ContainerEnd,
  restarts: number,
  settings: SimulationSettings,
  nowMs: number,
): Outcome {
  const dueMs = (msOf(last.finishedAt) ?? 0) + backoffMs(restarts, settings);
  if (nowMs < dueMs) return { writes: [], wakeAtMs: dueMs };
  const statuses = pod.spec.containers.map((container) => {
    const before = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
    return restarted(pod, container, before?.lastState.terminated ?? last, nowMs);
  });
  return {
    writes: [
      ...podWrites(pod, "Running", statuses, nowMs),
      ...pod.spec.containers.map(({ name }) => normal(KUBELET, pod, "Started", `Started container ${name}`)),
    ],
    wakeAtMs: null,
  };
}

const backoffMs = (restarts: number, { firstBackoffMs, longestBackoffMs }: SimulationSettings): number =>
  restarts === 0 ? 0 : Math.min(firstBackoffMs * 2 ** (restarts - 1), longestBackoffMs);

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1_000);
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}
