import { MOST_PODS, POD_PHASES, type PodPhase, type PodStatus } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { conditionOf, countIn, type Fields, fieldsIn, listIn, specOf, statusOf, textIn } from "./object-fields.ts";
import { pullCause, troubleOf } from "./pod-trouble.ts";

/** The pods of the cluster, as they were last seen. */
export interface PodView {
  in(namespace: string): readonly KubeObject[];
  /** Calls with a pod that differs from before in what is shown of it, or is gone. */
  onChange(listener: (pod: KubeObject) => void): () => void;
}

const LONGEST_TEXT = 1_024;
const cut = (value: unknown): string => textIn(value).slice(0, LONGEST_TEXT);

/** The parts of a pod that are shown or explain its state. A cluster has thousands of pods, and all are kept. */
export function trimmedPod(pod: KubeObject): KubeObject {
  const { name, namespace = "", uid = "", resourceVersion = "", labels = {}, deletionTimestamp } = pod.metadata;
  const { creationTimestamp, ownerReferences } = pod.metadata;
  const status = statusOf(pod);
  const conditions = ["Ready", "PodScheduled"].flatMap((type) => {
    const found = conditionOf(pod, type);
    return found ? [{ type, ...found, message: cut(found.message) }] : [];
  });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      labels,
      ...(creationTimestamp ? { creationTimestamp } : {}),
      ...(ownerReferences ? { ownerReferences } : {}),
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
    },
    spec: { nodeName: specOf(pod)["nodeName"] },
    status: {
      phase: status["phase"],
      startTime: status["startTime"],
      reason: status["reason"],
      message: cut(status["message"]),
      conditions,
      initContainerStatuses: listIn(status["initContainerStatuses"]).map(trimmedContainer),
      containerStatuses: listIn(status["containerStatuses"]).map(trimmedContainer),
    },
  };
}

const trimmedContainer = ({ name, image, ready, restartCount, state, lastState }: Fields) => ({
  name,
  image,
  ready,
  restartCount,
  state: trimmedState(state),
  lastState: trimmedState(lastState),
});

function trimmedState(state: unknown): Fields {
  return Object.fromEntries(
    Object.entries(fieldsIn(state)).map(([kind, value]) => {
      const { containerID: _, message, ...rest } = fieldsIn(value);
      return [kind, message === undefined ? rest : { ...rest, message: cut(message) }];
    }),
  );
}

/**
 * While an image is not pulled again yet, some kubelets leave out the cause that they gave before. It is taken over, so that
 * the reason does not come and go.
 */
export function withPullCauses(before: KubeObject | undefined, pod: KubeObject): KubeObject {
  if (!before) return pod;
  const status = statusOf(pod);
  const carried = (list: string) =>
    listIn(status[list]).map((container) => {
      const waiting = fieldsIn(fieldsIn(container["state"])["waiting"]);
      if (waiting["reason"] !== "ImagePullBackOff" || pullCause(textIn(waiting["message"])) !== "") return container;
      const known = listIn(statusOf(before)[list]).find(
        ({ name, image }) => name === container["name"] && image === container["image"],
      );
      const { message } = fieldsIn(fieldsIn(known?.["state"])["waiting"]);
      return textIn(message) === "" ? container : { ...container, state: { waiting: { ...waiting, message } } };
    });
  return {
    ...pod,
    status: {
      ...status,
      initContainerStatuses: carried("initContainerStatuses"),
      containerStatuses: carried("containerStatuses"),
    },
  };
}

/** A pod that changes in nothing else is not news. */
export function isSamePod(one: KubeObject | undefined, other: KubeObject): boolean {
  return one !== undefined && contentOf(one) === contentOf(other);
}

const contentOf = ({ metadata, spec, status }: KubeObject): string =>
  JSON.stringify([{ ...metadata, resourceVersion: "" }, spec, status]);

const WORD = /^[A-Za-z][A-Za-z0-9]{0,99}$/;

/** The word of Kubernetes for why a pod is not ready; null where it is, or has done its work. */
function reasonOf(pod: KubeObject, nowMs: number): string | null {
  if (pod.metadata.deletionTimestamp) return "Terminating";
  const status = statusOf(pod);
  const trouble = troubleOf([pod], nowMs)?.reason;
  if (status["phase"] === "Succeeded" || (isReadyPod(pod) && trouble === undefined)) return null;
  const containers = [...listIn(status["initContainerStatuses"]), ...listIn(status["containerStatuses"])];
  const waiting = containers.map(({ state }) => textIn(fieldsIn(fieldsIn(state)["waiting"])["reason"]));
  const words = [trouble, textIn(status["reason"]), ...waiting, conditionOf(pod, "Ready")?.reason];
  return words.find((word) => word !== undefined && WORD.test(word)) ?? null;
}

const isReadyPod = (pod: KubeObject): boolean => conditionOf(pod, "Ready")?.status === "True";

export function restartsOf(pod: KubeObject): number {
  const { initContainerStatuses, containerStatuses } = statusOf(pod);
  const containers = [...listIn(initContainerStatuses), ...listIn(containerStatuses)];
  return containers.reduce((sum, { restartCount }) => sum + countIn(restartCount), 0);
}

const phaseOf = (pod: KubeObject): PodPhase =>
  POD_PHASES.find((phase) => phase === statusOf(pod)["phase"]) ?? "Unknown";

function podStatus(pod: KubeObject, nowMs: number): PodStatus {
  const startedAt = Date.parse(textIn(statusOf(pod)["startTime"]));
  return {
    name: pod.metadata.name,
    phase: phaseOf(pod),
    reason: reasonOf(pod, nowMs),
    restarts: restartsOf(pod),
    node: textIn(specOf(pod)["nodeName"]) || null,
    started_at: Number.isNaN(startedAt) ? null : new Date(startedAt).toISOString(),
  };
}

/** Those in trouble first, then those that have restarted, then by name. */
export function podStatuses(pods: readonly KubeObject[], nowMs: number, most = MOST_PODS): PodStatus[] {
  return pods
    .map((pod) => podStatus(pod, nowMs))
    .sort((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1))
    .slice(0, Math.min(most, MOST_PODS));
}

function rank({ reason, restarts, phase }: PodStatus): number {
  if (reason !== null && reason !== "Terminating") return 0;
  if (restarts > 0) return 1;
  return phase === "Succeeded" || reason !== null ? 3 : 2;
}
