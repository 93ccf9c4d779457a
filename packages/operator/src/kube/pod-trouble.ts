import { POD_TROUBLES, type PodTroubleReason } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { conditionOf, countIn, type Fields, fieldsIn, listIn, statusOf, textIn } from "./object-fields.ts";
import type { Readiness } from "./readiness.ts";

/** Why pods do not get ready: the word that Kubernetes has for it, and a sentence for people. */
export interface PodTrouble {
  readonly reason: PodTroubleReason;
  readonly message: string;
}

/** The worst trouble of the pods of a workload; null where they have none that is known. */
export function troubleOf(pods: readonly KubeObject[], nowMs: number): PodTrouble | null {
  const troubles = pods.filter(({ metadata }) => !metadata.deletionTimestamp).flatMap((pod) => troublesOf(pod, nowMs));
  return POD_TROUBLES.flatMap((reason) => troubles.find((trouble) => trouble.reason === reason) ?? [])[0] ?? null;
}

/** Reasons of Kubernetes that mean the same trouble, seen at another moment or by another component. */
const REASON_ALIASES: Readonly<Record<string, string>> = {
  ErrImagePull: "ImagePullBackOff",
  InvalidImageName: "ImagePullBackOff",
  ErrImageNeverPull: "ImagePullBackOff",
  RunContainerError: "StartError",
  ContainerCannotRun: "StartError",
  CreateContainerError: "CreateContainerConfigError",
};

function troublesOf(pod: KubeObject, nowMs: number): PodTrouble[] {
  const status = statusOf(pod);
  const scheduled = conditionOf(pod, "PodScheduled");
  const hasFailed = status["phase"] === "Failed";
  return [
    ...containersOf(pod).flatMap((container) => containerTrouble(container, hasFailed, nowMs) ?? []),
    ...(scheduled?.status === "False" && scheduled.reason === "Unschedulable"
      ? [{ reason: "Unschedulable" as const, message: `No node can take a pod: ${sentence(scheduled.message)}` }]
      : []),
    ...(hasFailed
      ? []
      : listIn(status["containerStatuses"]).flatMap((container) => probeTrouble(container, nowMs) ?? [])),
    ...(status["reason"] === "Evicted"
      ? [{ reason: "Evicted" as const, message: `A pod was evicted: ${sentence(textIn(status["message"]))}` }]
      : []),
  ];
}

function containersOf(pod: KubeObject): Fields[] {
  const { initContainerStatuses, containerStatuses } = statusOf(pod);
  return [...listIn(initContainerStatuses), ...listIn(containerStatuses)];
}

/** Many programs take some time from their start until they answer. */
const LONGEST_START_MS = 30_000;

/** A container that runs and is not ready has a probe that fails; without a probe it would be ready. */
function probeTrouble(container: Fields, nowMs: number): PodTrouble | null {
  const startedMs = Date.parse(textIn(fieldsIn(fieldsIn(container["state"])["running"])["startedAt"]));
  if (container["ready"] === true || !(nowMs - startedMs >= LONGEST_START_MS)) return null;
  return {
    reason: "ProbeFailing",
    message: `The container ${textIn(container["name"])} runs, but its startup or readiness probe does not succeed.`,
  };
}

const LONGEST_STEADY_MS = 60_000;
const STEADY_MS_PER_RESTART = 10_000;

/**
 * A container that was restarted counts as up once it has run for ten seconds for each restart, at most a minute. The kubelet
 * shows a crash loop for moments only: without this, an app without a readiness probe would be up for a moment after
 * each restart.
 */
function isSteady(container: Fields, nowMs: number): boolean {
  const startedMs = Date.parse(textIn(fieldsIn(fieldsIn(container["state"])["running"])["startedAt"]));
  const restarts = countIn(container["restartCount"]);
  if (Number.isNaN(startedMs)) return container["ready"] === true;
  return nowMs - startedMs >= Math.min(restarts * STEADY_MS_PER_RESTART, LONGEST_STEADY_MS);
}

function containerTrouble(container: Fields, hasFailed: boolean, nowMs: number): PodTrouble | null {
  const name = textIn(container["name"]);
  const { waiting: waits, terminated } = fieldsIn(container["state"]);
  const waiting = fieldsIn(waits);
  const ended = fieldsIn(terminated ?? fieldsIn(container["lastState"])["terminated"]);
  const word = textIn(waiting["reason"]);
  const said = sentence(textIn(waiting["message"]));
  switch (REASON_ALIASES[word] ?? word) {
    case "ImagePullBackOff": {
      const cause = sentence(pullCause(textIn(waiting["message"])));
      return {
        reason: "ImagePullBackOff",
        message: `The image ${textIn(container["image"])} cannot be pulled: ${cause}`,
      };
    }
    case "CreateContainerConfigError":
      return { reason: "CreateContainerConfigError", message: `The container ${name} cannot be made: ${said}` };
    case "StartError":
      return startError(name, textIn(waiting["message"]));
    default:
      return endTrouble(container, ended, { isLooping: word === "CrashLoopBackOff", hasFailed, nowMs });
  }
}

