import { APP_PHASES, type AppReport, type ComponentSpec, DRIFT_STATES } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { listeningLog } from "../jobs/jobs.fixture.ts";
import { someApp, WEB, workload } from "./app.fixture.ts";
import type { App } from "./app.ts";
import { appAfterReport, appBody, logEndedDeployment, missingApp, type OpenSecrets } from "./app-sync.ts";

const STORE = {
  id: definitionId("store"),
  chart: { repo: "https://charts.example.com", name: "store", version: "2.0.0", versions: ["2.0.0", "1.0.0"] },
  default_values: { user: "app", disk: { size: "1Gi", kind: "ssd" } },
  secret_values: ["auth.password"],
  export_schema: { host: { description: "The host.", secret: false, from: { service: "db" } } },
} as unknown as AddonDefinition;
const find = (id: string) => (id === STORE.id ? STORE : undefined);

const bodyOf = (components: ComponentSpec[], facts: object = {}, secrets: OpenSecrets = new Map()) =>
  appBody(someApp({ components, ...facts }), find, secrets);

test("[DS2] the body of an app has its components, each with its type", () => {
  const app = someApp();
  const { type: _, ...untyped } = workload("worker", { depends_on: ["web"] });
  expect(bodyOf([WEB, untyped])).toEqual({
    spec: {
      project_id: app.project_id,
      namespace: "shop",
      name: "storefront",
      paused: false,
      take_over: false,
      components: [WEB, { ...untyped, type: "workload" }],
    },
    secret: { secrets: {}, values: {} },
  });
});

test("[DS2] the body of a paused app has 0 replicas", () => {
  const { spec } = bodyOf([WEB], { replicas_before_pause: { web: 2 } });
  expect(spec.paused).toBe(true);
  expect(spec.components[0]?.workload_spec?.replicas).toBe(0);
});

test.each([
  [null, false],
  [1, false],
  [2, true],
])(
  "[DS2] the body of generation 2 after a forced redeploy in generation %s has take_over %s",
  (forced_generation, takesOver) => {
    expect(bodyOf([WEB], { generation: 2, forced_generation }).spec.take_over).toBe(takesOver);
  },
);

test("[DS3] a component that stands for an addon instance names the instance", () => {
  const { spec, secret } = bodyOf([{ name: "db", type: "addon", addon_spec: { instance: "main-db" } }]);
  expect(spec.components).toEqual([{ name: "db", type: "addon", addon_instance: "main-db" }]);
  expect(secret.values).toEqual({});
});

test.each([
  ["the definition's version", {}, "2.0.0"],
  ["the version that was asked for", { chart_version: "1.0.0" }, "1.0.0"],
])(
  "[DS3] an addon component of a definition is a release with %s, and values over the defaults",
  (_, asked, version) => {
    const addon_spec = { definition_id: STORE.id, values: { disk: { size: "9Gi" } }, ...asked };
    const { spec, secret } = bodyOf([{ name: "db", type: "addon", addon_spec }]);
    expect(spec.components).toEqual([
      {
        name: "db",
        type: "addon",
        release: {
          chart: { repo: "https://charts.example.com", name: "store", version },
          export_schema: STORE.export_schema,
        },
      },
    ]);
    expect(secret.values).toEqual({ db: { user: "app", disk: { size: "9Gi", kind: "ssd" } } });
  },
);

test("[DS3] a chart component is a release without exports, whose values are in the secret part", () => {
  const chart = { repo: "https://charts.example.com", name: "ingress-nginx" };
  const { spec, secret } = bodyOf([{ name: "edge", type: "chart", chart_spec: { ...chart, values: { a: 1 } } }]);
  expect(spec.components).toEqual([{ name: "edge", type: "chart", release: { chart, export_schema: {} } }]);
  expect(secret.values).toEqual({ edge: { a: 1 } });
});

test("[DS4] the secrets of an app are in the secret part alone, by component and key", () => {
  const secrets = new Map([["web", new Map([["API_KEY", "hunter2"]])]]);
  const { spec, secret } = bodyOf([WEB], {}, secrets);
  expect(secret.secrets).toEqual({ web: { API_KEY: "hunter2" } });
  expect(JSON.stringify(spec)).not.toContain("hunter2");
});

test("[DS4] a secret that the definition names as a value is put among the values of the release", () => {
  const secrets = new Map([
    [
      "db",
      new Map([
        ["auth.password", "hunter2"],
        ["OTHER", "x"],
      ]),
    ],
  ]);
  const { secret } = bodyOf([{ name: "db", type: "addon", addon_spec: { definition_id: STORE.id } }], {}, secrets);
  expect(secret.values["db"]).toMatchObject({ auth: { password: "hunter2" } });
  expect(secret.values["db"]).not.toHaveProperty("OTHER");
});

