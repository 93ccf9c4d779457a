import { describe, expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { countRestartedPods, pullCause, troubleOf, withoutRestartedPods } from "./pod-trouble.ts";
import { progressing, ready } from "./readiness.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");

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
  ])("[AO24] the trouble of a pod is told by %s", (_, seen, reason, message) => {
    expect(troubleOf([pod({}), seen], NOW_MS)).toEqual({ reason, message });
  });

  test("[AO89] a container that has run for 30 seconds and is not ready has a failing probe", () => {
    const running = (startedAt: string, ready = false) =>
      container({ ready, restartCount: 0, state: { running: { startedAt } } });
    expect(troubleOf([running("2026-01-01T00:09:30Z")], NOW_MS)).toEqual({
      reason: "ProbeFailing",
      message: "The container web runs, but its startup or readiness probe does not succeed.",
    });
    expect(troubleOf([running("2026-01-01T00:09:31Z")], NOW_MS)).toBeNull();
    expect(troubleOf([running("2026-01-01T00:09:30Z", true)], NOW_MS)).toBeNull();
  });

  test("[AO24] of several troubles the worst is reported", () => {
    expect(troubleOf([NO_ROOM, CRASH, PULL], NOW_MS)?.reason).toBe("ImagePullBackOff");
  });

  test("[AO24] no trouble is reported of pods that run, start or terminate", () => {
    const runs = container({ ready: true, state: { running: {} }, ...ended(137, "OOMKilled") });
    const leaves = { ...PULL, metadata: { ...PULL.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(troubleOf([runs, leaves, container(waiting("ContainerCreating"))], NOW_MS)).toBeNull();
  });
});

