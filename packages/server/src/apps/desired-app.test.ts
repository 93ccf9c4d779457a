import type { ComponentSpec } from "@binnacle/contract";
import { expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/definition-id.ts";
import { someApp, WEB, workload } from "./app.fixture.ts";
import { appBody, type OpenSecrets } from "./desired-app.ts";

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

test("[DS2] an app is told with its components, each with its type", () => {
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

test("[DS2] a paused app is told with 0 replicas", () => {
  const { spec } = bodyOf([WEB], { replicas_before_pause: { web: 2 } });
  expect(spec.paused).toBe(true);
  expect(spec.components[0]?.workload_spec?.replicas).toBe(0);
});

test.each([
  [null, false],
  [1, false],
  [2, true],
])("[DS2] forced with generation %s, generation 2 takes over: %s", (forced_generation, takesOver) => {
  expect(bodyOf([WEB], { generation: 2, forced_generation }).spec.take_over).toBe(takesOver);
});

test("[DS3] a component that stands for an addon instance names it", () => {
  const { spec, secret } = bodyOf([{ name: "db", type: "addon", addon_spec: { instance: "main-db" } }]);
  expect(spec.components).toEqual([{ name: "db", type: "addon", addon_instance: "main-db" }]);
  expect(secret.values).toEqual({});
});

test.each([
  ["the definition's version", {}, "2.0.0"],
  ["the version that was asked for", { chart_version: "1.0.0" }, "1.0.0"],
])("[DS3] a component of a definition is a release with %s, and values over the defaults", (_, asked, version) => {
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
});

test("[DS3] a chart is a release that exports nothing, and its values are secret", () => {
  const chart = { repo: "https://charts.example.com", name: "ingress-nginx" };
  const { spec, secret } = bodyOf([{ name: "edge", type: "chart", chart_spec: { ...chart, values: { a: 1 } } }]);
  expect(spec.components).toEqual([{ name: "edge", type: "chart", release: { chart, export_schema: {} } }]);
  expect(secret.values).toEqual({ edge: { a: 1 } });
});

test("[DS4] secrets stand by component and key in the secret part alone", () => {
  const secrets = new Map([["web", new Map([["API_KEY", "hunter2"]])]]);
  const { spec, secret } = bodyOf([WEB], {}, secrets);
  expect(secret.secrets).toEqual({ web: { API_KEY: "hunter2" } });
  expect(JSON.stringify(spec)).not.toContain("hunter2");
});

test("[DS4] a secret that the definition names as one of its values is put there", () => {
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

test("[DS9] a definition that is not in the catalog leaves nothing to tell", () => {
  const addon_spec = { definition_id: definitionId("gone") };
  expect(() => bodyOf([{ name: "db", type: "addon", addon_spec }])).toThrow("no longer in the catalog");
});