test("[DS9] an app with a definition that is not in the catalog has no body", () => {
  const addon_spec = { definition_id: definitionId("gone") };
  expect(() => bodyOf([{ name: "db", type: "addon", addon_spec }])).toThrow("no longer in the catalog");
});

const NOW = new Date("2026-02-01T00:00:00Z");

const report = (facts: Partial<AppReport> = {}): AppReport => ({
  phase: "running",
  reason: "RolloutComplete",
  message: "All replicas are ready.",
  components: [{ name: "web", ready_replicas: 2 }],
  drift: { state: "in_sync", summary: null, fields: [], detected_at: null },
  ...facts,
});

const pending = (facts: Partial<App> = {}) =>
  someApp({ generation: 3, phase: "pending", observed_generation: 2, drift_state: "unknown", ...facts });
const reported = (app: App, generation: number, facts: Partial<AppReport> = {}) =>
  appAfterReport({ app, settled: null }, generation, report(facts), NOW);

test("[DS15] a report on the current generation sets phase, reason, message, replicas and drift of the app", () => {
  expect(
    reported(pending(), 3, { phase: "degraded", reason: "CrashLoopBackOff", message: "web does not stay up." }).app,
  ).toEqual(
    pending({
      phase: "degraded",
      phase_since: NOW,
      phase_reason: "CrashLoopBackOff",
      phase_message: "web does not stay up.",
      observed_generation: 3,
      component_statuses: [{ name: "web", ready_replicas: 2 }],
      drift_state: "in_sync",
    }),
  );
});

describe("which generations count", () => {
  test("[DS13] a report on an earlier generation updates the replicas and changes neither phase nor drift", () => {
    const app = pending({ observed_generation: 1 });
    expect(reported(app, 2)).toEqual({
      app: { ...app, observed_generation: 2, component_statuses: [{ name: "web", ready_replicas: 2 }] },
      settled: null,
    });
  });

  test.each([
    ["never told", 4],
    ["overtaken", 1],
  ])("[DS12] a report on a generation that was %s changes nothing", (_, generation) => {
    const before = { app: pending(), settled: null };
    expect(appAfterReport(before, generation, report(), NOW)).toBe(before);
  });

  test("[DS12] a report on another generation changes no phase and ends no deployment, whatever it says", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        fc.option(fc.integer({ min: 1, max: 6 })),
        fc.constantFrom(...APP_PHASES),
        fc.constantFrom("running", "failed", "invalid", "paused", "deleting", "degraded"),
        (present, of, observed_generation, phase, said) => {
          fc.pre(present !== of);
          const app = someApp({ generation: present, observed_generation, phase });
          const { app: next, settled } = reported(app, of, { phase: said });
          expect([next.phase, next.drift_state, settled]).toEqual([phase, app.drift_state, null]);
          expect(next.observed_generation ?? 0).toBeGreaterThanOrEqual(observed_generation ?? 0);
        },
      ),
    );
  });
});

describe("a deletion", () => {
  const leaving = pending({ phase: "deleting" });

  test("[DS16] a reported phase does not end the deletion of an app", () => {
    const { app, settled } = reported(leaving, 3);
    expect(app).toMatchObject({ phase: "deleting", phase_reason: null, phase_message: null });
    expect(settled).toBeNull();
  });

  test("[DS16] an app that is being deleted shows the reported reason and message that block it", () => {
    const blocked = { phase: "deleting", reason: "FinalizersRemain", message: "A volume is in use." } as const;
    expect(reported(leaving, 3, blocked).app).toMatchObject({
      phase: "deleting",
      phase_message: "A volume is in use.",
    });
  });

  test("[DS16] a reported phase does not begin the deletion of an app", () => {
    expect(reported(someApp({ generation: 3 }), 3, { phase: "deleting" }).app.phase).toBe("running");
  });
});

test.each([
  ["running", { generation: 3, status: "succeeded", message: null }],
  ["paused", { generation: 3, status: "succeeded", message: null }],
  ["failed", { generation: 3, status: "failed", message: "why" }],
  ["invalid", { generation: 3, status: "failed", message: "why" }],
  ["deploying", null],
  ["degraded", null],
] as const)("[DS17] the reported phase %s ends the pending deployment or leaves it pending", (phase, settled) => {
  expect(reported(pending(), 3, { phase, message: "why" }).settled).toEqual(settled);
});

