import { expect, test } from "vitest";
import { valueProblems } from "./addon-values-check.ts";

const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  required: ["size"],
  properties: {
    size: { type: "string", pattern: "^[0-9]+Gi$", minLength: 3, maxLength: 5 },
    replicas: { type: "integer", minimum: 1, exclusiveMaximum: 8 },
    share: { type: "number", exclusiveMinimum: 0, maximum: 1 },
    mode: { const: "standalone" },
    brokers: { enum: [1, 3, 5] },
    enabled: { type: "boolean" },
    limits: { type: "object", minProperties: 1, maxProperties: 2 },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2, maxItems: 2 },
    tags: { type: "array", uniqueItems: true },
    "a/b~c": { type: "string" },
  },
};

const problems = (values: Record<string, unknown>) =>
  valueProblems(schema, { size: "10Gi", ...values }).map(({ loc, type }) => [loc, type]);

test("[AD13] values that the schema takes have no problem", () => {
  expect(valueProblems(schema, { size: "10Gi", replicas: 3, pair: ["a", 1], brokers: 3 })).toEqual([]);
});

test.each<[Record<string, unknown>, (string | number)[], string]>([
  [{ size: 10 }, ["size"], "string_type"],
  [{ size: "1234Gi" }, ["size"], "string_too_long"],
  [{ size: "ten" }, ["size"], "string_pattern_mismatch"],
  [{ replicas: "3" }, ["replicas"], "int_type"],
  [{ replicas: 0 }, ["replicas"], "greater_than_equal"],
  [{ replicas: 8 }, ["replicas"], "less_than"],
  [{ share: 0 }, ["share"], "greater_than"],
  [{ share: 2 }, ["share"], "less_than_equal"],
  [{ share: "x" }, ["share"], "float_type"],
  [{ mode: "cluster" }, ["mode"], "enum"],
  [{ brokers: 2 }, ["brokers"], "enum"],
  [{ enabled: "yes" }, ["enabled"], "bool_type"],
  [{ limits: [] }, ["limits"], "dict_type"],
  [{ limits: {} }, ["limits"], "too_short"],
  [{ limits: { a: 1, b: 2, c: 3 } }, ["limits"], "too_long"],
  [{ pair: "x" }, ["pair"], "list_type"],
  [{ pair: ["a", "b"] }, ["pair", 1], "int_type"],
  [{ tags: ["a", "a"] }, ["tags"], "value_error"],
  [{ "a/b~c": 1 }, ["a/b~c"], "string_type"],
  [{ unheard_of: 1 }, ["unheard_of"], "extra_forbidden"],
])("[AD13] %j is refused at %j as %s", (values, loc, type) => {
  expect(problems(values)).toEqual([[loc, type]]);
});

test("[AD13] a missing value and all else that is wrong are told at once, in words that do not repeat the values", () => {
  const found = valueProblems(schema, { brokers: 77, mode: "hush" });
  expect(found).toEqual([
    { loc: ["size"], msg: "Field required", type: "missing" },
    { loc: ["mode"], msg: 'Input should be "standalone"', type: "enum" },
    { loc: ["brokers"], msg: "Input should be one of [1,3,5]", type: "enum" },
  ]);
  expect(JSON.stringify(found)).not.toMatch(/77|hush/);
});
