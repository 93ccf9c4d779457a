// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested

import type { TemplateComponent } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { secretPathsIn } from "./chart-schema.ts";
import { patternsChecked } from "./pattern.ts";
import { addonSecretProblems, templateProblems } from "./template-problems.ts";

describe("what a schema calls secret", () => {
  test("[SV8] a chart's schema makes text secret by its mark, wherever in the schema it is", () => {
    const schema = {
      properties: {
        auth: {
          allOf: [{ properties: { token: { "x-secret": true } } }],
          properties: { password: { type: "string", format: "password" }, user: { type: "string" } },
        },
        key: { $ref: "#/definitions/key" },
        either: { type: ["string", "null"], "x-secret": true },
        "with.dot": { "x-secret": true },
        "with space": { "x-secret": true },
        port: { type: "integer", "x-secret": true },
        whole: { type: "object", "x-secret": true },
        not: { "x-secret": "true" },
        list: { items: { properties: { password: { format: "password" } } } },
      },
      definitions: { key: { type: "string", "x-secret": true } },
    };
    expect(secretPathsIn(schema).toSorted()).toEqual(["auth.password", "auth.token", "either", "key"]);
    expect(secretPathsIn(null)).toEqual([]);
  });

  test("[SV8] a secret is found in a schema that refers to itself, and the search ends", () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const schema = {
      allOf: [{ $ref: "#" }, { $ref: "#" }],
      properties: Object.fromEntries(names.map((name) => [name, { $ref: "#" }])),
    };
    expect(secretPathsIn({ ...schema, properties: { ...schema.properties, a: { format: "password" } } })).toContain(
      "a",
    );
  });
});

describe("a template", () => {
  const problems = (values: object, parameters: object[] = [{ name: "pw", type: "secret" }], more: object = {}) =>
    templateProblems(
      {
        parameters: parameters as never,
        components: [{ name: "db", type: "chart", chart_spec: { values, secret_values: ["auth.password"], ...more } }],
      },
      patternsChecked,
    ).map(({ path }) => path.join("."));

  test("[SV10] a template takes a secret parameter for a secret value of a chart, and nowhere else among the values", () => {
    expect(problems({ auth: { password: "${pw}" } })).toEqual([]);
    expect(problems({ auth: { password: "${pw}", user: "${pw}" } })).toEqual(["components.0"]);
    expect(problems({ auth: { user: "${pw}" } })).toEqual(["components.0"]);
  });

  test("[SV10] a template cannot hold a secret value of a chart itself", () => {
    expect(problems({ auth: { password: "s3cret" } }, [])).toEqual(["components.0.chart_spec.values.auth.password"]);
    expect(problems({ auth: { password: "$${literal}" } }, [])).toEqual([
      "components.0.chart_spec.values.auth.password",
    ]);
    expect(problems({ auth: { user: "app" } }, [])).toEqual([]);
  });

  test("[SV315] a template does not hold what looks like a secret and cannot be sealed, not even by a parameter", () => {
    for (const password of ["s3cret", "${pw}", 12345]) {
      expect(problems({ users: [{ password }] })).toContain("components.0.chart_spec.values.users.0.password");
    }
    expect(problems({ users: [{ password: "x" }] }, [], { plain_values: ["users"] })).toEqual([]);
  });

  test("[SV13] a template cannot hold a reference to the secret of an app", () => {
    const login = { secret_ref: { name: "shop-db-secrets", key: "auth.password" } };
    expect(problems({ users: [{ login }] }, [])).toEqual(["components.0.chart_spec.values.users.0.login"]);
  });

  test("[SV13] a template cannot hold a text that an app would seal, unless it is called plain; a secret parameter may stand there", () => {
    const token = { hook: { token: "s3cret" } };
    expect(problems(token, [])).toEqual(["components.0.chart_spec.values.hook.token"]);
    expect(problems(token, [], { plain_values: ["hook.token"] })).toEqual([]);
    expect(problems({ hook: { token: "${pw}" } })).toEqual([]);
  });
});

const STORE = { id: definitionId("store"), secret_values: ["auth.password", "key"] } as unknown as AddonDefinition;
const find = (id: string) => (id === STORE.id ? STORE : undefined);
const store = (values: object, definition_id = STORE.id): TemplateComponent =>
  ({ name: "db", type: "addon", addon_spec: { definition_id, values } }) as TemplateComponent;

test("[TP19] a problem with a secret among the values of an addon names its place, and not the secret", () => {
  const problems = addonSecretProblems([store({}), store({ auth: { password: "hunter22" }, key: 5 })], find);
  expect(problems.map(({ path }) => path)).toEqual([
    ["components", 1, "addon_spec", "values", "auth", "password"],
    ["components", 1, "addon_spec", "values", "key"],
  ]);
  expect(JSON.stringify(problems)).not.toContain("hunter22");
});

test("[SV316] a template keeps nothing that looks like a secret among the values of an addon, whatever stands for it", () => {
  const problems = addonSecretProblems([store({ replica: { password: "hunter22" }, api: { token: "${pw}" } })], find);
  expect(problems.map(({ path }) => path)).toEqual([
    ["components", 0, "addon_spec", "values", "replica", "password"],
    ["components", 0, "addon_spec", "values", "api", "token"],
  ]);
  expect(JSON.stringify(problems)).not.toContain("hunter22");
});

test.each([
  ["what is not a secret", store({ auth: { user: "app" } })],
  ["what a parameter stands for", store({ auth: { password: `\${password}` } })],
  ["an addon that is not in the catalog", store({ key: "x" }, definitionId("other"))],
  ["an addon that a parameter names", store({ key: "x" }, `\${addon}`)],
  ["a workload", { name: "web", workload_spec: { image: "nginx" } } as TemplateComponent],
])("[TP19] a template with %s has no problem with secrets of addons", (_, component) => {
  expect(addonSecretProblems([component], find)).toEqual([]);
});
