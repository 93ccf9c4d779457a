import { describe, expect, test } from "vitest";
import type { KubeObject } from "./kube-client.ts";
import { troubleOf } from "./pod-trouble.ts";
import { isSamePod, podStatuses, restartsOf, trimmedPod, withPullCauses } from "./pod-view.ts";

const NOW_MS = Date.parse("2026-01-01T12:00:00Z");
const pod = (name: string, status: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", uid: `u-${name}`, resourceVersion: "1", labels: { app: "web" }, ...metadata },
  spec: { nodeName: "node-1", containers: [{ name: "main", env: [{ name: "KEY", value: "s3cret" }] }] },
  status: { phase: "Running", startTime: "2026-01-01T00:00:00Z", ...status },
});
const container = (given: object) => ({ name: "main", image: "nginx:1", ready: true, restartCount: 0, ...given });
const READY = { conditions: [{ type: "Ready", status: "True" }], containerStatuses: [container({})] };
const crashing = (restartCount: number) => ({
  conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady" }],
  containerStatuses: [
    container({ ready: false, restartCount, state: { waiting: { reason: "CrashLoopBackOff", message: "back-off" } } }),
  ],
});

describe("the pods of a component", () => {
  test("[AO43] the pods of a component are shown with phase, reason, restarts, node and start, those in trouble first", () => {
    const pods = [
      pod("a", READY),
      pod("b", { ...READY, containerStatuses: [container({ restartCount: 2 }), container({ restartCount: 1 })] }),
      pod("c", READY, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      pod("d", crashing(4)),
      pod("e", {
        phase: "Pending",
        startTime: undefined,
        conditions: [{ type: "Ready", status: "False", reason: "No" }],
      }),
      pod("f", { phase: "Succeeded" }),
    ];
    const node = "node-1";
    const started_at = "2026-01-01T00:00:00.000Z";
    expect(podStatuses(pods, NOW_MS)).toEqual([
      { name: "d", phase: "Running", reason: "CrashLoopBackOff", restarts: 4, node, started_at },
      { name: "e", phase: "Pending", reason: "No", restarts: 0, node, started_at: null },
      { name: "b", phase: "Running", reason: null, restarts: 3, node, started_at },
      { name: "a", phase: "Running", reason: null, restarts: 0, node, started_at },
      { name: "c", phase: "Running", reason: "Terminating", restarts: 0, node, started_at },
      { name: "f", phase: "Succeeded", reason: null, restarts: 0, node, started_at },
    ]);
  });

  test("[AO43] at most 50 pods of a component are shown, and those in trouble are always among them", () => {
    const many = Array.from({ length: 80 }, (_, at) => pod(`p${at}`, READY));
    const shown = podStatuses([...many, pod("zz", crashing(1))], NOW_MS);
    expect(shown).toHaveLength(50);
    expect(shown[0]).toMatchObject({ name: "zz" });
    expect(podStatuses(many, NOW_MS, 3)).toHaveLength(3);
  });

  test("[AO43] the reason shown of a pod is one word, whatever a controller writes", () => {
    const odd = { phase: "Odd", reason: "not a word", conditions: [{ type: "Ready", status: "False", reason: "<b>" }] };
    expect(podStatuses([pod("a", odd)], NOW_MS)).toMatchObject([{ phase: "Unknown", reason: null }]);
  });
});

describe("what is kept of a pod", () => {
  test("[AO44] of a pod only what is shown and what explains its state is kept, with its texts cut", () => {
    const full = pod("a", {
      ...crashing(4),
      message: "x".repeat(5_000),
      hostIP: "10.0.0.1",
      containerStatuses: [
        container({
          restartCount: 4,
          imageID: "sha256:1",
          lastState: { terminated: { exitCode: 1, containerID: "c", message: "y".repeat(5_000) } },
        }),
      ],
    });
    const kept = trimmedPod(full);
    expect(podStatuses([kept], NOW_MS)).toEqual(podStatuses([full], NOW_MS));
    expect(restartsOf(kept)).toBe(4);
    expect(JSON.stringify(kept)).not.toMatch(/s3cret|10\.0\.0\.1|sha256|containerID/);
    expect(JSON.stringify(kept).length).toBeLessThan(3_000);
  });

  test("[AO44] a pod counts as unchanged where only its version or a heartbeat has changed", () => {
    const before = trimmedPod(pod("a", READY));
    const beat = { conditions: [{ type: "Ready", status: "True", lastProbeTime: "2026-01-02T00:00:00Z" }] };
    expect(isSamePod(before, trimmedPod(pod("a", { ...READY, ...beat }, { resourceVersion: "2" })))).toBe(true);
    expect(isSamePod(before, trimmedPod(pod("a", crashing(1))))).toBe(false);
    expect(isSamePod(undefined, before)).toBe(false);
  });

  test("[AO45] the cause of a failed image pull is kept while the kubelet does not repeat it", () => {
    const pulling = (reason: string, message: string, image = "nginx:nope") =>
      trimmedPod(
        pod("a", { containerStatuses: [container({ image, ready: false, state: { waiting: { reason, message } } })] }),
      );
    const failed = pulling("ErrImagePull", 'failed to resolve reference "docker.io/library/nginx:nope": not found');
    const backsOff = pulling("ImagePullBackOff", 'Back-off pulling image "nginx:nope"');
    const message = "The image nginx:nope cannot be pulled: not found";
    expect(troubleOf([failed], NOW_MS)?.message).toBe(message);
    expect(troubleOf([backsOff], NOW_MS)?.message).toBe("The image nginx:nope cannot be pulled: no reason is given.");
    const once = withPullCauses(failed, backsOff);
    expect(troubleOf([once], NOW_MS)?.message).toBe(message);
    expect(troubleOf([withPullCauses(once, backsOff)], NOW_MS)?.message).toBe(message);
    const other = pulling("ImagePullBackOff", 'Back-off pulling image "nginx:other"', "nginx:other");
    expect(withPullCauses(failed, other)).toEqual(other);
    expect(withPullCauses(undefined, backsOff)).toBe(backsOff);
  });
});
