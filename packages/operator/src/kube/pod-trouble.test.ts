import { describe, expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { troubleOf } from "./pod-trouble.ts";

const pod = (status: object, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-1", ...metadata },
  status,
});
const container = (given: object) =>
  pod({ containerStatuses: [{ name: "web", image: "nginx:1", ready: false, restartCount: 3, ...given }] });
const waiting = (reason: string, message?: string) => ({ state: { waiting: { reason, message } } });
const ended = (exitCode: number, reason: string) => ({ lastState: { terminated: { exitCode, reason } } });

const PULL = container(waiting("ErrImagePull", "not found"));
const CRASH = container({ ...waiting("CrashLoopBackOff"), ...ended(1, "Error") });
const NO_ROOM = pod({
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes are available" }],
});

describe("why pods do not get ready", () => {
  test.each<[string, KubeObject, string, string]>([
    ["an image", PULL, "ImagePullBackOff", "The image nginx:1 cannot be pulled: not found"],
    [
      "an image, without a word",
      container(waiting("ImagePullBackOff")),
      "ImagePullBackOff",
      "The image nginx:1 cannot be pulled: no reason is given.",
    ],
    [
      "a crash",
      CRASH,
      "CrashLoopBackOff",
      "The container web keeps ending with exit code 1; it was restarted 3 times.",
    ],
    [
      "memory, while it is down",
      container({ ...waiting("CrashLoopBackOff"), ...ended(137, "OOMKilled") }),
      "OOMKilled",
      "The container web needs more memory than its limit and is killed.",
    ],
    [
      "memory, at the moment",
      container({ state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }),
      "OOMKilled",
      "The container web needs more memory than its limit and is killed.",
    ],
    [
      "a Secret that is missing",
      container(waiting("CreateContainerConfigError", 'secret "x" not found')),
      "CreateContainerConfigError",
      'The container web cannot be made: secret "x" not found',
    ],
    ["room", NO_ROOM, "Unschedulable", "No node can take a pod: 0/3 nodes are available"],
    [
      "an eviction",
      pod({ reason: "Evicted", message: "low on memory" }),
      "Evicted",
      "A pod was evicted: low on memory",
    ],
    [
      "a container that runs first",
      pod({ initContainerStatuses: [{ name: "init", restartCount: 1, ...waiting("CrashLoopBackOff") }] }),
      "CrashLoopBackOff",
      "The container init keeps ending; it was restarted 1 times.",
    ],
  ])("[AO24] is %s", (_, seen, reason, message) => {
    expect(troubleOf([pod({}), seen])).toEqual({ reason, message });
  });

  test("[AO24] is the gravest of several", () => {
    expect(troubleOf([NO_ROOM, CRASH, PULL])?.reason).toBe("ImagePullBackOff");
  });

  test("[AO24] is not reported of pods that run, start or terminate", () => {
    const runs = container({ ready: true, state: { running: {} }, ...ended(137, "OOMKilled") });
    const leaves = { ...PULL, metadata: { ...PULL.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(troubleOf([runs, leaves, container(waiting("ContainerCreating"))])).toBeNull();
  });
});
