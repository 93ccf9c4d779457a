import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type Write } from "./control.ts";
import { newReplicaSet, replicaSetOf } from "./deployment-replica-set.ts";
import { recreate, revisionOf, rollOut, scaleOnly } from "./deployment-rollout.ts";
import { deploymentStatus } from "./deployment-status.ts";
import { adoptions, controlled, controllersConcerned, type LabelSelector } from "./owners.ts";
import { type Condition, isDeleting, isFinished, type Pod, type PodTemplate } from "./pod.ts";
import { REPLICA_SETS, type ReplicaSet } from "./replica-set.ts";
import { deletion, normal, patchOf, statusWrites } from "./writes.ts";

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly selector: LabelSelector;
    readonly strategy?: {
      readonly type?: "RollingUpdate" | "Recreate";
      readonly rollingUpdate?: { readonly maxSurge?: number | string; readonly maxUnavailable?: number | string };
    };
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** A ReplicaSet and the number of pods that it should have from now on. */
export interface Scaling {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

const DEPLOYMENTS = "deployments.apps";
const SOURCE = "deployment-controller";
const REVISIONS_KEPT = 10;

export const deployments: Controller = {
  name: "deployment",
  concerns(change, view) {
    if (change.resource === DEPLOYMENTS) return change.type === "DELETED" ? [] : [placeOf(DEPLOYMENTS, change.object)];
    if (change.resource === REPLICA_SETS) return controllersConcerned(change, "Deployment", DEPLOYMENTS);
    // Recreate waits for the last pod to be gone, which the status of a ReplicaSet does not show.
    if (change.resource !== "pods" || change.type !== "DELETED") return [];
    return controllersConcerned(change, "ReplicaSet", REPLICA_SETS).flatMap((place) => {
      const object = view.get(REPLICA_SETS, place.name, place.namespace);
      return object ? controllersConcerned({ ...change, object, previous: null }, "Deployment", DEPLOYMENTS) : [];
    });
  },
  step({ name, namespace }, view, nowMs) {
    const deployment = view.get(DEPLOYMENTS, name, namespace) as Deployment | null;
    if (!deployment) return NOTHING;
    const sets = controlled(view, deployment, REPLICA_SETS) as readonly ReplicaSet[];
    const adopted = replicaSetOf(deployment, sets)
      ? []
      : adoptions(view, deployment, REPLICA_SETS, deployment.spec.selector);
    if (adopted.length > 0) return { writes: adopted, wakeAtMs: null };
    const hasPods = (set: ReplicaSet) =>
      (controlled(view, set, "pods") as readonly Pod[]).some((pod) => !isFinished(pod));
    return stepDeployment(deployment, sets, hasPods, nowMs);
  },
};

export function stepDeployment(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  hasPods: (set: ReplicaSet) => boolean,
  nowMs: number,
): Outcome {
  const current = replicaSetOf(deployment, sets);
  const old = sets.filter((set) => set !== current);
  const isRecreating = deployment.spec.strategy?.type === "Recreate";
  const mayStart = !isRecreating || (old.every((set) => (set.spec.replicas ?? 1) === 0) && !old.some(hasPods));
  const isActing = !isDeleting(deployment) && !deployment.spec.paused;
  const creation = isActing && mayStart ? newReplicaSet(deployment, current, old) : [];
  // A new ReplicaSet is scaled in the step that its creation causes.
  const scalings =
    isDeleting(deployment) || creation.some(({ verb }) => verb === "create")
      ? []
      : (deployment.spec.paused ? scaleOnly : isRecreating ? recreate : rollOut)(deployment, current, old);
  const isNewVersion = creation.some(
    (write) => write.verb === "create" || (write.verb === "patch" && write.resource === DEPLOYMENTS),
  );
  const { status, wakeAtMs } = deploymentStatus(deployment, current, sets, isNewVersion, nowMs);
  return {
    writes: [
      ...creation,
      ...scalings.flatMap((scaling) => scalingWrites(deployment, scaling)),
      ...statusWrites(DEPLOYMENTS, deployment, status),
      ...(isActing ? forgotten(deployment, current, old) : []),
    ],
    wakeAtMs,
  };
}

function scalingWrites(deployment: Deployment, { set, replicas }: Scaling): Write[] {
  const before = set.spec.replicas ?? 1;
  if (before === replicas) return [];
  const verb = before < replicas ? "up" : "down";
  const message = `Scaled ${verb} replica set ${set.metadata.name} from ${before} to ${replicas}`;
  return [patchOf(REPLICA_SETS, set, { spec: { replicas } }), normal(SOURCE, deployment, "ScalingReplicaSet", message)];
}

/** Old versions beyond those that are kept for a way back, once the new one is there. */
function forgotten(deployment: Deployment, current: ReplicaSet | undefined, old: readonly ReplicaSet[]): Write[] {
  const replicas = deployment.spec.replicas ?? 1;
  if (!current || (current.status?.availableReplicas ?? 0) < replicas) return [];
  const empty = old.filter(
    (set) => !isDeleting(set) && (set.spec.replicas ?? 1) === 0 && (set.status?.replicas ?? 0) === 0,
  );
  const surplus = empty.length - (deployment.spec.revisionHistoryLimit ?? REVISIONS_KEPT);
  return [...empty]
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(surplus, 0))
    .map((set) => deletion(REPLICA_SETS, set, "Background"));
}
