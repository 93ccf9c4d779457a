import type { LogPlace } from "../api/ports.ts";
import type { ContainerState, ContainerStatus, Pod } from "../controllers/pod.ts";
import { msOf } from "../controllers/stamp.ts";
import type { KubeObject } from "../store/kube-object.ts";
import type { ContainerRun } from "./log-lines.ts";

/** The run whose lines are asked for; null when there was none. */
export function runOf({ pod, container, previous }: LogPlace): ContainerRun | null {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod as Pod).status ?? {};
  const status = [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
  if (!status) return null;
  // Of a container that waits to be started again, the last run is the one to read.
  const state = previous || status.state.waiting ? status.lastState : status.state;
  return state.running || state.terminated ? containerRun(pod, status, state) : null;
}

/** A run as it is by now, in the pod as it is by now; null when the pod has forgotten it. */
export function laterRun(run: ContainerRun, place: LogPlace, pod: KubeObject): ContainerRun | null {
  const known = [false, true].map((previous) => runOf({ ...place, pod, previous }));
  return known.find((one) => one?.seed === run.seed) ?? null;
}

function containerRun({ metadata }: KubeObject, { name, image }: ContainerStatus, state: ContainerState): ContainerRun {
  const { running, terminated } = state;
  const startedAt = running?.startedAt ?? terminated?.startedAt;
  return {
    seed: `${metadata.uid}/${name}/${startedAt}`,
    pod: metadata.name,
    container: name,
    image,
    startedMs: msOf(startedAt) ?? 0,
    endedMs: msOf(terminated?.finishedAt),
    exitCode: terminated?.exitCode ?? 0,
    endReason: terminated?.reason ?? "",
  };
}
