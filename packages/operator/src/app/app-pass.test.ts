import { LABELS } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { StoredResource } from "../desired/desired-state.ts";
import { itemOf } from "../kube/inventory.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { lastPhaseIn, phaseSince } from "../reconcile/last-phase.ts";
import {
  driftOf,
  isRolledOut,
  obsolete,
  obsoleteReleases,
  type Pending,
  phaseOf,
  refusedReport,
  rendersNothing,
  requeueMs,
  withObserved,
  withPlanned,
} from "./app-pass.ts";
import { stillThere } from "./app-removal.reconciler.ts";
import { type AppMemory, chartOf, memoryIn, statusFields } from "./app-status.ts";
import { emptied, type Outcome, outcome } from "./component-outcome.ts";
import type { RenderedComponent } from "./render/rendering.ts";

const NOTHING: AppMemory = {
  inventory: [],
  releases: [],
  charts: [],
  instances: [],
  components: [],
  ranGeneration: null,
  drift: { state: "unknown", detected_at: null, repaired: [] },
  lastPhase: null,
};

const object = (kind: string, component: string, uid?: string, status: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: {
    name: `shop-${component}`,
    namespace: "market",
    labels: { [LABELS.component]: component },
    ...(uid ? { uid } : {}),
  },
  status,
});
const rendered = (name: string, given: Partial<RenderedComponent> = {}): RenderedComponent => ({
  name,
  type: "workload",
  needs: [],
  wave: 0,
  objects: [object("Deployment", name)],
  waitingFor: [],
  ...given,
});
const seen = (name: string, given: Partial<Outcome> = {}): Outcome =>
  outcome(
    { name, type: "workload" },
    { state: "ready", message: null, readyReplicas: 1, desiredReplicas: 1 },
    { isApplied: true, isCertain: true, ...given },
  );
const app = (names: readonly string[], generation = 3): StoredResource<"app"> => ({
  kind: "app",
  key: "app/market/shop",
  resource_id: "01932c07-31f1-7a4e-8d8b-000000000002",
  generation,
  hash: "0",
  isDeleting: false,
  spec: {
    project_id: "01932c07-31f1-7a4e-8d8b-000000000001",
    namespace: "market",
    name: "shop",
    paused: false,
    take_over: false,
    components: names.map((name) => ({ name, type: "workload" as const })),
  },
  secret: { secrets: {}, values: {} },
});
const chart = (name: string) => ({
  name,
  type: "chart" as const,
  release: { chart: { repo: "https://charts.example.com", name }, export_schema: {} },
});

