import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { execTarget } from "./exec-target.ts";

interface Made {
  readonly containers?: readonly string[];
  readonly running?: readonly string[];
  readonly createdAt?: string;
  readonly annotations?: Record<string, string>;
  readonly isLeaving?: boolean;
}

function pod(name: string, made: Made = {}): KubeObject {
  const { containers = ["web"], running = containers, createdAt = "2026-01-31T09:00:00Z", annotations = {} } = made;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      uid: `uid-${name}`,
      creationTimestamp: createdAt,
      annotations,
      ...(made.isLeaving ? { deletionTimestamp: createdAt } : {}),
    },
    spec: { containers: containers.map((one) => ({ name: one })) },
    status: {
      phase: "Running",
      containerStatuses: running.map((one) => ({ name: one, state: { running: { startedAt: createdAt } } })),
    },
  };
}

const chosen = (pods: readonly KubeObject[], asked: { pod?: string; container?: string } = {}) =>
  execTarget(pods, { component: "web", pod: null, container: null, ...asked });

describe("a container for a command", () => {
  test("[EX13] a command runs in the newest pod that runs and is not being deleted", () => {
    const pods = [
      pod("old"),
      pod("new", { createdAt: "2026-01-31T10:00:00Z" }),
      pod("newest", { createdAt: "2026-01-31T11:00:00Z", running: [] }),
      pod("going", { createdAt: "2026-01-31T12:00:00Z", isLeaving: true }),
    ];
    expect(chosen(pods)).toEqual({ pod: "new", container: "web" });
    expect(chosen(pods, { pod: "old" })).toEqual({ pod: "old", container: "web" });
    expect(chosen(pods, { pod: "going" })).toEqual({ pod: "going", container: "web" });
  });

  test("[EX13] a command runs in the first container of the pod, or in the one that the pod or the caller names", () => {
    const containers = ["web", "proxy"];
    expect(chosen([pod("a", { containers })])).toEqual({ pod: "a", container: "web" });
    expect(chosen([pod("a", { containers })], { container: "proxy" })).toEqual({ pod: "a", container: "proxy" });
    const annotations = { "kubectl.kubernetes.io/default-container": "proxy" };
    expect(chosen([pod("a", { containers, annotations })])).toEqual({ pod: "a", container: "proxy" });
    const wrong = { "kubectl.kubernetes.io/default-container": "gone" };
    expect(chosen([pod("a", { containers, annotations: wrong })])).toEqual({ pod: "a", container: "web" });
  });

  test.each<[string, readonly KubeObject[], object, string, string]>([
    ["no pods", [], {}, "not_running", "No pod of the component web is running."],
    ["another pod", [pod("a")], { pod: "b" }, "not_found", "The component web has no pod b."],
    ["another container", [pod("a")], { container: "x" }, "not_found", "The pod a has no container x."],
    [
      "a container that waits",
      [pod("a", { running: [] })],
      {},
      "not_running",
      "The container web of the pod a is not running.",
    ],
    ["a pod that goes", [pod("a", { isLeaving: true })], {}, "not_running", "No pod of the component web is running."],
  ])("[EX13] a command is refused for %s", (_what, pods, asked, code, message) => {
    expect(chosen(pods, asked)).toMatchObject({ code, message });
  });
});
