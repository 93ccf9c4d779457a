import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type Write } from "./control.ts";
import { amountOf } from "./deployment-rollout.ts";
import { adoptions, controlled, controllersConcerned, type LabelSelector } from "./owners.ts";
import {
  isActive,
  isAvailable,
  isDeleting,
  isFinished,
  isReady,
  nextAvailableMs,
  type Pod,
  type PodTemplate,
} from "./pod.ts";
import {
  CONTROLLER_REVISIONS,
  type ControllerRevision,
  currentRevisionOf,
  revisionOfPod,
  revisionWrites,
  updateRevisionOf,
} from "./revisions.ts";
import { type ClaimTemplate, claimWrites, ordinalOf, statefulPod } from "./stateful-pod.ts";
import { counted, deletion, normal, statusWrites } from "./writes.ts";

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly minReadySeconds?: number;
    readonly podManagementPolicy?: "OrderedReady" | "Parallel";
    readonly updateStrategy?: {
      readonly type?: "RollingUpdate" | "OnDelete";
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: number | string };
    };
    readonly revisionHistoryLimit?: number;
    readonly ordinals?: { readonly start?: number };
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly ClaimTemplate[];
  };
  readonly status?: { readonly currentRevision?: string; readonly currentReplicas?: number };
}

const STATEFUL_SETS = "statefulsets.apps";
const SOURCE = "statefulset-controller";

export const statefulSets: Controller = {
  name: "statefulset",
  concerns(change) {
    if (change.resource === STATEFUL_SETS)
      return change.type === "DELETED" ? [] : [placeOf(STATEFUL_SETS, change.object)];
    const isOwn = change.resource === "pods" || change.resource === CONTROLLER_REVISIONS;
    return isOwn ? controllersConcerned(change, "StatefulSet", STATEFUL_SETS) : [];
  },
  step({ name, namespace }, view, nowMs) {
    const set = view.get(STATEFUL_SETS, name, namespace) as StatefulSet | null;
    if (!set) return NOTHING;
    const pods = controlled(view, set, "pods") as readonly Pod[];
    const revisions = controlled(view, set, CONTROLLER_REVISIONS) as readonly ControllerRevision[];
    const isShort = pods.length < (set.spec.replicas ?? 1) || revisions.length === 0;
    const adopted = isShort
      ? [CONTROLLER_REVISIONS, "pods"].flatMap((resource) => adoptions(view, set, resource, set.spec.selector))
      : [];
    if (adopted.length > 0) return { writes: adopted, wakeAtMs: null };
    const hasClaim = (claim: string) => view.get("persistentvolumeclaims", claim, namespace) !== null;
    return stepStatefulSet(set, pods, revisions, hasClaim, nowMs);
  },
};

function stepStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: readonly ControllerRevision[],
  hasClaim: (name: string) => boolean,
  nowMs: number,
): Outcome {
  const update = updateRevisionOf(set, revisions);
  // Pods are made of a revision, so that there is nothing to make before it is stored.
  if (!update) return { writes: isDeleting(set) ? [] : revisionWrites(set, revisions), wakeAtMs: null };
  const current = currentRevisionOf(set, revisions) ?? update;
  const status = statefulStatus(set, pods, current, update, nowMs);
  const writes = isDeleting(set) ? [] : podWrites(set, pods, { current, update }, hasClaim, nowMs);
  return {
    writes: [
      ...writes,
      ...statusWrites(STATEFUL_SETS, set, status),
      ...(isDeleting(set) ? [] : revisionWrites(set, revisions, new Set([current, update]))),
    ],
    wakeAtMs: nextAvailableMs(pods, set.spec.minReadySeconds ?? 0, nowMs),
  };
}

