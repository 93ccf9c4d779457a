import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type View, type Write } from "./control.ts";
import { amountOf } from "./deployment-rollout.ts";
import { freeSuffix } from "./fingerprint.ts";
import { controlled, controllersConcerned, hasAll, ownedBy } from "./owners.ts";
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
  hashOf,
  REVISION_LABEL,
  revisionOfPod,
  revisionWrites,
  updateRevisionOf,
} from "./revisions.ts";
import { counted, deletion, normal, present, statusWrites } from "./writes.ts";

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly updateStrategy?: {
      readonly type?: "RollingUpdate" | "OnDelete";
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
    };
    readonly template: PodTemplate;
  };
}

const DAEMON_SETS = "daemonsets.apps";
const SOURCE = "daemonset-controller";

export const daemonSets: Controller = {
  name: "daemonset",
  concerns(change, view) {
    const { resource, type, object } = change;
    if (resource === DAEMON_SETS) return type === "DELETED" ? [] : [placeOf(DAEMON_SETS, object)];
    if (resource === "nodes" && type !== "MODIFIED") return everySet(view);
    const isOwn = resource === "pods" || resource === CONTROLLER_REVISIONS;
    return isOwn ? controllersConcerned(change, "DaemonSet", DAEMON_SETS) : [];
  },
  step({ name, namespace }, view, nowMs) {
    const set = view.get(DAEMON_SETS, name, namespace) as DaemonSet | null;
    if (!set) return NOTHING;
    const pods = controlled(view, set, "pods") as readonly Pod[];
    const revisions = controlled(view, set, CONTROLLER_REVISIONS) as readonly ControllerRevision[];
    return stepDaemonSet(set, pods, revisions, view.list("nodes"), nowMs);
  },
};

const everySet = (view: View) => view.list(DAEMON_SETS).map((set) => placeOf(DAEMON_SETS, set));

function stepDaemonSet(
  set: DaemonSet,
  pods: readonly Pod[],
  revisions: readonly ControllerRevision[],
  nodes: readonly KubeObject[],
  nowMs: number,
): Outcome {
  const update = updateRevisionOf(set, revisions);
  if (!update) return { writes: isDeleting(set) ? [] : revisionWrites(set, revisions), wakeAtMs: null };
  const { minReadySeconds = 0, template } = set.spec;
  const wanted = nodes
    .filter(({ metadata }) => hasAll(metadata.labels ?? {}, template.spec.nodeSelector ?? {}))
    .map(({ metadata }) => metadata.name);
  const used = new Set(revisions.filter((revision) => pods.some((pod) => revisionOfPod(pod) === hashOf(revision))));
  return {
    writes: [
      ...(isDeleting(set) ? [] : podWrites(set, pods, wanted, update, nowMs)),
      ...statusWrites(DAEMON_SETS, set, statusOf(set, pods, wanted, update, nowMs)),
      ...(isDeleting(set) ? [] : revisionWrites(set, revisions, used.add(update))),
    ],
    wakeAtMs: nextAvailableMs(pods, minReadySeconds, nowMs),
  };
}

function podWrites(
  set: DaemonSet,
  pods: readonly Pod[],
  wanted: readonly string[],
  update: ControllerRevision,
  nowMs: number,
): Write[] {
  const { minReadySeconds = 0, updateStrategy = {} } = set.spec;
  const gone = pods.filter((pod) => !isDeleting(pod) && (isFinished(pod) || !wanted.includes(pod.spec.nodeName ?? "")));
  const missing = wanted.filter((node) => !pods.some(({ spec }) => spec.nodeName === node));
  const active = pods.filter((pod) => isActive(pod) && !gone.includes(pod));
  const old = active.filter((pod) => revisionOfPod(pod) !== hashOf(update));
  const available = active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs));
  const most = Math.max(amountOf(updateStrategy.rollingUpdate?.maxUnavailable ?? 1, wanted.length, Math.ceil), 1);
  const spare = most - (wanted.length - available.length);
  const broken = old.filter((pod) => !available.includes(pod));
  const replaced =
    updateStrategy.type === "OnDelete"
      ? []
      : [...broken, ...old.filter((pod) => available.includes(pod)).slice(0, Math.max(spare, 0))];
  return [
    ...[...gone, ...replaced].flatMap((pod) => [
      deletion("pods", pod),
      normal(SOURCE, set, "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`),
    ]),
    ...missing.flatMap((node) => madeOn(set, node, update, nowMs)),
  ];
}

function madeOn(set: DaemonSet, nodeName: string, update: ControllerRevision, nowMs: number): Write[] {
  const { metadata = {}, spec } = set.spec.template;
  const name = `${set.metadata.name}-${freeSuffix(`${set.metadata.uid}/${nodeName}/${nowMs}`, () => false)}`;
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: present({
      name,
      generateName: `${set.metadata.name}-`,
      namespace: set.metadata.namespace,
      labels: { ...metadata.labels, [REVISION_LABEL]: hashOf(update) },
      annotations: metadata.annotations,
      ownerReferences: [ownedBy(set)],
    }),
    spec: { ...spec, nodeName },
  };
  return [
    { verb: "create", resource: "pods", object },
    normal(SOURCE, set, "SuccessfulCreate", `Created pod: ${name}`),
  ];
}

function statusOf(
  set: DaemonSet,
  pods: readonly Pod[],
  wanted: readonly string[],
  update: ControllerRevision,
  nowMs: number,
) {
  const active = pods.filter((pod) => isActive(pod) && wanted.includes(pod.spec.nodeName ?? ""));
  const available = active.filter((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)).length;
  return {
    observedGeneration: set.metadata.generation ?? 1,
    currentNumberScheduled: active.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: pods.filter(isActive).length - active.length,
    numberReady: active.filter(isReady).length,
    ...counted({
      updatedNumberScheduled: active.filter((pod) => revisionOfPod(pod) === hashOf(update)).length,
      numberAvailable: available,
      numberUnavailable: wanted.length - available,
    }),
  };
}
