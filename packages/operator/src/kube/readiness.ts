import { parseQuantity, type Reason } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { conditionOf, countIn, fieldsIn, specOf, statusOf, textIn, titleOf } from "./object-fields.ts";
import { rejected } from "./pod-rejection.ts";

type Rule = (object: KubeObject) => Readiness;

/** Whether an ingress ever gets an address is up to its controller; many never write one. A budget only limits others. */
const readyOnceStored: Rule = () => ready();

const RULES: Readonly<Record<string, Rule>> = {
  Deployment: deploymentReadiness,
  StatefulSet: statefulSetReadiness,
  DaemonSet: daemonSetReadiness,
  Job: jobReadiness,
  CronJob: cronJobReadiness,
  PersistentVolumeClaim: volumeClaim,
  Service: service,
  Ingress: readyOnceStored,
  HorizontalPodAutoscaler: autoscaler,
  PodDisruptionBudget: readyOnceStored,
  Pod: pod,
};

/** The readiness of an object, by the conventions of kstatus. */
export function readinessOf(object: KubeObject): Readiness {
  const { observedGeneration, readyReplicas } = statusOf(object);
  const { deletionTimestamp, generation = 0 } = object.metadata;
  const isReady = countIn(readyReplicas);
  if (deletionTimestamp) return progressing(`${titleOf(object)} is being deleted.`, isReady);
  if (typeof observedGeneration === "number" && observedGeneration < generation) return unseen(object, isReady);
  return (RULES[object.kind] ?? byConditions)(object);
}

/** The reason of a volume that is not as large yet as it is to be. */
export const VOLUME_GROWING = "VolumeGrowing";

const SCALED: ReadonlySet<string> = new Set(["Deployment", "StatefulSet"]);

/** A workload that somebody has scaled below the number that is asked for is ready by itself, but not as it should be. */
export function notBelow(desired: number, object: KubeObject, readiness: Readiness): Readiness {
  const { state, readyReplicas } = readiness;
  if (!SCALED.has(object.kind) || state !== "ready" || readyReplicas >= desired) return readiness;
  return { ...readiness, ...partly(object, [readyReplicas, desired], "ready", readyReplicas) };
}

/** Autoscalers do not scale to zero, so a workload with an autoscaler needs at least one replica. */
export function askedReplicas(workload: KubeObject): number {
  const { replicas } = specOf(workload);
  return typeof replicas === "number" ? replicas : 1;
}

function volumeClaim(object: KubeObject): Readiness {
  const { phase } = statusOf(object);
  if (phase === "Bound") return growing(object) ?? ready();
  if (phase === "Lost") return failed(`${titleOf(object)} has lost its volume.`);
  return progressing(`${titleOf(object)} has no volume yet.`);
}

/** The message of a volume whose expansion is not finished. Null where it has its size, or the size is not known. */
function growing(claim: KubeObject): Readiness | null {
  const asked = textIn(fieldsIn(fieldsIn(specOf(claim)["resources"])["requests"])["storage"]);
  const has = textIn(fieldsIn(statusOf(claim)["capacity"])["storage"]);
  if (has === "" || (parseQuantity(has) ?? 0) >= (parseQuantity(asked) ?? 0)) return null;
  const why = ["ControllerResizeError", "NodeResizeError", "FileSystemResizePending"]
    .map((type) => conditionOf(claim, type))
    .find((condition) => condition?.status === "True")?.message;
  const message = `${titleOf(claim)} has ${has} and grows to ${asked}${why ? `: ${why}` : "."}`;
  return { ...progressing(message), reason: VOLUME_GROWING };
}

function service(object: KubeObject): Readiness {
  if (specOf(object)["type"] !== "LoadBalancer") return ready();
  const { ingress } = fieldsIn(statusOf(object)["loadBalancer"]);
  const hasAddress = Array.isArray(ingress) && ingress.length > 0;
  return hasAddress ? ready() : progressing(`${titleOf(object)} has no address yet.`);
}

/** One that has no figures to scale by does not hold up what it scales. */
function autoscaler(object: KubeObject): Readiness {
  const able = conditionOf(object, "AbleToScale");
  return able?.status === "False" ? failed(`${titleOf(object)} cannot scale: ${able.message}`) : ready();
}

function pod(object: KubeObject): Readiness {
  const { phase } = statusOf(object);
  if (phase === "Succeeded") return ready();
  if (phase === "Failed") return failed(`${titleOf(object)} has failed.`);
  return conditionOf(object, "Ready")?.status === "True"
    ? ready(1)
    : progressing(`${titleOf(object)} is not ready yet.`);
}

/** Of kinds that nothing is known of: what their conditions say by convention. One without any is there, no more. */
function byConditions(object: KubeObject): Readiness {
  const stalled = conditionOf(object, "Stalled");
  if (stalled?.status === "True") return failed(stalled.message || `${titleOf(object)} is stalled.`);
  const reconciling = conditionOf(object, "Reconciling");
  if (reconciling?.status === "True") return progressing(reconciling.message || `${titleOf(object)} is in the works.`);
  const isReady = conditionOf(object, "Ready");
  if (isReady?.status === "True") return ready();
  if (isReady?.status === "False") return progressing(isReady.message || `${titleOf(object)} is not ready yet.`);
  return isReady || Array.isArray(statusOf(object)["conditions"]) ? unknown() : ready();
}