describe("what an operator remembers of an app", () => {
  test("[AO3] the operator's memory of an app names the objects about to be created beside those that exist", () => {
    const before = { ...NOTHING, inventory: [itemOf(object("Service", "old", "u0"))], releases: ["shop-old"] };
    const desiredApp = { ...app([]), spec: { ...app([]).spec, components: [chart("db")] } };
    const after = withPlanned(before, desiredApp, { components: [rendered("web")] });
    expect(after.inventory.map(({ kind, name, uid }) => [kind, name, uid])).toEqual([
      ["Service", "shop-old", "u0"],
      ["Deployment", "shop-web", ""],
    ]);
    expect(after.releases).toEqual(["shop-db", "shop-old"]);
    expect(obsoleteReleases(after, desiredApp)).toEqual(["shop-old"]);
  });

  test("[AO3] the operator's memory of an app gets the uid of created objects and the generation that was applied completely", () => {
    const components = [rendered("web"), rendered("api")];
    const before = {
      ...withPlanned(NOTHING, app(["web", "api"]), { components }),
      components: [{ name: "api", readyReplicas: 0, appliedGeneration: 2, finishedJob: "", rendering: "0.9.0" }],
    };
    const outcomes = [
      seen("web", { objects: [object("Deployment", "web", "u1")] }),
      seen("api", { isApplied: false, objects: [object("ConfigMap", "stranger", "u9")] }),
    ];
    const after = withObserved(before, app(["web", "api"]), { rendered: { components }, outcomes }, "1.0.0");
    expect(after.inventory.map(({ name, uid }) => [name, uid])).toEqual([
      ["shop-web", "u1"],
      ["shop-api", ""],
    ]);
    expect(after.components.map(({ name, appliedGeneration }) => [name, appliedGeneration])).toEqual([
      ["web", 3],
      ["api", 2],
    ]);
  });

  test("[AO18] the operator's memory of an app knows a finished Job, also after the Job is deleted", () => {
    const done = { conditions: [{ type: "Complete", status: "True" }] };
    const pass = (objects: readonly KubeObject[]) => ({
      rendered: { components: [] },
      outcomes: [seen("once", { objects })],
    });
    const first = withObserved(NOTHING, app(["once"]), pass([object("Job", "once", "u1", done)]), "1.0.0");
    expect(first.components[0]?.finishedJob).toBe("shop-once");
    expect(withObserved(first, app(["once"]), pass([]), "1.0.0").components[0]?.finishedJob).toBe("shop-once");
    expect(
      withObserved(first, app(["once"]), pass([object("Job", "once", "u2")]), "1.0.0").components[0]?.finishedJob,
    ).toBe("");
  });

  test("[AO602] a component keeps the version on record that rendered it until it is replaced", () => {
    const known = { name: "web", readyReplicas: 1, appliedGeneration: 3, finishedJob: "", rendering: "0.9.0" };
    const before = { ...NOTHING, components: [known] };
    const renderings = (given: object) => {
      const outcomes = [seen("web", given), seen("new", { isApplied: false })];
      const pass = { rendered: { components: [] }, outcomes };
      return withObserved(before, app(["web", "new"]), pass, "1.0.0").components.map(({ rendering }) => rendering);
    };
    expect(renderings({})).toEqual(["1.0.0", ""]);
    expect(renderings({ waitsForTurn: true })).toEqual(["0.9.0", ""]);
    expect(renderings({ isApplied: false })).toEqual(["0.9.0", ""]);
  });

  test("[AO600] nothing of a component that waits for its turn is pruned", () => {
    const memory = { ...NOTHING, inventory: [itemOf(object("ConfigMap", "web", "u1"))] };
    const pruned = (given: object) =>
      obsolete(memory, { rendered: { components: [] }, outcomes: [seen("web", given)] });
    expect(pruned({})).toHaveLength(1);
    expect(pruned({ waitsForTurn: true })).toEqual([]);
  });

  test("[HE24] the operator remembers a release with the chart that it was last made of, until the release is gone", () => {
    const charted = (repo: string) => {
      const release = { chart: { repo, name: "postgres", version: "1.0.0" }, export_schema: {} };
      const { spec, ...rest } = app([]);
      return { ...rest, spec: { ...spec, components: [{ name: "db", type: "chart" as const, release }] } };
    };
    const rendered = { components: [] };
    const first = withPlanned(NOTHING, charted("https://one.example.com"), rendered);
    expect(first.charts).toEqual([{ release: "shop-db", repo: "https://one.example.com", name: "postgres" }]);
    const second = withPlanned(first, charted("https://two.example.com"), rendered);
    expect(chartOf(second, "shop-db")).toMatchObject({ repo: "https://two.example.com" });
    expect(chartOf(withPlanned(second, app([]), rendered), "shop-db")).toMatchObject({ name: "postgres" });
    expect(chartOf(second, "shop-cache")).toBeNull();
  });

  test("[AO3] the operator's memory of an app is read from the status as it was written", () => {
    const memory: AppMemory = {
      inventory: [itemOf(object("Deployment", "web", "u1"))],
      releases: ["shop-db"],
      charts: [{ release: "shop-db", repo: "https://charts.example.com", name: "postgres" }],
      components: [{ name: "web", readyReplicas: 2, appliedGeneration: 3, finishedJob: "", rendering: "0.9.0" }],
      instances: ["main"],
      ranGeneration: 3,
      drift: { state: "drifted", detected_at: "2026-01-01T00:00:00.000Z", repaired: [] },
      lastPhase: { phase: "running", since: "2026-01-02T00:00:00.000Z" },
    };
    const status = { ...statusFields(memory, 3), phase: "running", phaseSince: "2026-01-02T00:00:00.000Z" };
    expect(memoryIn({ ...object("App", "x"), status })).toEqual(memory);
    expect(
      memoryIn({ ...object("App", "x"), status: { inventory: 7, components: "x", drift: { state: "?" } } }),
    ).toEqual(NOTHING);
  });
});

test.each([
  ["running", false, true],
  ["paused", false, true],
  ["running", true, false],
  ["deploying", false, false],
  ["degraded", false, false],
] as const)(
  "[AO601] the turn of an app that is %s, with a component that waits: %s, is over: %s",
  (phase, waitsForTurn, isOver) => {
    expect(isRolledOut({ phase }, { outcomes: [seen("api"), seen("web", { waitsForTurn })] })).toBe(isOver);
  },
);

test("[AO42] the time of a phase stays while the phase stays, and begins again with another phase", () => {
  const last = { phase: "running", since: "2026-01-01T00:00:00.000Z" };
  const nowMs = Date.parse("2026-01-02T00:00:00Z");
  expect(phaseSince(last, "running", nowMs)).toBe("2026-01-01T00:00:00.000Z");
  expect(phaseSince(last, "degraded", nowMs)).toBe("2026-01-02T00:00:00.000Z");
  expect(phaseSince(null, "running", nowMs)).toBe("2026-01-02T00:00:00.000Z");
  expect(lastPhaseIn({ ...object("App", "x"), status: { phase: "running", phaseSince: last.since } })).toEqual(last);
  expect(lastPhaseIn({ ...object("App", "x"), status: { phase: "running" } })).toBeNull();
});

