import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { type ComponentPod, followedPods, isLabelValue, podOf, slimPod } from "./component-pods.ts";
import { createBudget } from "./connection-budget.ts";
import { retryMsAfter } from "./waiting.ts";

const pod = (spec: object, status: object): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web-1",
    namespace: "shop",
    uid: "u",
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { app: "web" },
    annotations: { large: "x" },
    managedFields: [],
  },
  spec,
  status,
});

const named = (name: string) => ({ name, image: "nginx", env: [{ name: "A", value: "B" }] });

describe("the containers of a pod", () => {
  const startedAt = "2026-01-01T00:00:01Z";
  test.each([
    ["not begun", {}, { run: null, isRunning: false, hasPrevious: false }],
    [
      "waiting",
      { state: { waiting: { reason: "ContainerCreating" } } },
      { run: null, isRunning: false, hasPrevious: false },
    ],
    [
      "running",
      { containerID: "c://1", state: { running: { startedAt } } },
      { run: "c://1", isRunning: true, hasPrevious: false },
    ],
    [
      "ended",
      { state: { terminated: { containerID: "c://1" } } },
      { run: "c://1", isRunning: false, hasPrevious: false },
    ],
    [
      "waiting to begin again",
      { containerID: "c://1", state: { waiting: {} }, lastState: { terminated: { containerID: "c://1" } } },
      { run: "c://1", isRunning: false, hasPrevious: true },
    ],
    [
      "running without an id",
      { state: { running: { startedAt } } },
      { run: startedAt, isRunning: true, hasPrevious: false },
    ],
  ])("[TE5] a container of a pod has a log of each run: %s", (_, status, expected) => {
    const object = pod({ containers: [named("web")] }, { containerStatuses: [{ name: "web", ...status }] });
    expect(podOf(object).containers).toEqual([{ name: "web", isFinal: false, ...expected }]);
  });

  test("[TE2] all containers of a pod are listed in the order in which they begin", () => {
    const object = pod(
      { containers: [named("web")], initContainers: [named("migrate")], ephemeralContainers: [named("shell")] },
      { phase: "Succeeded", initContainerStatuses: [{ name: "migrate", state: { running: {} } }] },
    );
    expect(podOf(object)).toMatchObject({
      uid: "u",
      isFinished: true,
      containers: [{ name: "migrate", run: "first", isFinal: true }, { name: "web", run: null }, { name: "shell" }],
    });
    expect(podOf(slimPod(object))).toEqual(podOf(object));
    expect(slimPod(object).metadata.labels).toEqual({ app: "web" });
    expect(JSON.stringify(slimPod(object))).not.toMatch(/nginx|large|managedFields/);
  });
});

test("[TE7] pods that run come before those that are finished, and the newest come first", () => {
  const one = (name: string, createdAt: string, isFinished = false): ComponentPod => ({
    uid: name,
    name,
    createdAt,
    isFinished,
    containers: [],
  });
  const finished = Array.from({ length: 30 }, (_, i) => one(`done-${i}`, `2026-02-${10 + (i % 19)}`, true));
  const chosen = followedPods([...finished, one("old", "2025-01-01"), one("b", "2026-01-01"), one("a", "2026-01-01")]);
  expect(chosen).toHaveLength(20);
  expect(chosen.slice(0, 4).map(({ name }) => name)).toEqual(["a", "b", "old", "done-18"]);
});

test.each([
  ["web", true],
  ["a.b_c-1", true],
  ["", false],
  ["-a", false],
  ["a,b=c", false],
  ["a b", false],
  ["x".repeat(64), false],
])("[TE8] the text %s is a valid name of a component: %s", (text, isOne) => expect(isLabelValue(text)).toBe(isOne));

test("[TE9] no more connections are taken than the budget has", () => {
  const budget = createBudget(2);
  expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  budget.giveBack();
  expect(budget.take()).toBe(true);
});

test("[TE5] a log that cannot be followed is tried again ever more slowly, at most half a minute apart", () => {
  expect([1, 2, 3, 7, 100].map(retryMsAfter)).toEqual([500, 1_000, 2_000, 30_000, 30_000]);
});
