import type { Deployment } from "./deployment.ts";
import { rolloutLimits } from "./deployment-rollout.ts";
import { type Condition, conditionOf, withCondition } from "./pod.ts";
import type { ReplicaSet } from "./replica-set.ts";
import { counted, secondsAfter, stampOf } from "./writes.ts";

const PROGRESS_SECONDS = 600;
const COMPLETE = "NewReplicaSetAvailable";
const LATE = "ProgressDeadlineExceeded";

interface Counts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
}

export function deploymentStatus(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  sets: readonly ReplicaSet[],
  isNewVersion: boolean,
  nowMs: number,
) {
  const total = (field: "replicas" | "readyReplicas" | "availableReplicas") =>
    sets.reduce((sum, { status }) => sum + (status?.[field] ?? 0), 0);
  const counts: Counts = {
    replicas: total("replicas"),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: total("readyReplicas"),
    availableReplicas: total("availableReplicas"),
  };
  const available = withCondition(deployment.status?.conditions ?? [], availability(deployment, counts, nowMs), nowMs);
  const progressing = progressOf(deployment, current, counts, isNewVersion, nowMs);
  const status = {
    observedGeneration: deployment.metadata.generation ?? 1,
    ...counted({ ...counts, unavailableReplicas: Math.max(counts.replicas - counts.availableReplicas, 0) }),
    conditions: progressing ? withCondition(available, progressing, nowMs) : available,
  };
  return { status, wakeAtMs: progressing ? deadlineMs(deployment, progressing, nowMs) : null };
}

function availability(deployment: Deployment, { availableReplicas }: Counts, nowMs: number): Condition {
  const { replicas = 1 } = deployment.spec;
  const isAvailable = availableReplicas >= replicas - rolloutLimits(deployment).unavailable;
  return updated(deployment, nowMs, {
    type: "Available",
    status: isAvailable ? "True" : "False",
    reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    message: isAvailable ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
  });
}

function progressOf(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  counts: Counts,
  isNewVersion: boolean,
  nowMs: number,
): Condition | null {
  const before = conditionOf(deployment, "Progressing");
  const title = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const progressing = (status: Condition["status"], reason: string, message: string) =>
    updated(deployment, nowMs, { type: "Progressing", status, reason, message });
  if (deployment.spec.paused) {
    return before?.reason === LATE ? before : progressing("Unknown", "DeploymentPaused", "Deployment is paused");
  }
  if (isNewVersion && !current) return progressing("True", "NewReplicaSetCreated", "Created new replica set");
  if (isComplete(deployment, current, counts))
    return progressing("True", COMPLETE, `${title} has successfully progressed.`);
  // Scaling a version that is complete, or losing a pod of it, is not a rollout that could come too late.
  if (before?.reason === COMPLETE && counts.replicas === counts.updatedReplicas && !isNewVersion) return before;
  const isMoving = hasMoved(deployment, counts) || isNewVersion || before?.status === "Unknown" || !before;
  if (isMoving) {
    const { lastUpdateTime: _, ...moved } = progressing("True", "ReplicaSetUpdated", `${title} is progressing.`);
    return { ...moved, lastUpdateTime: stampOf(nowMs) };
  }
  if (before.reason === COMPLETE || before.reason === LATE) return before;
  const dueMs = deadlineMs(deployment, before, 0);
  return dueMs === null || dueMs > nowMs ? before : progressing("False", LATE, `${title} has timed out progressing.`);
}

const isComplete = ({ spec }: Deployment, current: ReplicaSet | undefined, counts: Counts): boolean =>
  current !== undefined &&
  [counts.replicas, counts.updatedReplicas, counts.availableReplicas].every((count) => count === (spec.replicas ?? 1));

/** Whether new pods have come, or old ones have gone, since the status was written. */
function hasMoved({ status = {} }: Deployment, counts: Counts): boolean {
  const old = (replicas = 0, updatedReplicas = 0) => replicas - updatedReplicas;
  return (
    counts.updatedReplicas > (status.updatedReplicas ?? 0) ||
    old(counts.replicas, counts.updatedReplicas) < old(status.replicas, status.updatedReplicas) ||
    counts.readyReplicas > (status.readyReplicas ?? 0) ||
    counts.availableReplicas > (status.availableReplicas ?? 0)
  );
}

function deadlineMs({ spec }: Deployment, { reason, lastUpdateTime }: Condition, nowMs: number): number | null {
  if (reason === COMPLETE || reason === LATE || spec.paused) return null;
  const dueMs = secondsAfter(lastUpdateTime, spec.progressDeadlineSeconds ?? PROGRESS_SECONDS);
  return dueMs === null ? null : Math.max(dueMs, nowMs);
}

/** A condition that does not change keeps its time. */
function updated(deployment: Deployment, nowMs: number, condition: Condition): Condition {
  const before = conditionOf(deployment, condition.type);
  const isSame = before?.reason === condition.reason && before?.message === condition.message;
  return { ...condition, lastUpdateTime: (isSame && before?.lastUpdateTime) || stampOf(nowMs) };
}
