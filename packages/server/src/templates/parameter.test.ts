import { randomBytes } from "node:crypto";
import type { TemplateParameter } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { declarationProblem, resolveParameters } from "./parameter.ts";
import { patternsHere } from "./pattern.ts";

const settle = (parameter: Omit<TemplateParameter, "name">, given: Record<string, unknown>) =>
  resolveParameters([{ name: "p", ...parameter }], given, randomBytes, patternsHere);
const complaint = (parameter: Omit<TemplateParameter, "name">, value: unknown) =>
  settle(parameter, { p: value }).items.map(({ loc, type }) => [loc.join("."), type]);

describe("the value of a parameter", () => {
  test.each<[Omit<TemplateParameter, "name">, unknown, string]>([
    [{ type: "string" }, 1, "string_type"],
    [{ type: "string" }, null, "string_type"],
    [{ type: "string" }, ["a"], "string_type"],
    [{ type: "secret" }, { a: 1 }, "string_type"],
    [{ type: "integer" }, "1", "int_type"],
    [{ type: "integer" }, 1.5, "int_type"],
    [{ type: "integer" }, 1e300, "int_type"],
    [{ type: "number" }, "1", "float_type"],
    [{ type: "boolean" }, "true", "bool_type"],
    [{ type: "boolean" }, 0, "bool_type"],
    [{ type: "select", options: ["a", "b"] }, "c", "enum"],
    [{ type: "select", options: [1] }, "1", "enum"],
    [{ type: "select", options: [1] }, { a: 1 }, "enum"],
    [{ type: "integer", min: 1 }, 0, "greater_than_equal"],
    [{ type: "number", max: 1 }, 1.01, "less_than_equal"],
    [{ type: "string", min: 2 }, "😀", "string_too_short"],
    [{ type: "string", max: 1 }, "ab", "string_too_long"],
    [{ type: "string" }, "x".repeat(65_537), "string_too_long"],
    [{ type: "string", pattern: "x" }, "x".repeat(5000), "string_too_long"],
    [{ type: "string", pattern: "^[a-z]+$" }, "A", "string_pattern_mismatch"],
  ])("[TP12] the parameter %j does not take %j", (parameter, value, type) => {
    expect(complaint(parameter, value)).toEqual([["body.parameters.p", type]]);
  });

  test("[TP12] all problems with parameters are reported at once, also parameters that nobody declared", () => {
    const parameters: TemplateParameter[] = [
      { name: "a", type: "integer" },
      { name: "b", type: "string", required: true },
      { name: "constructor", type: "string", required: true },
    ];
    const { items } = resolveParameters(parameters, { a: "x", c: 1, toString: 2 }, randomBytes, patternsHere);
    expect(items.map(({ loc, type }) => [loc[2], type])).toEqual([
      ["a", "int_type"],
      ["b", "missing"],
      ["constructor", "missing"],
      ["c", "extra_forbidden"],
      ["toString", "extra_forbidden"],
    ]);
  });

  test("[TP12] the value of a parameter is what is given, else the default, else nothing", () => {
    expect(settle({ type: "integer", default: 3 }, { p: 5 }).values.get("p")).toBe(5);
    expect(settle({ type: "integer", default: 3 }, {}).values.get("p")).toBe(3);
    expect(settle({ type: "integer" }, {}).values.get("p")).toBeNull();
  });

  test("[TP12] no message about a parameter contains its value", () => {
    const { items } = settle({ type: "secret", min: 20, pattern: "^x" }, { p: "hunter22" });
    expect(JSON.stringify(items)).not.toContain("hunter22");
  });
});

describe("a generator", () => {
  test.each([
    ["random_password", /^[A-Za-z0-9]{24}$/],
    ["random_hex", /^[0-9a-f]{32}$/],
    ["uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  ] as const)("[TP13] the generator %s makes %s", (generator, form) => {
    const [one, other] = [1, 2].map(() => settle({ type: "secret", required: true, generator }, {}).values.get("p"));
    expect(one).toMatch(form);
    expect(one).not.toBe(other);
  });

  test("[TP13] a generator makes nothing where a value is given", () => {
    expect(settle({ type: "secret", generator: "uuid" }, { p: "mine" }).values.get("p")).toBe("mine");
  });

  test("[TP13] a generator is refused, or makes what its parameter takes", () => {
    const bound = fc.option(fc.integer({ min: -5, max: 1100 }), { nil: undefined });
    const generators = fc.constantFrom("random_password", "random_hex", "uuid");
    fc.assert(
      fc.property(generators, bound, bound, (generator, min, max) => {
        const parameter = { name: "p", type: "string", generator, ...defined({ min, max }) } as TemplateParameter;
        if (declarationProblem(parameter, patternsHere)) return;
        const made = resolveParameters([parameter], {}, randomBytes, patternsHere).values.get("p");
        expect(resolveParameters([parameter], { p: made }, randomBytes, patternsHere).items).toEqual([]);
      }),
    );
  });

  test.each<[string, Omit<TemplateParameter, "name">]>([
    ["a number", { type: "integer", generator: "uuid" }],
    ["a pattern", { type: "string", generator: "uuid", pattern: "." }],
    ["a default", { type: "string", generator: "uuid", default: "x" }],
    ["options", { type: "string", generator: "uuid", options: ["x"] }],
    ["bounds that it cannot keep", { type: "string", generator: "uuid", max: 35 }],
  ])("[TP13] a parameter with a generator is refused with %s", (_, parameter) => {
    expect(declarationProblem({ name: "p", ...parameter }, patternsHere)).toMatch(/generator/);
  });
});

function defined(fields: Record<string, number | undefined>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