describe("what is not desired any more", () => {
  const items = [
    object("Deployment", "web", "u1"),
    object("Service", "web", "u2"),
    object("Deployment", "api", "u3"),
  ].map(itemOf);
  const memory = { ...NOTHING, inventory: items };
  const names = (outcomes: readonly Outcome[]) =>
    obsolete(memory, { rendered: { components: [rendered("web")] }, outcomes }).map(
      ({ kind, component }) => `${kind} ${component}`,
    );

  test.each<[string, readonly Outcome[], readonly string[]]>([
    ["what a component has too much, and all of one that is gone", [seen("web")], ["Service web", "Deployment api"]],
    ["not what a component has that still waits", [seen("web", { isApplied: false })], ["Deployment api"]],
    ["nothing while something stands in the way", [seen("web", { isApplied: false, isStopped: true })], []],
    ["nothing of a component that waits beside", [seen("web"), seen("api", { isApplied: false })], ["Service web"]],
  ])("[AO3] an app prunes %s", (_, outcomes, expected) => {
    expect(names(outcomes)).toEqual(expected);
  });

  test("[AO6] nothing is pruned where the rendering has lost a component that is to run", () => {
    expect(rendersNothing(app(["web"]), { components: [rendered("web", { objects: [] })] })).toBe(true);
    expect(rendersNothing(app(["web", "api"]), { components: [rendered("web")] })).toBe(true);
    expect(
      rendersNothing(app(["web"]), { components: [rendered("web", { objects: [], waitingFor: ["db.url"] })] }),
    ).toBe(false);
    expect(rendersNothing(app(["db"]), { components: [rendered("db", { type: "addon", objects: [] })] })).toBe(false);
    expect(names([emptied({ name: "web", type: "workload" })])).toEqual([]);
  });
});

describe("the report of an app", () => {
  test("[AO37] an app is in sync only once every component was compared", () => {
    const state = (outcomes: readonly Outcome[]) => driftOf(NOTHING, outcomes, "2026-01-01T00:00:00.000Z").state;
    expect(state([seen("web")])).toBe("in_sync");
    expect(state([seen("web"), seen("api", { isCertain: false })])).toBe("unknown");
    expect(state([])).toBe("unknown");
  });

  test("[AO19] an app has failed with RefusedByCluster where the API server refuses to be asked", () => {
    const memory = {
      ...NOTHING,
      components: [{ name: "web", readyReplicas: 2, appliedGeneration: 1, finishedJob: "", rendering: "0.9.0" }],
    };
    const error = new Error("GET /apis/apps/v1 was refused: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXg");
    expect(refusedReport(app(["web"]), memory, error, { reason: "RefusedByCluster", isHeld: false })).toMatchObject({
      phase: "failed",
      reason: "RefusedByCluster",
      message: "GET /apis/apps/v1 was refused: [masked]",
      components: [{ name: "web", ready_replicas: 2 }],
    });
    expect(
      refusedReport(app(["web"]), { ...memory, ranGeneration: 1 }, error, { reason: "ClusterError", isHeld: false })
        .phase,
    ).toBe("degraded");
    expect(
      refusedReport({ ...app(["web"]), isDeleting: true }, memory, error, { reason: "ClusterError", isHeld: false })
        .phase,
    ).toBe("deleting");
  });

  test("[AO14] the report of an app that is being deleted names what is left on the cluster", () => {
    const items = Array.from({ length: 7 }, (_, at) => ({ kind: "Pod", name: `p${at}` }));
    expect(stillThere(items, []).message).toBe(
      "Still on the cluster: Pod p0, Pod p1, Pod p2, Pod p3, Pod p4 and 2 more.",
    );
    expect(stillThere([], ["shop-db"])).toMatchObject({
      phase: "deleting",
      message: "Still on the cluster: release shop-db.",
    });
    expect(stillThere([], [], ["example.com/x"])).toMatchObject({ reason: "HeldByFinalizers" });
  });
});

describe("the next reconcile of an app", () => {
  const calm: Pending = { healInMs: null, isPruning: false, unchangedMs: 0 };
  const nextLook = (outcomes: readonly Outcome[], pending = calm) =>
    requeueMs(phaseOf(app(["web"]), NOTHING, outcomes, null, 0), outcomes, pending);
  const moving = outcome(
    { name: "web", type: "workload" },
    { state: "progressing", message: null, readyReplicas: 0, desiredReplicas: 1 },
  );

  test.each<[string, number, number]>([
    ["in three minutes while all is well", nextLook([seen("web")]), 180_000],
    ["in five seconds while it is not", nextLook([moving]), 5_000],
    ["after as long as it has been the same", nextLook([moving], { ...calm, unchangedMs: 20_000 }), 20_000],
    ["within a minute, however long it has been the same", nextLook([moving], { ...calm, unchangedMs: 9e6 }), 60_000],
    [
      "in three minutes also where all has been well for long",
      nextLook([seen("web")], { ...calm, unchangedMs: 9e6 }),
      180_000,
    ],
    ["in five seconds while something leaves", nextLook([seen("web")], { ...calm, isPruning: true }), 5_000],
    ["in half a minute where something stands in the way", nextLook([{ ...moving, isStopped: true }]), 30_000],
    ["when something is to be put right", nextLook([seen("web")], { ...calm, healInMs: 2_000 }), 2_000],
    ["at once when that is overdue", nextLook([seen("web")], { ...calm, healInMs: -5 }), 0],
  ])("[AO17] the next reconcile of an app is %s", (_, ms, expected) => {
    expect(ms).toBe(expected);
  });
});
