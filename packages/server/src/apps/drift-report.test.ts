import type { DriftField, DriftReport } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { someApp } from "./app.fixture.ts";
import { driftAfter, driftEvent, isSameDrift } from "./drift-report.ts";

const NOW = new Date("2026-02-01T00:00:00Z");
const EARLIER = "2026-01-31T09:30:00.000Z";

const field = (facts: Partial<DriftField> = {}): DriftField => ({
  object: { kind: "Deployment", name: "shop-web" },
  pointer: "/spec/replicas",
  desired: 2,
  observed: 5,
  ...facts,
});
const drifted = (facts: Partial<DriftReport> = {}): DriftReport => ({
  state: "drifted",
  summary: "spec.replicas of shop-web differs.",
  fields: [field()],
  detected_at: EARLIER,
  ...facts,
});

test("[DS15] the drift of an app is stored as it is reported", () => {
  expect(driftAfter(someApp(), drifted(), NOW)).toEqual({
    drift_state: "drifted",
    drift_summary: "spec.replicas of shop-web differs.",
    drift_fields: [field()],
    drift_detected_at: new Date(EARLIER),
    drift_repairs: [],
  });
  expect(driftAfter(someApp(), drifted({ detected_at: null }), NOW).drift_detected_at).toEqual(NOW);
});

test("[DS15] a drift keeps the time of its first detection, and has none once it is over", () => {
  const app = someApp(driftAfter(someApp(), drifted(), NOW));
  expect(driftAfter(app, drifted({ detected_at: NOW.toISOString() }), NOW).drift_detected_at).toEqual(
    new Date(EARLIER),
  );
  const over: DriftReport = { state: "in_sync", summary: null, fields: [], detected_at: EARLIER };
  expect(driftAfter(app, over, NOW)).toMatchObject({
    drift_state: "in_sync",
    drift_fields: [],
    drift_detected_at: null,
  });
});

test.each([
  ["nothing", drifted(), true],
  ["the order of keys", drifted({ fields: [{ observed: 5, desired: 2, ...field() }] }), true],
  ["the summary alone", drifted({ summary: "Other words." }), true],
  ["the state", drifted({ state: "blocked_sync" }), false],
  ["a value", drifted({ fields: [field({ observed: 6 })] }), false],
  ["another field", drifted({ fields: [field(), field({ pointer: "/spec/paused" })] }), false],
])("[DS18] a drift whose report differs in %s is new only if state or fields changed (row %#)", (_, report, isSame) => {
  const app = someApp(driftAfter(someApp(), drifted(), NOW));
  expect(isSameDrift(app, driftAfter(app, report, NOW))).toBe(isSame);
});

test("[DS18] the drift event is about the app and has the fields", () => {
  const app = someApp(driftAfter(someApp(), drifted(), NOW));
  expect(driftEvent(app, new Date("2026-02-01T00:00:00Z"))).toMatchObject({
    type: "drift",
    org_id: app.org_id,
    cluster_id: app.cluster_id,
    project_id: app.project_id,
    workload_id: app.id,
    resource: { type: "app", id: app.id, name: "storefront", namespace: "shop" },
    state: "drifted",
    fields: [field()],
    detected_at: EARLIER,
  });
});

describe("what is shown of a field", () => {
  const shown = (facts: Partial<DriftField>) =>
    driftAfter(someApp(), drifted({ fields: [field(facts)] }), NOW).drift_fields[0];

  test("[DS19] a drift field of a Secret is shown without values", () => {
    const object = { kind: "Secret", name: "shop-web-secrets" };
    expect(shown({ object, pointer: "/data/KEY", desired: "old", observed: "new" })).toEqual({
      object,
      pointer: "/data/KEY",
    });
  });

  test.each([
    ["markup", "<script>alert(1)</script>", "<script"],
    ["a token", `eyJ${"a".repeat(20)}.${"b".repeat(20)}.${"c".repeat(20)}`, "eyJ"],
    ["an address with a password", { url: "postgres://shop:hunter2@db/shop" }, "hunter2"],
    ["more than fits", "x".repeat(5_000), "x".repeat(1_100)],
  ])("[DS19] %s in a drift field is masked or cut", (_, observed, secret) => {
    const text = JSON.stringify(shown({ observed, manager: "kubectl <b>", pointer: "/<b>" }));
    expect(text).not.toContain(secret);
    expect(text).not.toContain("<b");
  });

  test.each([["a < b && c > d"], [{ limits: { cpu: "1" } }], [null], [false], [["a", 1]]])(
    "[DS19] the drift value %j is shown as it is",
    (observed) => {
      expect(shown({ observed })).toMatchObject({ observed });
    },
  );
});

test("[DS145] repaired drift is kept, the newest twenty entries, also when the operator no longer reports it", () => {
  const repair = (pointer: string, times = 1) => ({
    object: { kind: "Deployment", name: "shop-web" },
    pointer,
    manager: "kubectl-edit",
    detected_at: EARLIER,
    repaired_at: NOW.toISOString(),
    times,
  });
  const inSync = (repaired?: DriftReport["repaired"]): DriftReport => ({
    ...{ state: "in_sync", summary: null, fields: [], detected_at: null },
    ...(repaired ? { repaired } : {}),
  });
  const first = someApp(driftAfter(someApp(), inSync([repair("/a"), repair("/b")]), NOW));
  expect(driftAfter(first, inSync(), NOW).drift_repairs).toEqual([repair("/a"), repair("/b")]);
  const next = driftAfter(first, inSync([repair("/b", 2), repair("/c")]), NOW);
  expect(next.drift_repairs).toEqual([repair("/b", 2), repair("/c"), repair("/a")]);
  const many = inSync(Array.from({ length: 20 }, (_, at) => repair(`/data/${at}`)));
  expect(driftAfter(first, many, NOW).drift_repairs).toHaveLength(20);
});
