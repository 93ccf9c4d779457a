import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { someApp, WEB, workload } from "./app.fixture.ts";
import { type AppWithSecretPaths, effectiveComponents, specOf, wireApp } from "./app.ts";
import { NOTHING_ASKED } from "./project-facts.ts";
import {
  attached,
  deleted,
  detached,
  type Outcome,
  pausedApp,
  redeployed,
  resumed,
  rolledBack,
  type Step,
  scaled,
  targetRevision,
  updated,
} from "./transition.ts";

function done(outcome: Outcome): Step {
  if (outcome instanceof Fault) throw outcome;
  return outcome;
}
const codeOf = (outcome: unknown) => (outcome as { detail?: { code?: string } }).detail?.code;
const NO_RULES = { findDefinition: () => undefined, chartHosts: [], project: NOTHING_ASKED };
const now = new Date("2026-02-01T00:00:00.000Z");

const operations: [string, (app: AppWithSecretPaths) => unknown][] = [
  ["update", (app) => updated(app, { description: "x" }, NO_RULES)],
  ["scale", (app) => scaled(app, { component_name: "web", replicas: 3 })],
  ["pause", pausedApp],
  ["resume", resumed],
  ["redeploy", (app) => redeployed(app, {})],
  ["rollback", (app) => rolledBack(app, { revision: 1, spec: specOf(app) }, NO_RULES)],
  ["attach", (app) => attached(app, { instance: "cache" })],
];

describe("what stands in the way of an operation", () => {
  test.each(operations)("[AP19] %s is refused while the app is being deleted", (_, operation) => {
    expect(codeOf(operation(someApp({ phase: "deleting" })))).toBe("app_deleting");
  });

  test.each(operations)("[AP23] %s is refused while the drift is blocked_sync", (_, operation) => {
    expect(codeOf(operation(someApp({ drift_state: "blocked_sync" })))).toBe("blocked_sync");
  });

  test.each<[string, Partial<AppWithSecretPaths>]>([
    ["another manager holds its fields", { drift_state: "blocked_sync" }],
    ["it was refused", { phase: "invalid", phase_reason: "RefusedByCluster", phase_message: "no" }],
    ["its host is taken", { phase: "failed", phase_reason: "HostTaken", phase_message: "no" }],
    ["its namespace belongs to somebody else", { phase: "pending", observed_generation: null }],
    ["it is paused", { phase: "paused", replicas_before_pause: { web: 2 } }],
  ])("[AP84] an app can be deleted although %s", (_, facts) => {
    const app = someApp({ generation: 4, ...facts });
    expect(deleted(app, now)).toMatchObject({ generation: 5, phase: "deleting", phase_reason: null, updated_at: now });
  });

  test("[AP23] a forced redeploy is done while the drift is blocked_sync, and refused while the app is being deleted", () => {
    expect(done(redeployed(someApp({ drift_state: "blocked_sync" }), { force: true })).forced).toBe(true);
    expect(codeOf(redeployed(someApp({ phase: "deleting" }), { force: true }))).toBe("app_deleting");
  });
});

describe("pausing", () => {
  const name = fc.constantFrom("a", "b", "constructor", "to-string");
  const components = fc.uniqueArray(
    fc
      .tuple(name, fc.integer({ min: 1, max: 100 }))
      .map(([called, replicas]) => workload(called, { workload_spec: { image: "x", replicas } })),
    { selector: (component) => component.name },
  );

  test("[AP28] a paused app has 0 replicas everywhere, and resuming restores the counts", () => {
    fc.assert(
      fc.property(components, fc.integer({ min: 1, max: 3 }), (given, times) => {
        const before = someApp({ components: given });
        let app = before;
        for (let time = 0; time < times; time++) app = done(pausedApp(app)).app;
        expect(effectiveComponents(specOf(app)).every(({ workload_spec }) => workload_spec?.replicas === 0)).toBe(true);
        expect(wireApp(app, now).paused).toBe(true);
        expect(done(resumed(app)).app).toEqual(before);
      }),
    );
  });

  test("[AP28] a second pause keeps the counts of the first", () => {
    const first = done(pausedApp(someApp())).app;
    expect(first.replicas_before_pause).toEqual({ web: 2 });
    expect(done(pausedApp(first)).app.replicas_before_pause).toBe(first.replicas_before_pause);
  });

  test("[AP27] a component that is added during a pause starts with its own count, and a removed one is forgotten", () => {
    const paused = done(pausedApp(someApp({ components: [WEB, workload("db")] }))).app;
    const changed = done(
      updated(
        paused,
        {
          components: [
            { op: "remove", name: "db" },
            { op: "add", name: "constructor", workload_spec: { replicas: 4 } },
          ],
        },
        NO_RULES,
      ),
    ).app;
    expect(changed.replicas_before_pause).toEqual({ web: 2, constructor: 4 });
    expect(done(resumed(changed)).app.components.map(({ workload_spec }) => workload_spec?.replicas)).toEqual([2, 4]);
    expect(
      codeOf(updated(paused, { components: [{ op: "patch", name: "web", workload_spec: { replicas: 3 } }] }, NO_RULES)),
    ).toBe("app_paused");
  });
});

