import type { AppReport, ComponentStatus } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { someInstance } from "../addons/addon.fixture.ts";
import { type Instance, listedInstance, wireInstance } from "../addons/addon.ts";
import { addonAfterReport } from "../addons/addon-sync.ts";
import { reportingAt } from "../clusters/freshness.ts";
import { someApp } from "./app.fixture.ts";
import { listedApp, wireApp } from "./app.ts";
import { appAfterReport, missingApp, reportedAppEvent } from "./app-sync.ts";
import { phaseSinceAfter } from "./component-status.ts";

const BEFORE = new Date("2026-01-31T09:30:00.000Z");
const NOW = new Date("2026-02-01T00:00:00.000Z");
const WEB: ComponentStatus = {
  name: "web",
  phase: "degraded",
  reason: "CrashLoopBackOff",
  message: "The container main keeps ending.",
  desired: 2,
  ready: 1,
  updated: 2,
  restarts: 7,
  image: "nginx:1.29",
  pods: [
    {
      name: "storefront-web-1",
      phase: "Running",
      reason: "CrashLoopBackOff",
      restarts: 7,
      node: "node-1",
      started_at: "2026-01-31T09:30:00.000Z",
    },
  ],
};
const { pods: _, ...WEB_IN_LISTS } = WEB;
const report = (facts: Partial<AppReport> = {}): AppReport => ({
  phase: "degraded",
  phase_since: "2026-01-31T10:00:00.000Z",
  reason: "CrashLoopBackOff",
  message: null,
  components: [{ name: "web", ready_replicas: 1 }],
  components_status: [WEB],
  drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
  ...facts,
});
const reported = (facts: Partial<AppReport> = {}, generation = 1) =>
  appAfterReport({ app: someApp(), settled: null }, generation, report(facts), NOW).app;

const shown = (instance: Instance) => ({
  ...instance,
  ...reportingAt(NOW),
  project_reason: null,
  project_message: null,
});

describe("the status of components", () => {
  test("[DS32] the status of an app's components is shown as it is reported, and in lists without pods", () => {
    const app = { ...someApp(), ...reported() };
    expect(wireApp(app, NOW).components_status).toEqual([WEB]);
    expect(listedApp({ ...app, listed_components: "[]" }, NOW).components_status).toEqual([WEB_IN_LISTS]);
    expect(wireApp(app, NOW).components[0]?.ready_replicas).toBe(1);
  });

  test("[DS32] of a reported component status the known fields are kept, whatever else the operator sends", () => {
    const later = { ...WEB, mood: "good", pods: WEB.pods.map((pod) => ({ ...pod, mood: "good" })) };
    expect(reported({ components_status: [later] }).component_statuses).toEqual([{ ...WEB, ready_replicas: 1 }]);
  });

  test("[DS32] the component status is empty if an old operator reports only replicas, and after the app was lost", () => {
    const { components_status: _status, ...earlier } = report();
    const app = appAfterReport({ app: someApp(), settled: null }, 1, earlier, NOW).app;
    expect(wireApp({ ...someApp(), ...app }, NOW)).toMatchObject({
      components_status: [],
      components: [{ name: "web", ready_replicas: 1 }],
    });
    expect(missingApp({ app: reported(), settled: null }, NOW).app.component_statuses).toEqual([]);
  });

  test("[DS32] an app event has only the phase and replicas of each component", () => {
    expect(reportedAppEvent(reported(), null, reportingAt(NOW), NOW)).toMatchObject({
      components: [{ name: "web", ready_replicas: 1, phase: "degraded" }],
    });
    expect(JSON.stringify(reportedAppEvent(reported(), null, reportingAt(NOW), NOW))).not.toContain("storefront-web-1");
  });

  test("[DS32] [DS33] the component status of an addon instance is shown in the same way, with its drift and phase_since", () => {
    const said = {
      phase: "degraded",
      phase_since: "2026-01-31T10:00:00.000Z",
      reason: "NotReady",
      message: null,
      exports: {},
      components_status: [{ ...WEB, name: "db" }],
      drift: {
        state: "drifted",
        summary: "/spec/replicas of Deployment db was changed.",
        fields: [{ object: { kind: "Deployment", name: "db" }, pointer: "/spec/replicas", desired: 1, observed: 0 }],
        detected_at: "2026-01-31T10:00:00.000Z",
      },
    } as const;
    const before = someInstance();
    const after = addonAfterReport(before, before.generation, structuredClone(said) as never, null, NOW);
    expect(wireInstance(shown(after), NOW)).toMatchObject({
      phase_since: said.phase_since,
      components_status: [{ ...WEB, name: "db" }],
      drift: said.drift,
    });
    expect(wireInstance(shown(after), NOW)).not.toHaveProperty("drift_state");
    expect(listedInstance(shown(after), NOW).components_status).toEqual([{ ...WEB_IN_LISTS, name: "db" }]);
    const { drift: _drift, components_status: _status, ...earlier } = said;
    const old = addonAfterReport(after, before.generation, structuredClone(earlier) as never, null, NOW);
    expect(wireInstance(shown(old), NOW)).toMatchObject({
      components_status: [],
      drift: { state: "unknown", fields: [] },
    });
  });
});

describe("the beginning of a phase", () => {
  const before = { phase: "running", phase_since: BEFORE };
  test.each<[string, { phase: string; phase_since?: string }, string]>([
    ["the reported one", { phase: "degraded", phase_since: "2026-01-31T10:00:00.000Z" }, "2026-01-31T10:00:00.000Z"],
    [
      "the reported one of the same phase",
      { phase: "running", phase_since: "2026-01-31T10:00:00.000Z" },
      "2026-01-31T10:00:00.000Z",
    ],
    [
      "now, where the cluster's clock is ahead",
      { phase: "degraded", phase_since: "2026-03-01T00:00:00.000Z" },
      NOW.toISOString(),
    ],
    [
      "as before, where the clock is ahead and the phase the same",
      { phase: "running", phase_since: "2026-03-01T00:00:00.000Z" },
      BEFORE.toISOString(),
    ],
    ["now, where nobody says", { phase: "degraded" }, NOW.toISOString()],
    ["as before, where nobody says and it is the same", { phase: "running" }, BEFORE.toISOString()],
  ])("[DS33] phase_since is %s", (_, said, since) => {
    expect(phaseSinceAfter(before, said, NOW).toISOString()).toBe(since);
  });

  test("[DS33] a report on another generation does not change phase_since", () => {
    const app = someApp({ generation: 2 });
    expect(appAfterReport({ app, settled: null }, 1, report(), NOW).app.phase_since).toEqual(app.phase_since);
    expect(missingApp({ app, settled: null }, NOW).app.phase_since).toEqual(NOW);
  });
});
