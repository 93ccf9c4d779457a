import { describe, expect, test } from "vitest";
import { freeSuffix, shortHash } from "./fingerprint.ts";
import { barePod } from "./objects.fixture.ts";
import { type LabelSelector, selects } from "./owners.ts";
import { type Pod, withCondition } from "./pod.ts";
import { rankedForDeletion } from "./replica-set.ts";
import { durationMs, stampOf } from "./writes.ts";

describe("what controllers read", () => {
  const LABELS = { app: "web", tier: "front" };
  test.each<[LabelSelector | undefined, boolean]>([
    [undefined, false],
    [{}, true],
    [{ matchLabels: { app: "web" } }, true],
    [{ matchLabels: { app: "db" } }, false],
    [{ matchExpressions: [{ key: "tier", operator: "In", values: ["front", "back"] }] }, true],
    [{ matchExpressions: [{ key: "tier", operator: "NotIn", values: ["front"] }] }, false],
    [{ matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] }, true],
    [{ matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
    [{ matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, false],
    [{ matchExpressions: [{ key: "app", operator: "Like", values: ["web"] }] }, false],
  ])("[SC6] the selector %j selects: %s", (selector, expected) => expect(selects(selector, LABELS)).toBe(expected));

  test.each([
    ["5s", 5_000],
    ["1m30s", 90_000],
    ["200ms", 200],
    ["1.5h", 5_400_000],
    ["5", null],
    ["soon", null],
    [undefined, null],
  ])("[SC6] the duration %s is %s milliseconds", (text, ms) => expect(durationMs(text)).toBe(ms));

  test("[SC6] a condition keeps the time of its last change of status", () => {
    const at = (seconds: number) => Date.parse("2026-03-02T10:00:00Z") + seconds * 1_000;
    const first = withCondition([], { type: "Ready", status: "False", reason: "A" }, at(0));
    const repeated = withCondition(first, { type: "Ready", status: "False", reason: "B" }, at(5));
    expect(repeated).toEqual([{ type: "Ready", status: "False", reason: "B", lastTransitionTime: stampOf(at(0)) }]);
    const changed = withCondition(repeated, { type: "Ready", status: "True" }, at(9));
    expect(changed).toEqual([{ type: "Ready", status: "True", lastTransitionTime: stampOf(at(9)) }]);
  });

  test("[SC6] generated names follow from their content, whatever the order of its fields, and are not taken twice", () => {
    expect(shortHash({ a: 1, b: [{ c: 2 }] })).toBe(shortHash({ b: [{ c: 2 }], a: 1 }));
    expect(shortHash({ a: 1 })).not.toBe(shortHash({ a: 2 }));
    expect(shortHash({ a: 1 })).toMatch(/^[a-z0-9]{1,10}$/);
    const taken = new Set<string>();
    for (let index = 0; index < 50; index++) taken.add(freeSuffix("same", (suffix) => taken.has(suffix)));
    expect(taken.size).toBe(50);
  });

  test("[SC18] of the pods of a set, those that are missed least are deleted first", () => {
    const pod = (
      name: string,
      more: { node?: boolean; ready?: boolean; cost?: string; restarts?: number; at?: string },
    ) => {
      const draft = barePod(
        name,
        more.cost === undefined ? {} : { annotations: { "controller.kubernetes.io/pod-deletion-cost": more.cost } },
      );
      const { ready = true, node = true, restarts = 0, at = "2026-03-02T10:00:00Z" } = more;
      const conditions = [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: at }];
      return {
        ...draft,
        spec: { ...(draft["spec"] as object), ...(node ? { nodeName: "n" } : {}) },
        status: { phase: node ? "Running" : "Pending", conditions, containerStatuses: [{ restartCount: restarts }] },
      } as unknown as Pod;
    };
    const pods = [
      pod("old", {}),
      pod("dear", { cost: "10" }),
      pod("restarted", { restarts: 3 }),
      pod("young", { at: "2026-03-02T11:00:00Z" }),
      pod("unready", { ready: false }),
      pod("nowhere", { node: false, ready: false }),
    ];
    expect(rankedForDeletion(pods).map(({ metadata }) => metadata.name)).toEqual([
      "nowhere",
      "unready",
      "young",
      "restarted",
      "old",
      "dear",
    ]);
  });
});