interface Revisions {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

function podWrites(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  hasClaim: (name: string) => boolean,
  nowMs: number,
): Write[] {
  const { replicas = 1, minReadySeconds = 0, podManagementPolicy } = set.spec;
  const isOrdered = podManagementPolicy !== "Parallel";
  const start = set.spec.ordinals?.start ?? 0;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const isHealthy = (pod: Pod | undefined) =>
    pod !== undefined && !isDeleting(pod) && isAvailable(pod, minReadySeconds, nowMs);

  const writes: Write[] = [];
  const wanted = Array.from({ length: replicas }, (_, index) => start + index);
  for (const ordinal of wanted) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) writes.push(...madeAt(set, ordinal, revisions, hasClaim));
    else if (isFinished(pod) && !isDeleting(pod)) writes.push(deletion("pods", pod));
    // In order, each waits for the one before it.
    if (isOrdered && !isHealthy(pod)) return writes;
  }
  const surplus = [...byOrdinal]
    .filter(([ordinal]) => ordinal < start || ordinal >= start + replicas)
    .sort(([a], [b]) => b - a)
    .map(([, pod]) => pod);
  const deleting = isOrdered ? surplus.slice(0, 1) : surplus;
  writes.push(...deleting.filter((pod) => !isDeleting(pod)).flatMap((pod) => deletedOf(set, pod)));
  if (surplus.length > 0 || writes.length > 0) return writes;
  return replacements(
    set,
    wanted.flatMap((ordinal) => byOrdinal.get(ordinal) ?? []),
    revisions,
    isHealthy,
  );
}

/** Pods of an older revision go from the last to the first, no more at once than may be missing. */
function replacements(
  set: StatefulSet,
  pods: readonly Pod[],
  { update }: Revisions,
  isHealthy: (pod: Pod) => boolean,
): Write[] {
  const { type = "RollingUpdate", rollingUpdate = {} } = set.spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return [];
  const start = set.spec.ordinals?.start ?? 0;
  const { partition = 0, maxUnavailable = 1 } = rollingUpdate;
  const most = Math.max(amountOf(maxUnavailable, pods.length, Math.ceil), 1);
  let missing = 0;
  const writes: Write[] = [];
  for (const pod of [...pods].reverse()) {
    if (missing >= most || ordinalOf(pod) < start + partition) break;
    const isOld = revisionOfPod(pod) !== update.metadata.name;
    if (isOld && !isDeleting(pod)) writes.push(...deletedOf(set, pod));
    if (isOld || !isHealthy(pod)) missing++;
  }
  return writes;
}

function madeAt(
  set: StatefulSet,
  ordinal: number,
  { current, update }: Revisions,
  hasClaim: (name: string) => boolean,
): Write[] {
  const start = set.spec.ordinals?.start ?? 0;
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const kept = partition > 0 ? partition : (set.status?.currentReplicas ?? 0);
  // During a rollout a pod that has not had its turn comes back as it was.
  const isKept = current !== update && ordinal < start + kept;
  const pod = statefulPod(set, ordinal, isKept ? current : update);
  const message = `create Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  return [
    ...claimWrites(set, ordinal, hasClaim),
    { verb: "create", resource: "pods", object: pod },
    normal(SOURCE, set, "SuccessfulCreate", message),
  ];
}

const deletedOf = (set: StatefulSet, pod: Pod): Write[] => [
  deletion("pods", pod),
  normal(
    SOURCE,
    set,
    "SuccessfulDelete",
    `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
  ),
];

function statefulStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  current: ControllerRevision,
  update: ControllerRevision,
  nowMs: number,
) {
  const { replicas = 1, minReadySeconds = 0, updateStrategy } = set.spec;
  const existing = pods.filter((pod) => !isFinished(pod));
  const active = pods.filter(isActive);
  const ready = active.filter(isReady).length;
  const ofRevision = ({ metadata }: ControllerRevision) =>
    active.filter((pod) => revisionOfPod(pod) === metadata.name).length;
  const updated = ofRevision(update);
  const isRolledOut =
    (updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate" &&
    existing.length === replicas &&
    updated === replicas &&
    ready === replicas;
  const shown = isRolledOut ? update : current;
  return {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: existing.length,
    ...counted({
      readyReplicas: ready,
      currentReplicas: ofRevision(shown),
      updatedReplicas: updated,
    }),
    availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
    currentRevision: shown.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: 0,
  };
}
