// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { describe, expect, test } from "vitest";
import { secretPathsIn } from "./chart-secrets.ts";
import { patternsChecked } from "./pattern.ts";
import { templateProblems } from "./template-problems.ts";

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
  const problems = (values: object, parameters: object[] = [{ name: "pw", type: "secret" }]) =>
    templateProblems(
      {
        parameters: parameters as never,
        components: [{ name: "db", type: "chart", chart_spec: { values, secret_values: ["auth.password"] } }],
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
});
