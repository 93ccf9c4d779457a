import type { KubeObject } from "./kube-client.ts";
import { conditionOf, countIn, fieldsIn, specOf, statusOf, titleOf } from "./object-fields.ts";
import { rejected } from "./pod-rejection.ts";
import { failed, partly, progressing, type Readiness, ready, unseen } from "./readiness-state.ts";

const wantedReplicas = (object: KubeObject): number => Number(specOf(object)["replicas"] ?? 1);

/** A controller that has looked at the object says at which generation; before that its counts mean nothing. */
const isSeen = (object: KubeObject): boolean => typeof statusOf(object)["observedGeneration"] === "number";

export function deploymentReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["readyReplicas"]);
  const updated = countIn(status["updatedReplicas"]);
  const wanted = wantedReplicas(object);
  if (!isSeen(object)) return unseen(object, isReady);
  const isOverdue = conditionOf(object, "Progressing")?.reason === "ProgressDeadlineExceeded";
  const refused = conditionOf(object, "ReplicaFailure");
  if (refused?.status === "True") return rejected(object, refused.message, isReady, isOverdue);
  if (isOverdue) return failed(`${titleOf(object)} made no progress within its deadline.`, isReady);
  if (updated < wanted) return partly(object, [updated, wanted], "updated", isReady);
  const old = countIn(status["replicas"]) - updated;
  if (old > 0) return progressing(`${titleOf(object)} has ${old} old replicas left to stop.`, isReady);
  const available = countIn(status["availableReplicas"]);
  return available < updated ? partly(object, [available, wanted], "available", isReady) : ready(isReady);
}

export function statefulSetReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["readyReplicas"]);
  const wanted = wantedReplicas(object);
  if (!isSeen(object)) return unseen(object, isReady);
  // Its pods are replaced when a person deletes them, and nobody knows when that is.
  if (fieldsIn(specOf(object)["updateStrategy"])["type"] === "OnDelete") return ready(isReady);
  const surplus = countIn(status["replicas"]) - wanted;
  if (surplus > 0) return progressing(`${titleOf(object)} has ${surplus} replicas left to stop.`, isReady);
  if (isReady < wanted) return partly(object, [isReady, wanted], "ready", isReady);
  // A set that is scaled to nothing has no pod that could bring its revisions together.
  if (wanted > 0 && status["currentRevision"] !== status["updateRevision"]) {
    return partly(object, [countIn(status["updatedReplicas"]), wanted], "updated", isReady);
  }
  return ready(isReady);
}

export function daemonSetReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["numberReady"]);
  const wanted = countIn(status["desiredNumberScheduled"]);
  if (!isSeen(object)) return unseen(object, isReady);
  const updated = countIn(status["updatedNumberScheduled"]);
  if (updated < wanted) return partly(object, [updated, wanted], "updated", isReady);
  const available = countIn(status["numberAvailable"]);
  return available < wanted ? partly(object, [available, wanted], "available", isReady) : ready(isReady);
}

export function jobReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["ready"]);
  const broken = [conditionOf(object, "Failed"), conditionOf(object, "FailureTarget")].find(
    (condition) => condition?.status === "True",
  );
  if (broken) return failed(`${titleOf(object)} has failed: ${broken.message}`, isReady);
  if (conditionOf(object, "Complete")?.status === "True") return ready(isReady);
  if (specOf(object)["suspend"] === true) return ready();
  return progressing(
    `${titleOf(object)} ${countIn(status["active"]) > 0 ? "is running" : "has not begun yet"}.`,
    isReady,
  );
}

/** It has done its part once it is stored; what its runs come to is theirs. */
export function cronJobReadiness(object: KubeObject): Readiness {
  const { active } = statusOf(object);
  return ready(Array.isArray(active) ? active.length : 0);
}