/** Statuses in the form in which kubelets and containerd write them, cut to what is read. */
describe("[AO45] the trouble that a kubelet shows in passing", () => {
  const at = (seconds: number) => new Date(NOW_MS - seconds * 1_000).toISOString();
  const terminated = { exitCode: 3, reason: "Error", startedAt: at(40), finishedAt: at(30) };
  const crash = {
    reason: "CrashLoopBackOff",
    message: "The container web keeps ending with exit code 3; it was restarted 3 times.",
  };
  const recorded = (given: object, ready = false) =>
    pod({
      phase: "Running",
      conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
      containerStatuses: [{ name: "web", image: "nginx:1", ready, restartCount: 3, ...given }],
    });

  test.each<[string, KubeObject]>([
    ["has ended", recorded({ state: { terminated } })],
    ["backs off", recorded({ state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } })],
    ["has been started again", recorded({ state: { running: { startedAt: at(2) } }, lastState: { terminated } })],
    [
      "has been started again and is ready",
      recorded({ state: { running: { startedAt: at(29) } }, lastState: { terminated } }, true),
    ],
  ])("the reported trouble stays the same while a container that crashes %s", (_, seen) => {
    expect(troubleOf([seen], NOW_MS)).toEqual(crash);
  });

  test("[AO45] a container that keeps ending without an error is in a crash loop too, also in the moments in which it is ready", () => {
    const lastState = { terminated: { ...terminated, exitCode: 0, reason: "Completed" } };
    const message = "The container web keeps ending with exit code 0; it was restarted 3 times.";
    for (const isReady of [true, false]) {
      const seen = recorded({ state: { running: { startedAt: at(2) } }, lastState }, isReady);
      expect(troubleOf([seen], NOW_MS)).toEqual({ reason: "CrashLoopBackOff", message });
    }
  });

  test("[AO45] an init container that has succeeded after restarts is not a trouble", () => {
    const done = { name: "migrate", ready: true, restartCount: 2, state: { terminated: { exitCode: 0 } } };
    const whole = pod({ phase: "Running", initContainerStatuses: [done] });
    expect(troubleOf([whole], NOW_MS)).toBeNull();
  });

  const up = (seconds: number, restartCount: number) =>
    recorded({ restartCount, state: { running: { startedAt: at(seconds) } }, lastState: { terminated } }, true);

  test.each([
    [9, 1, 1],
    [10, 1, 0],
    [29, 3, 1],
    [30, 3, 0],
    [59, 40, 1],
    [60, 40, 0],
    [0, 0, 0],
  ])("a container that is up for %d s after %d restarts: %d pods do not count yet", (seconds, restarts, restarted) => {
    expect(countRestartedPods([up(seconds, restarts)], NOW_MS)).toBe(restarted);
  });

  test("[AO57] a restarted sidecar makes a pod not count as ready yet, and a finished init container does not", () => {
    const beside = (given: object) => {
      const whole = up(500, 0);
      const status = {
        ...(whole["status"] as object),
        initContainerStatuses: [{ name: "proxy", restartCount: 3, ...given }],
      };
      return { ...whole, status };
    };
    const startedAt = at(5);
    expect(
      countRestartedPods(
        [beside({ ready: true, state: { running: { startedAt } }, lastState: { terminated } })],
        NOW_MS,
      ),
    ).toBe(1);
    expect(countRestartedPods([beside({ ready: true, state: { running: { startedAt: at(50) } } })], NOW_MS)).toBe(0);
    expect(countRestartedPods([beside({ ready: false, state: { terminated: { exitCode: 0 } } })], NOW_MS)).toBe(0);
  });

  test("pods that have just been restarted do not count as ready", () => {
    const [loops, stands] = [up(5, 3), up(500, 3)];
    expect(withoutRestartedPods(ready(2), [stands, stands], NOW_MS)).toEqual(ready(2));
    expect(withoutRestartedPods(ready(2), [loops, stands], NOW_MS)).toMatchObject({
      state: "progressing",
      readyReplicas: 1,
    });
    expect(withoutRestartedPods(progressing("Soon.", 1), [loops], NOW_MS)).toEqual(progressing("Soon.", 0));
    expect(troubleOf([stands], NOW_MS)).toBeNull();
  });

  const runtime =
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "/bin/nothing": stat /bin/nothing: no such file or directory: unknown';
  const startError = {
    reason: "StartError",
    message: 'The container web cannot be started: exec: "/bin/nothing": stat /bin/nothing: no such file or directory',
  };
  test.each<[string, KubeObject]>([
    ["is tried", recorded({ state: { waiting: { reason: "RunContainerError", message: runtime } } })],
    ["has ended", recorded({ state: { terminated: { exitCode: 128, reason: "StartError", message: runtime } } })],
    [
      "backs off",
      recorded({
        state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 40s" } },
        lastState: { terminated: { exitCode: 128, reason: "StartError", message: runtime } },
      }),
    ],
  ])("the kubelet's words are kept while a command that does not exist %s", (_, seen) => {
    expect(troubleOf([seen], NOW_MS)).toEqual(startError);
  });

  const resolve =
    'failed to pull and unpack image "docker.io/library/nginx:nope": failed to resolve reference "docker.io/library/nginx:nope": docker.io/library/nginx:nope: not found';
  test.each([
    ["containerd", resolve, "not found"],
    ["a kubelet that quotes the runtime", `rpc error: code = NotFound desc = ${resolve}`, "not found"],
    [
      "a kubelet that backs off",
      `Back-off pulling image "nginx:nope": ErrImagePull: rpc error: code = NotFound desc = ${resolve}`,
      "not found",
    ],
    ["a kubelet that backs off and says no more", 'Back-off pulling image "nginx:nope"', ""],
    [
      "a network that fails, from another port each time",
      'failed to resolve reference "r.example.com/a:1": failed to do request: Head "https://r.example.com/v2/a/manifests/1": dial tcp 10.0.0.5:53412->10.0.0.9:443: i/o timeout',
      "dial tcp 10.0.0.9:443: i/o timeout",
    ],
    [
      "a registry that refuses",
      "failed to authorize: failed to fetch token: 401 Unauthorized",
      "failed to authorize: failed to fetch token: 401 Unauthorized",
    ],
  ])("the cause of a failed image pull is found in the words of %s", (_, message, cause) => {
    expect(pullCause(message)).toBe(cause);
  });

  test("the trouble of a Job's failed pod is its exit code, as the pod is not restarted", () => {
    const tried = { ...recorded({ restartCount: 0, state: { terminated } }) };
    const failed = { ...tried, status: { ...(tried["status"] as object), phase: "Failed" } };
    expect(troubleOf([failed], NOW_MS)).toEqual({
      reason: "Error",
      message: "The container web has ended with exit code 3.",
    });
    const done = recorded({ restartCount: 0, state: { terminated: { exitCode: 0, reason: "Completed" } } });
    expect(troubleOf([done], NOW_MS)).toBeNull();
  });
});