export interface Readiness {
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  /** One word for programs, where there is one. */
  readonly reason?: Reason;
  /** Shown to people; null where there is no message. */
  readonly message: string | null;
  readonly readyReplicas: number;
}

export const ready = (readyReplicas = 0): Readiness => ({ state: "ready", message: null, readyReplicas });

export const unknown = (): Readiness => ({ state: "unknown", message: null, readyReplicas: 0 });

export const progressing = (message: string, readyReplicas = 0): Readiness => ({
  state: "progressing",
  message,
  readyReplicas,
});

export const failed = (message: string, readyReplicas = 0): Readiness => ({ state: "failed", message, readyReplicas });

const unseen = (object: KubeObject, readyReplicas: number): Readiness =>
  progressing(`Kubernetes has not looked at ${titleOf(object)} yet.`, readyReplicas);

/** Of so many wanted, some have come so far. */
function partly(object: KubeObject, [have, wanted]: readonly [number, number], what: string, isReady: number) {
  return progressing(`${titleOf(object)} has ${have} of ${wanted} replicas ${what}.`, isReady);
}

const wantedReplicas = (object: KubeObject): number => Number(specOf(object)["replicas"] ?? 1);

/** A controller sets observedGeneration; its counts mean nothing before that. */
const isSeen = (object: KubeObject): boolean => typeof statusOf(object)["observedGeneration"] === "number";

function deploymentReadiness(object: KubeObject): Readiness {
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

function statefulSetReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["readyReplicas"]);
  const wanted = wantedReplicas(object);
  if (!isSeen(object)) return unseen(object, isReady);
  const surplus = countIn(status["replicas"]) - wanted;
  if (surplus > 0) return progressing(`${titleOf(object)} has ${surplus} replicas left to stop.`, isReady);
  if (isReady < wanted) return partly(object, [isReady, wanted], "ready", isReady);
  const available = countIn(status["availableReplicas"]);
  // Without the field what is ready is available, and not every API server says so.
  if (countIn(specOf(object)["minReadySeconds"]) > 0 && available < wanted) {
    return partly(object, [available, wanted], "available", isReady);
  }
  // Without a change all pods count as updated, whatever `updatedReplicas` says. A set that is scaled to nothing has none.
  if (wanted === 0 || status["currentRevision"] === status["updateRevision"]) return ready(isReady);
  const updated = countIn(status["updatedReplicas"]);
  if (isUpdatedByDeletion(object)) return outdated(object, [updated, wanted], ON_DELETE, isReady);
  const due = dueByPartition(object, wanted);
  // Where all are due the set also says when it is done.
  return updated < due || due === wanted
    ? partly(object, [updated, due], "updated", isReady)
    : outdated(object, [updated, wanted], "its partition keeps the others as they are", isReady);
}

/** Pods whose ordinal is below the partition stay as they are. */
function dueByPartition(set: KubeObject, wanted: number): number {
  const { ordinals, updateStrategy } = specOf(set);
  const first = countIn(fieldsIn(ordinals)["start"]);
  const partition = countIn(fieldsIn(fieldsIn(updateStrategy)["rollingUpdate"])["partition"]);
  return Math.min(wanted, Math.max(0, first + wanted - partition));
}

const ON_DELETE = "each of the others when somebody deletes its pod";

/** It is ready, and some of its pods are of an earlier revision for as long as people want it so. */
function outdated(
  object: KubeObject,
  [updated, wanted]: readonly [number, number],
  why: string,
  isReady: number,
): Readiness {
  if (updated >= wanted) return ready(isReady);
  return { ...ready(isReady), message: `${titleOf(object)} has ${updated} of ${wanted} replicas updated, ${why}.` };
}

/** Its pods are replaced when a person deletes them, and nobody knows when that is. */
const isUpdatedByDeletion = (object: KubeObject): boolean =>
  fieldsIn(specOf(object)["updateStrategy"])["type"] === "OnDelete";

function daemonSetReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["numberReady"]);
  const wanted = countIn(status["desiredNumberScheduled"]);
  if (!isSeen(object)) return unseen(object, isReady);
  const updated = countIn(status["updatedNumberScheduled"]);
  if (updated < wanted && !isUpdatedByDeletion(object)) return partly(object, [updated, wanted], "updated", isReady);
  const available = countIn(status["numberAvailable"]);
  if (available < wanted) return partly(object, [available, wanted], "available", isReady);
  return outdated(object, [updated, wanted], ON_DELETE, isReady);
}

function jobReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  const isReady = countIn(status["ready"]);
  const broken = [conditionOf(object, "Failed"), conditionOf(object, "FailureTarget")].find(
    (condition) => condition?.status === "True",
  );
  if (broken) return failed(`${titleOf(object)} has failed: ${broken.message}`, isReady);
  if (conditionOf(object, "Complete")?.status === "True") return ready(isReady);
  if (specOf(object)["suspend"] === true) return ready();
  if (countIn(status["active"]) > 0) return progressing(`${titleOf(object)} is running.`, isReady);
  const failures = countIn(status["failed"]);
  const soFar = failures > 0 ? `has failed ${failures} times and is tried again` : "has not begun yet";
  return progressing(`${titleOf(object)} ${soFar}.`, isReady);
}

/** A CronJob is ready once it is stored. Its runs have states of their own. */
function cronJobReadiness(object: KubeObject): Readiness {
  const { active } = statusOf(object);
  return ready(Array.isArray(active) ? active.length : 0);
}