interface EndFacts {
  readonly isLooping: boolean;
  /** The pod has failed and is not restarted, as that of a Job. */
  readonly hasFailed: boolean;
  readonly nowMs: number;
}

/** The trouble of a container that has ended. One that runs again for long enough has left its last end behind. */
function endTrouble(container: Fields, ended: Fields, { isLooping, hasFailed, nowMs }: EndFacts): PodTrouble | null {
  const name = textIn(container["name"]);
  const restarts = countIn(container["restartCount"]);
  const code = typeof ended["exitCode"] === "number" ? ended["exitCode"] : null;
  // An init container that has succeeded is ready and does not run; one of a workload that runs again has only ended.
  const hasSucceeded = container["ready"] === true && fieldsIn(container["state"])["running"] === undefined;
  const isDone = code === 0 && (restarts === 0 || hasSucceeded);
  if (isSteady(container, nowMs) || (isDone && !isLooping)) return null;
  const word = textIn(ended["reason"]);
  if (word === "OOMKilled") {
    return { reason: word, message: `The container ${name} needs more memory than its limit and is killed.` };
  }
  if ((REASON_ALIASES[word] ?? word) === "StartError") return startError(name, textIn(ended["message"]));
  const how = code === null ? "" : ` with exit code ${code}`;
  if (hasFailed) return code === null ? null : { reason: "Error", message: `The container ${name} has ended${how}.` };
  if (!isLooping && (restarts === 0 || code === null)) return null;
  const message = `The container ${name} keeps ending${how}; it was restarted ${restarts} times.`;
  return { reason: "CrashLoopBackOff", message };
}

/** Runtimes say much before and after the reason, and not the same at each try. */
function startError(name: string, words: string): PodTrouble {
  const cause = /exec: "[^"]*": [^"]*?(?=: unknown|$)/.exec(words)?.[0] ?? words;
  return { reason: "StartError", message: `The container ${name} cannot be started: ${sentence(cause)}` };
}

/**
 * The cause in the words of the registry, without what the kubelet and the runtime put before it. These alternate while
 * the image is tried again.
 */
export function pullCause(message: string): string {
  const words = message
    .replace(/^Back-off pulling image "[^"]*"(: ErrImagePull)?(: )?/, "")
    .replace(/^(rpc error: code = \w+ desc = )+/, "")
    .replace(/(read|write|dial) (tcp|udp) \S+->(\S+):/g, "$1 $2 $3:");
  const cause = words.slice(words.lastIndexOf('": ') + 1).replace(/^: /, "");
  return cause.replace(/^[^\s"]*\/[^\s"]*: /, "").trim();
}

/** A pod that is ready although one of its containers has just been restarted. */
const isJustRestarted = (pod: KubeObject, nowMs: number): boolean =>
  !pod.metadata.deletionTimestamp &&
  conditionOf(pod, "Ready")?.status === "True" &&
  stayingContainers(pod).some((container) => !isSteady(container, nowMs));

/** Sidecars are among the init containers; of these, only they still run once the pod is ready. */
function stayingContainers(pod: KubeObject): Fields[] {
  const { initContainerStatuses, containerStatuses } = statusOf(pod);
  const sidecars = listIn(initContainerStatuses).filter(({ state }) => fieldsIn(state)["running"] !== undefined);
  return [...sidecars, ...listIn(containerStatuses)];
}

/** How many of the pods that are ready do not count as such yet. */
export const countRestartedPods = (pods: readonly KubeObject[], nowMs: number): number =>
  pods.filter((pod) => isJustRestarted(pod, nowMs)).length;

/** The readiness of a workload without the pods that have just been restarted. */
export function withoutRestartedPods(readiness: Readiness, pods: readonly KubeObject[], nowMs: number): Readiness {
  const restarted = Math.min(countRestartedPods(pods, nowMs), readiness.readyReplicas);
  if (restarted === 0 || readiness.state === "failed") return readiness;
  const readyReplicas = readiness.readyReplicas - restarted;
  if (readiness.state !== "ready") return { ...readiness, readyReplicas };
  return { state: "progressing", message: `${restarted} replicas have just been restarted.`, readyReplicas };
}

const sentence = (text: string): string => (text === "" ? "no reason is given." : text);
