import { isActive, isAvailable, isFinished, isReady, type Pod } from "./pod.ts";
import { type ControllerRevision, revisionOfPod } from "./revisions.ts";
import type { StatefulSet } from "./stateful-set.ts";
import { counted } from "./writes.ts";

export function statefulStatus(
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
