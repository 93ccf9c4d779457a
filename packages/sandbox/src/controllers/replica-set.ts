import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type Write } from "./control.ts";
import { freeSuffix } from "./fingerprint.ts";
import { adoptions, controlled, controllersConcerned, hasAll, type LabelSelector, ownedBy } from "./owners.ts";
import {
  conditionOf,
  isActive,
  isAvailable,
  isDeleting,
  isReady,
  nextAvailableMs,
  type Pod,
  type PodTemplate,
} from "./pod.ts";
import { counted, deletion, msOf, normal, present, statusWrites } from "./writes.ts";

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly observedGeneration?: number;
  };
}

export const REPLICA_SETS = "replicasets.apps";
const SOURCE = "replicaset-controller";
/** As many as are made or deleted in one step, so that a mistyped number does not fill the memory at once. */
const BURST = 500;

export const replicaSets: Controller = {
  name: "replicaset",
  concerns(change) {
    if (change.resource === REPLICA_SETS && change.type !== "DELETED") return [placeOf(REPLICA_SETS, change.object)];
    return change.resource === "pods" ? controllersConcerned(change, "ReplicaSet", REPLICA_SETS) : [];
  },
  step({ name, namespace }, view, nowMs) {
    const set = view.get(REPLICA_SETS, name, namespace) as ReplicaSet | null;
    if (!set) return NOTHING;
    const pods = controlled(view, set, "pods") as readonly Pod[];
    const isShort = pods.filter(isActive).length < (set.spec.replicas ?? 1);
    const adopted = isShort ? adoptions(view, set, "pods", set.spec.selector) : [];
    return adopted.length > 0 ? { writes: adopted, wakeAtMs: null } : stepReplicaSet(set, pods, nowMs);
  },
};

export function stepReplicaSet(set: ReplicaSet, pods: readonly Pod[], nowMs: number): Outcome {
  const { minReadySeconds = 0 } = set.spec;
  const active = pods.filter(isActive);
  return {
    writes: [...(isDeleting(set) ? [] : podWrites(set, pods, active, nowMs)), ...statusOf(set, active, nowMs)],
    wakeAtMs: nextAvailableMs(active, minReadySeconds, nowMs),
  };
}

function podWrites(set: ReplicaSet, pods: readonly Pod[], active: readonly Pod[], nowMs: number): Write[] {
  const wanted = set.spec.replicas ?? 1;
  const missing = Math.min(wanted - active.length, BURST);
  if (missing <= 0) {
    return rankedForDeletion(active)
      .slice(0, Math.min(active.length - wanted, BURST))
      .flatMap((pod) => [
        deletion("pods", pod),
        normal(SOURCE, set, "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`),
      ]);
  }
  const taken = new Set(pods.map(({ metadata }) => metadata.name));
  return Array.from({ length: missing }, (_, index) => {
    const seed = `${set.metadata.uid}/${set.metadata.resourceVersion}/${nowMs}/${index}`;
    const name = `${set.metadata.name}-${freeSuffix(seed, (suffix) => taken.has(`${set.metadata.name}-${suffix}`))}`;
    taken.add(name);
    return [
      { verb: "create" as const, resource: "pods", object: newPod(set, name) },
      normal(SOURCE, set, "SuccessfulCreate", `Created pod: ${name}`),
    ];
  }).flat();
}

function newPod(set: ReplicaSet, name: string) {
  const { metadata = {}, spec } = set.spec.template;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: present({
      generateName: `${set.metadata.name}-`,
      name,
      namespace: set.metadata.namespace,
      labels: metadata.labels,
      annotations: metadata.annotations,
      ownerReferences: [ownedBy(set)],
    }),
    spec,
  };
}

function statusOf(set: ReplicaSet, active: readonly Pod[], nowMs: number): Write[] {
  const { minReadySeconds = 0, template } = set.spec;
  const labels = template.metadata?.labels ?? {};
  return statusWrites(REPLICA_SETS, set, {
    replicas: active.length,
    ...counted({
      fullyLabeledReplicas: active.filter(({ metadata }) => hasAll(metadata.labels ?? {}, labels)).length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
      observedGeneration: set.metadata.generation ?? 1,
    }),
  });
}

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
