import type { LogPlace } from "../api/ports.ts";
import type { ContainerState, ContainerStatus, Pod } from "../controllers/pod.ts";
import { durationMs, msOf } from "../controllers/writes.ts";
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

/** The simulated outcomes of a pod, which annotations of its template choose. */
const FATES = ["image", "crash", "oom", "unready", "fail", "unschedulable"] as const;
export type Fate = (typeof FATES)[number];

/** The second names are those of the cluster that kwok simulates, so that one test suite runs on both. */
const NAMES = {
  fate: ["sandbox.binnacle.dev/fate", "test.binnacle.dev/fate"],
  readyAfter: ["sandbox.binnacle.dev/ready-after", "test.binnacle.dev/ready-after"],
  cpu: ["sandbox.binnacle.dev/usage-cpu", "kwok.x-k8s.io/usage-cpu"],
  memory: ["sandbox.binnacle.dev/usage-memory", "kwok.x-k8s.io/usage-memory"],
} as const;

export function annotationOf({ metadata }: KubeObject, of: keyof typeof NAMES): string | undefined {
  return NAMES[of].map((name) => metadata.annotations?.[name]).find((value) => value !== undefined);
}

/** Null for a pod that simply runs, and for one whose annotation nobody understands. */
export function fateOf(pod: KubeObject): Fate | null {
  const said = annotationOf(pod, "fate");
  return FATES.find((fate) => fate === said) ?? null;
}

export const readyAfterMs = (pod: KubeObject): number => durationMs(annotationOf(pod, "readyAfter")) ?? 0;

const NO_SUCH_IMAGE = /does-not-exist|doesnotexist|no-such-image|nonexistent/;

/** Nothing is ever pulled, so the name decides whether the image exists. */
export const isMissingImage = (image: string | undefined): boolean => NO_SUCH_IMAGE.test(image ?? "");