describe("rolling back", () => {
  test("[AP32] a rollback makes the app equal to the revision, whatever it was before", () => {
    const states = [
      someApp(),
      done(pausedApp(someApp())).app,
      someApp({ components: [workload("other"), WEB] }),
      someApp({ components: [workload("other")] }),
    ];
    for (const from of states) {
      for (const to of states)
        expect(specOf(done(rolledBack(from, { revision: 1, spec: specOf(to) }, NO_RULES)).app)).toEqual(specOf(to));
    }
  });

  test("[AP177] a rollback to a revision that cannot run is refused with all of its problems", () => {
    const over = { requests: { cpu: "2" }, limits: { cpu: "1" } };
    const old = someApp({
      components: [workload("web", { workload_spec: { resources: over, ingress: { host: "a.example.com" } } })],
    });
    expect(rolledBack(someApp(), { revision: 3, spec: specOf(old) }, NO_RULES)).toMatchObject({
      kind: "invalid",
      detail: [
        { loc: ["body"], msg: expect.stringMatching(/^Revision 3 cannot run: Component web requests more cpu/) },
        { loc: ["body"], msg: expect.stringMatching(/^Revision 3 cannot run: The ingress of component web/) },
      ],
    });
  });

  test("[AP178] an app that cannot run can still be scaled, paused, resumed and redeployed", () => {
    const over = { requests: { cpu: "2" }, limits: { cpu: "1" } };
    const broken = someApp({ components: [workload("web", { workload_spec: { resources: over } })] });
    done(scaled(broken, { component_name: "web", replicas: 3 }));
    done(resumed(done(pausedApp(broken)).app));
    done(redeployed(broken, {}));
  });

  test("[AP32] a rollback to revision -1 is one to the revision before the current", () => {
    expect(targetRevision(someApp({ revision: 7 }), -1)).toBe(6);
    expect(targetRevision(someApp({ revision: 7 }), 3)).toBe(3);
  });

  test("[AP41] a rollback drops the secrets of components that it removes", () => {
    const app = someApp({ components: [WEB, workload("db")], secret_paths: ["db/A", "web/A"] });
    const { app: after, secrets } = done(
      rolledBack(app, { revision: 1, spec: { components: [WEB], paused: false } }, NO_RULES),
    );
    expect([...secrets.dropped]).toEqual(["db"]);
    expect(after.secret_paths).toEqual(["web/A"]);
  });
});

describe("attaching an addon instance", () => {
  test("[AP35] attaching an addon instance leaves out the workload with the instance's own name", () => {
    const app = someApp({ components: [WEB, workload("cache")] });
    expect(done(attached(app, { instance: "cache" })).app.components.map(({ export_refs }) => export_refs)).toEqual([
      [{ component: "cache" }],
      undefined,
    ]);
  });

  test("[AP35] attaching an addon instance needs a workload, and is refused if it would close a cycle", () => {
    expect(attached(someApp({ components: [] }), { instance: "cache" })).toMatchObject({ kind: "invalid" });
    const needing = someApp({ components: [workload("cache", { depends_on: ["web"] }), WEB] });
    expect(attached(needing, { instance: "cache", component_name: "web" })).toMatchObject({ kind: "invalid" });
  });

  test("[AP37] detaching an addon instance leaves export_refs that were written by hand", () => {
    const byHand = workload("web", { export_refs: [{ component: "cache", key: "url", env: "CACHE" }] });
    const app = done(attached(someApp({ components: [byHand] }), { instance: "cache" })).app;
    expect(done(detached(app, { instance: "cache" })).app.components).toEqual([byHand]);
  });
});
