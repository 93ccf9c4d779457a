import { jsonSize } from "@binnacle/charts/reading";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseForm } from "./body.ts";

const isDeeperThan = (json: string, limit: number) => jsonSize(json, limit).depth > limit;

/** How deep a parsed value really nests. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((deepest, inner) => Math.max(deepest, depthOf(inner)), 0);
}

describe("the depth of JSON", () => {
  test("[CV11] the depth of JSON is found without parsing, whatever strings hold", () => {
    const value = fc.jsonValue({ maxDepth: 8, stringUnit: fc.constantFrom("{", "[", "]", "}", '"', "\\", "a") });
    fc.assert(
      fc.property(value, fc.nat(8), fc.constantFrom(0, 2), (given, limit, indent) => {
        expect(isDeeperThan(JSON.stringify(given, null, indent), limit)).toBe(depthOf(given) > limit);
      }),
    );
  });

  test("[CV11] the depth is found in text that is not JSON too", () => {
    fc.assert(fc.property(fc.string(), fc.nat(5), (text, limit) => void isDeeperThan(text, limit)));
    expect(isDeeperThan("[".repeat(1_000_000), 64)).toBe(true);
    expect(isDeeperThan('"'.padEnd(1_000_000, "["), 64)).toBe(false);
  });
});

describe("the number of values in JSON", () => {
  /** How many values there are, the whole among them. */
  function valuesOf(value: unknown): number {
    if (typeof value !== "object" || value === null) return 1;
    return Object.values(value).reduce<number>((sum, inner) => sum + valuesOf(inner), 1);
  }
  const hasEmpty = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    (Object.keys(value).length === 0 || Object.values(value).some(hasEmpty));

  test("[CV44] the number of values in JSON is found without parsing, whatever strings hold", () => {
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: fc.constantFrom("{", "[", ",", ":", '"', "\\", "a") });
    fc.assert(
      fc.property(
        value.filter((given) => !hasEmpty(given)),
        fc.constantFrom(0, 2),
        (given, indent) => {
          expect(jsonSize(JSON.stringify(given, null, indent), 64).values).toBe(valuesOf(given));
        },
      ),
    );
  });

  test("[CV44] empty lists and objects do not make the number of values too small", () => {
    expect(jsonSize("[[],{},[]]", 64).values).toBe(7);
  });
});

describe("a form", () => {
  test("[CV12] a form has a list where a field is given twice", () => {
    expect(parseForm("a=1&b=&a=2&c")).toEqual({ a: ["1", "2"], b: "", c: "" });
  });

  test("[CV12] a form is read as it was written, and its names never reach a prototype", () => {
    const name = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("__proto__", "constructor", "toString"));
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.string({ unit: "grapheme" })), { selector: ([key]) => key }),
        (pairs) => {
          const form = parseForm(new URLSearchParams(pairs).toString());
          expect(Object.entries(form).sort()).toEqual(pairs.sort());
          expect(Object.getPrototypeOf(form)).toBe(Object.prototype);
        },
      ),
    );
  });
});