test.each([
  ["ImmutableField", "failed"],
  ["ObjectRefused", "failed"],
  ["Forbidden", undefined],
  ["ImagePullBackOff", undefined],
  [null, undefined],
] as const)("[DS34] an app that is degraded for %s has a deployment whose outcome is %s", (reason, status) => {
  expect(reported(pending(), 3, { phase: "degraded", reason, message: "why" }).settled?.status).toBe(status);
});

test("[DS17] a failed deployment without a message has the reason as its message", () => {
  expect(reported(pending(), 3, { phase: "invalid", reason: "ImageMissing", message: null }).settled?.message).toBe(
    "ImageMissing",
  );
});

test("[DS17] of two reports that end a deployment the first counts", () => {
  const failed = reported(pending(), 3, { phase: "failed" });
  expect(appAfterReport(failed, 3, report(), NOW).settled?.status).toBe("failed");
});

test("[DS24] the same report on an app again changes nothing, whatever it says", () => {
  const anyReport = fc.record({
    phase: fc.constantFrom("deploying", "running", "degraded", "failed", "invalid", "paused", "deleting"),
    reason: fc.option(fc.constantFrom("Ready", "Broken")),
    message: fc.option(fc.string({ maxLength: 20 })),
    components: fc.array(fc.record({ name: fc.constantFrom("web", "db"), ready_replicas: fc.nat(3) }), {
      maxLength: 3,
    }),
    drift: fc.record({
      state: fc.constantFrom(...DRIFT_STATES),
      summary: fc.option(fc.string({ maxLength: 20 })),
      fields: fc.array(
        fc.record({
          object: fc.record({ kind: fc.constantFrom("Deployment", "Secret"), name: fc.constant("web") }),
          pointer: fc.constant("/spec/replicas"),
          desired: fc.jsonValue({ maxDepth: 2 }),
          observed: fc.jsonValue({ maxDepth: 2 }),
        }),
        { maxLength: 3 },
      ),
      detected_at: fc.option(fc.constant("2026-01-31T09:30:00.000Z")),
    }),
  });
  fc.assert(
    fc.property(anyReport, fc.constantFrom("pending", "running", "deleting"), (said, phase) => {
      const once = appAfterReport({ app: pending({ phase }), settled: null }, 3, said as AppReport, NOW);
      const later = new Date(NOW.getTime() + 60_000);
      expect(appAfterReport(once, 3, said as AppReport, later)).toBe(once);
    }),
  );
});

test("[DS23] an app that was deleted on the cluster is pending, without replicas and with unknown drift", () => {
  const app = someApp({ component_statuses: [{ name: "web", ready_replicas: 2 }] });
  expect(missingApp({ app, settled: null }, NOW).app).toMatchObject({
    phase: "pending",
    phase_reason: "DeletedOnCluster",
    component_statuses: [],
    drift_state: "unknown",
  });
  const leaving = { app: someApp({ phase: "deleting" }), settled: null };
  expect(missingApp(leaving, NOW)).toBe(leaving);
});

const ENDING = {
  type: "app",
  org_id: null,
  cluster_id: "c1",
  resource: { type: "app", id: "a1", name: "web", namespace: "shop" },
  phase_reason: "CrashLoop",
} as const;
const deployment = { id: "d1", revision: 3 };
const NAMES = { app_id: "a1", app: "web", namespace: "shop", cluster_id: "c1", deployment_id: "d1", revision: 3 };

test.each([
  ["has succeeded", { deployment: { ...deployment, status: "succeeded" } }, "info", { outcome: "succeeded" }],
  [
    "has failed with a message",
    { deployment: { ...deployment, status: "failed" }, phase_message: "The container exits." },
    "warn",
    { outcome: "failed", cause: "The container exits." },
  ],
  [
    "has failed without one",
    { deployment: { ...deployment, status: "failed" }, phase_message: null },
    "warn",
    { outcome: "failed", cause: "CrashLoop" },
  ],
] as const)(
  "[OP31] a deployment that %s is logged with its app, its outcome and the cause",
  (_, told, level, outcome) => {
    const log = listeningLog();
    logEndedDeployment(log, { ...ENDING, ...told });
    expect(log[level]).toHaveBeenCalledExactlyOnceWith({ ...NAMES, ...outcome }, expect.any(String));
  },
);

test("[OP31] an event that ends no deployment is not logged", () => {
  const log = listeningLog();
  logEndedDeployment(log, ENDING);
  expect([...log.info.mock.calls, ...log.warn.mock.calls]).toEqual([]);
});
