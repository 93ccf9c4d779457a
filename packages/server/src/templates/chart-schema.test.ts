// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested

import type { TemplateComponent } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { secretPathsIn } from "./chart-schema.ts";
import { patternsChecked } from "./pattern.ts";
import { addonSecretProblems, templateProblems } from "./template-problems.ts";

describe("what a schema calls secret", () => {
  test("[SV8] is text that is marked so, wherever it is in the schema", () => {
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

  test("[SV8] is found, and the search ends, in a schema that refers to itself", () => {
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

  test("[SV10] takes a secret parameter for a secret value, and nowhere else among the values", () => {
    expect(problems({ auth: { password: "${pw}" } })).toEqual([]);
    expect(problems({ auth: { password: "${pw}", user: "${pw}" } })).toEqual(["components.0"]);
    expect(problems({ auth: { user: "${pw}" } })).toEqual(["components.0"]);
  });

  test("[SV10] does not hold a secret value itself", () => {
    expect(problems({ auth: { password: "s3cret" } }, [])).toEqual(["components.0.chart_spec.values.auth.password"]);
    expect(problems({ auth: { password: "$${literal}" } }, [])).toEqual([
      "components.0.chart_spec.values.auth.password",
    ]);
    expect(problems({ auth: { user: "app" } }, [])).toEqual([]);
  });

  test("[SV13] does not hold a text that an app would seal, unless it is called plain, and takes a secret parameter there", () => {
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

test("[TP19] a secret among the values of an addon is told where it is, and not what it is", () => {
  const problems = addonSecretProblems([store({}), store({ auth: { password: "hunter22" }, key: 5 })], find);
  expect(problems.map(({ path }) => path)).toEqual([
    ["components", 1, "addon_spec", "values", "auth", "password"],
    ["components", 1, "addon_spec", "values", "key"],
  ]);
  expect(JSON.stringify(problems)).not.toContain("hunter22");
});

test.each([
  ["what is no secret", store({ auth: { user: "app" } })],
  ["what a parameter stands for", store({ auth: { password: `\${password}` } })],
  ["an addon that is not in the catalog", store({ key: "x" }, definitionId("other"))],
  ["an addon that a parameter names", store({ key: "x" }, `\${addon}`)],
  ["a workload", { name: "web", workload_spec: { image: "nginx" } } as TemplateComponent],
])("[TP19] %s is none", (_, component) => {
  expect(addonSecretProblems([component], find)).toEqual([]);
});
