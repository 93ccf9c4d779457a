import { describe, expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { type Readiness, readinessOf } from "./readiness.ts";

const object = (kind: string, spec: object, status?: object, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "web", generation: 2, ...metadata },
  spec,
  ...(status ? { status } : {}),
});
const condition = (type: string, status = "True", rest: object = {}) => ({ conditions: [{ type, status, ...rest }] });
type Case = [string, KubeObject, Readiness["state"], string | null, number?, string?];

const check = (...[, seen, state, message, readyReplicas = 0, reason]: Case) =>
  expect(readinessOf(seen)).toEqual({ state, message, readyReplicas, ...(reason ? { reason } : {}) });

const seen = { observedGeneration: 2 };
const full = { ...seen, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
const two = { replicas: 2 };
const canary = (partition: number) => ({ ...two, updateStrategy: { rollingUpdate: { partition } } });

describe("a Deployment", () => {
  const unseen = "Kubernetes has not looked at Deployment web yet.";
  test.each<Case>([
    ["is ready when all are updated and available", object("Deployment", two, full), "ready", null, 2],
    ["is ready without replicas when none are wanted", object("Deployment", { replicas: 0 }, seen), "ready", null],
    ["is new", object("Deployment", two), "progressing", unseen],
    ["is unseen", object("Deployment", two, { ...full, observedGeneration: 1 }), "progressing", unseen, 2],
    [
      "has some to update",
      object("Deployment", two, { ...full, updatedReplicas: 1 }),
      "progressing",
      "Deployment web has 1 of 2 replicas updated.",
      2,
    ],
    [
      "has old ones to stop",
      object("Deployment", two, { ...full, replicas: 3 }),
      "progressing",
      "Deployment web has 1 old replicas left to stop.",
      2,
    ],
    [
      "has some that are not available",
      object("Deployment", two, { ...full, readyReplicas: 1, availableReplicas: 1 }),
      "progressing",
      "Deployment web has 1 of 2 replicas available.",
      1,
    ],
    [
      "has failed when it makes no progress in time",
      object("Deployment", two, {
        ...full,
        ...condition("Progressing", "False", { reason: "ProgressDeadlineExceeded" }),
      }),
      "failed",
      "Deployment web made no progress within its deadline.",
      2,
    ],
    [
      "reports that its pods are rejected",
      object("Deployment", two, { ...seen, ...condition("ReplicaFailure", "True", { message: "no answer" }) }),
      "progressing",
      "Deployment web cannot start pods: no answer",
      0,
      "PodRejected",
    ],
    [
      "is leaving",
      object("Deployment", two, full, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      "progressing",
      "Deployment web is being deleted.",
      2,
    ],
  ])("[AO20] the readiness of a Deployment is known: it %s", check);
});

describe("a StatefulSet", () => {
  const same = { currentRevision: "a", updateRevision: "a" };
  const all = { ...seen, replicas: 2, readyReplicas: 2, updatedReplicas: 2, ...same };
  test.each<Case>([
    ["is ready when its revisions are one", object("StatefulSet", two, all), "ready", null, 2],
    ["is new", object("StatefulSet", two), "progressing", "Kubernetes has not looked at StatefulSet web yet."],
    [
      "has two revisions",
      object("StatefulSet", two, { ...all, updateRevision: "b", updatedReplicas: 1 }),
      "progressing",
      "StatefulSet web has 1 of 2 replicas updated.",
      2,
    ],
    [
      "has some that are not ready",
      object("StatefulSet", two, { ...all, readyReplicas: 1 }),
      "progressing",
      "StatefulSet web has 1 of 2 replicas ready.",
      1,
    ],
    [
      "has too many",
      object("StatefulSet", { replicas: 1 }, all),
      "progressing",
      "StatefulSet web has 1 replicas left to stop.",
      2,
    ],
    [
      "is ready without replicas, whatever its revisions",
      object("StatefulSet", { replicas: 0 }, { ...seen, ...same, updateRevision: "b" }),
      "ready",
      null,
    ],
    [
      "is left to people when it is updated by deletion",
      object(
        "StatefulSet",
        { ...two, updateStrategy: { type: "OnDelete" } },
        { ...all, updateRevision: "b", updatedReplicas: 2 },
      ),
      "ready",
      null,
      2,
    ],
    [
      "says how many are left to people when it is updated by deletion",
      object(
        "StatefulSet",
        { ...two, updateStrategy: { type: "OnDelete" } },
        { ...all, updateRevision: "b", updatedReplicas: 1 },
      ),
      "ready",
      "StatefulSet web has 1 of 2 replicas updated, each of the others when somebody deletes its pod.",
      2,
    ],
    [
      "is not ready while a replica is missing, however it is updated",
      object("StatefulSet", { ...two, updateStrategy: { type: "OnDelete" } }, { ...all, readyReplicas: 1 }),
      "progressing",
      "StatefulSet web has 1 of 2 replicas ready.",
      1,
    ],
    [
      "is done when the pods above its partition are updated, and says how many that are",
      object("StatefulSet", canary(1), { ...all, updateRevision: "b", updatedReplicas: 1 }),
      "ready",
      "StatefulSet web has 1 of 2 replicas updated, its partition keeps the others as they are.",
      2,
    ],
    [
      "counts its partition from its first ordinal",
      object(
        "StatefulSet",
        { ...canary(6), ordinals: { start: 5 } },
        { ...all, updateRevision: "b", updatedReplicas: 0 },
      ),
      "progressing",
      "StatefulSet web has 0 of 1 replicas updated.",
      2,
    ],
    [
      "has all to update where its partition is below its first ordinal",
      object("StatefulSet", { ...canary(1), ordinals: { start: 5 } }, { ...all, updateRevision: "b" }),
      "progressing",
      "StatefulSet web has 2 of 2 replicas updated.",
      2,
    ],
    [
      "has some that are not ready for long enough",
      object("StatefulSet", { ...two, minReadySeconds: 30 }, { ...all, availableReplicas: 1 }),
      "progressing",
      "StatefulSet web has 1 of 2 replicas available.",
      2,
    ],
    [
      "is ready once all are ready for long enough",
      object("StatefulSet", { ...two, minReadySeconds: 30 }, { ...all, availableReplicas: 2 }),
      "ready",
      null,
      2,
    ],
    [
      "is not done before the pods above its partition are updated",
      object("StatefulSet", canary(1), { ...all, updateRevision: "b", updatedReplicas: 0 }),
      "progressing",
      "StatefulSet web has 0 of 1 replicas updated.",
      2,
    ],
    [
      "has nothing to update where its partition is larger than the set",
      object("StatefulSet", canary(5), { ...all, updateRevision: "b", updatedReplicas: 0 }),
      "ready",
      "StatefulSet web has 0 of 2 replicas updated, its partition keeps the others as they are.",
      2,
    ],
  ])("[AO21] the readiness of a StatefulSet is known: it %s", check);
});

describe("a Job and a CronJob", () => {
  test.each<Case>([
    ["is complete", object("Job", {}, condition("Complete")), "ready", null],
    [
      "has failed",
      object("Job", {}, condition("Failed", "True", { message: "BackoffLimitExceeded" })),
      "failed",
      "Job web has failed: BackoffLimitExceeded",
    ],
    [
      "is about to fail",
      object("Job", {}, condition("FailureTarget", "True", { message: "PodFailurePolicy" })),
      "failed",
      "Job web has failed: PodFailurePolicy",
    ],
    ["is running", object("Job", {}, { active: 1, ready: 1 }), "progressing", "Job web is running.", 1],
    ["has not begun", object("Job", {}), "progressing", "Job web has not begun yet."],
    [
      "has failed and is tried again",
      object("Job", {}, { failed: 2 }),
      "progressing",
      "Job web has failed 2 times and is tried again.",
    ],
    ["is suspended", object("Job", { suspend: true }, condition("Suspended")), "ready", null],
    ["is a CronJob that waits", object("CronJob", {}), "ready", null],
    ["is a CronJob that runs", object("CronJob", {}, { active: [{}, {}] }), "ready", null, 2],
  ])("[AO22] the readiness of a Job or CronJob is known: it %s", check);
});

describe("other objects", () => {
  const daemons = { ...seen, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2 };
  test.each<Case>([
    ["a DaemonSet on every node", object("DaemonSet", {}, daemons), "ready", null, 2],
    [
      "a DaemonSet that is not everywhere",
      object("DaemonSet", {}, { ...daemons, numberAvailable: 1, numberReady: 1 }),
      "progressing",
      "DaemonSet web has 1 of 2 replicas available.",
      1,
    ],
    [
      "a DaemonSet that is updated by deletion",
      object("DaemonSet", { updateStrategy: { type: "OnDelete" } }, { ...daemons, updatedNumberScheduled: 0 }),
      "ready",
      "DaemonSet web has 0 of 2 replicas updated, each of the others when somebody deletes its pod.",
      2,
    ],
    [
      "a DaemonSet that is replaced",
      object("DaemonSet", {}, { ...daemons, updatedNumberScheduled: 1, numberAvailable: 1, numberReady: 1 }),
      "progressing",
      "DaemonSet web has 1 of 2 replicas updated.",
      1,
    ],
    ["a claim that is bound", object("PersistentVolumeClaim", {}, { phase: "Bound" }), "ready", null],
    [
      "a claim that is as large as it is to be",
      object(
        "PersistentVolumeClaim",
        { resources: { requests: { storage: "2Gi" } } },
        { phase: "Bound", capacity: { storage: "2048Mi" } },
      ),
      "ready",
      null,
    ],
    ["a budget", object("PodDisruptionBudget", {}, condition("DisruptionAllowed", "False")), "ready", null],
    [
      "a claim that waits",
      object("PersistentVolumeClaim", {}, { phase: "Pending" }),
      "progressing",
      "PersistentVolumeClaim web has no volume yet.",
    ],
    [
      "a claim whose volume is lost",
      object("PersistentVolumeClaim", {}, { phase: "Lost" }),
      "failed",
      "PersistentVolumeClaim web has lost its volume.",
    ],
    ["a Service", object("Service", { type: "ClusterIP" }), "ready", null],
    [
      "a load balancer without an address",
      object("Service", { type: "LoadBalancer" }, { loadBalancer: {} }),
      "progressing",
      "Service web has no address yet.",
    ],
    [
      "a load balancer with one",
      object("Service", { type: "LoadBalancer" }, { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } }),
      "ready",
      null,
    ],
    ["an Ingress", object("Ingress", {}, { loadBalancer: {} }), "ready", null],
    ["an autoscaler", object("HorizontalPodAutoscaler", {}, condition("ScalingActive", "False")), "ready", null],
    [
      "an autoscaler that cannot scale",
      object("HorizontalPodAutoscaler", {}, condition("AbleToScale", "False", { message: "not found" })),
      "failed",
      "HorizontalPodAutoscaler web cannot scale: not found",
    ],
    ["a Pod that is ready", object("Pod", {}, { phase: "Running", ...condition("Ready") }), "ready", null, 1],
    ["a Pod that is not", object("Pod", {}, { phase: "Running" }), "progressing", "Pod web is not ready yet."],
    ["a Pod that is done", object("Pod", {}, { phase: "Succeeded" }), "ready", null],
    ["a Pod that has failed", object("Pod", {}, { phase: "Failed" }), "failed", "Pod web has failed."],
    ["a kind without conditions", object("ConfigMap", {}), "ready", null],
    ["an unknown kind that is ready", object("Widget", {}, condition("Ready")), "ready", null],
    [
      "an unknown kind that is not",
      object("Widget", {}, condition("Ready", "False", { message: "Not yet." })),
      "progressing",
      "Not yet.",
    ],
    ["an unknown kind that does not know", object("Widget", {}, condition("Ready", "Unknown")), "unknown", null],
    ["an unknown kind that says something else", object("Widget", {}, condition("Synced")), "unknown", null],
    [
      "an unknown kind at work",
      object("Widget", {}, condition("Reconciling")),
      "progressing",
      "Widget web is in the works.",
    ],
    ["an unknown kind that is stuck", object("Widget", {}, condition("Stalled")), "failed", "Widget web is stalled."],
    [
      "an unknown kind that nobody has looked at",
      object("Widget", {}, { observedGeneration: 1, ...condition("Ready") }),
      "progressing",
      "Kubernetes has not looked at Widget web yet.",
    ],
  ])("[AO23] the readiness of other objects is known: %s", check);
});

test("[AO58] a volume claim that grows is not ready before it has grown, and says why it takes long", () => {
  const spec = { resources: { requests: { storage: "2Gi" } } };
  const status = { phase: "Bound", capacity: { storage: "1Gi" } };
  expect(readinessOf(object("PersistentVolumeClaim", spec, status))).toMatchObject({
    state: "progressing",
    reason: "VolumeGrowing",
    message: "PersistentVolumeClaim web has 1Gi and grows to 2Gi.",
  });
  const waits = condition("FileSystemResizePending", "True", { message: "Waiting for user to restart a pod" });
  expect(readinessOf(object("PersistentVolumeClaim", spec, { ...status, ...waits }))).toMatchObject({
    message: "PersistentVolumeClaim web has 1Gi and grows to 2Gi: Waiting for user to restart a pod",
  });
});
