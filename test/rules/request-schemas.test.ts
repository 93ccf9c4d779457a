import { isSafePattern } from "redos-detector";
import { describe, expect, test } from "vitest";
import * as contract from "../../packages/contract/src/index.ts";
import { loadCatalog } from "../../packages/server/src/catalog/catalog.adapter.ts";
import { describedRoutes } from "../../packages/server/src/routes.ts";
import { compileRe2 } from "../../packages/server/src/templates/pattern.ts";

interface Schema {
  readonly [keyword: string]: unknown;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords whose value is data, however much it looks like a schema, and conditions on a value that is bounded beside them. */
const DATA = new Set(["examples", "default", "enum", "const", "required", "if", "then"]);

/** Every schema inside of it, each with the way to it. */
function* schemasIn(value: unknown, way = "", seen = new Set<unknown>()): Generator<[way: string, schema: Schema]> {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (isSchema(value)) yield [way, value];
  for (const [key, inner] of Object.entries(value)) if (!DATA.has(key)) yield* schemasIn(inner, `${way}/${key}`, seen);
}

const patternsOf = (value: unknown) =>
  [...schemasIn(value)].flatMap(([, { pattern, patternProperties }]) => [
    ...(typeof pattern === "string" ? [pattern] : []),
    ...(isSchema(patternProperties) ? Object.keys(patternProperties) : []),
  ]);

describe("every pattern", () => {
  const ours = [...new Set(patternsOf({ ...contract }))];

  /** The detector is bounded by its steps alone: a bound by the clock fails on a busy machine. */
  const DETECTION = { unicode: true, maxScore: 100, maxSteps: 20_000, timeout: Number.POSITIVE_INFINITY };

  /** A pattern with a finite score has a limited number of ways to go back and try again, for whatever text. */
  test.each(ours)("[CV41] every pattern of the contract takes time in proportion to the text: %s", (pattern) => {
    expect(isSafePattern(pattern, DETECTION)).toMatchObject({
      safe: true,
      score: { infinite: false },
    });
  });

  test("[CV41] the patterns of the contract are found, and the check recognizes bad patterns", () => {
    expect(ours.length).toBeGreaterThan(30);
    for (const bad of ["^(a+)+$", "^[^b]*[^bc][^b]*$", "\\$\\{[^}]*\\}", "(.*)x$"]) {
      expect(isSafePattern(bad, DETECTION).safe, bad).toBe(false);
    }
  });

  test("[CV41] every pattern of an addon's values is one that RE2 accepts", async () => {
    const { addons } = await loadCatalog();
    const patterns = addons.flatMap(({ values_schema }) => patternsOf(values_schema));
    expect(patterns.length).toBeGreaterThan(10);
    for (const pattern of patterns) expect(compileRe2(pattern).programSize(), pattern).toBeLessThan(1000);
  });
});

describe("a pattern of a request", () => {
  const requests = describedRoutes().map(({ operation: { params, query, cookies, body } }) => ({
    params,
    query,
    cookies,
    body,
  }));
  /** A rule has words of its own, and its patterns are never shown. */
  const shown = [...new Set(requests.flatMap((request) => patternsOf(withoutRules(request))))];

  test.each(shown)("[CV35] the pattern of a request has words for its 422: %s", (pattern) => {
    expect(contract.PATTERN_MESSAGES[pattern]).toMatch(/^Input should /);
  });

  test("[CV35] there are no words for a pattern that no request has any more", () => {
    expect(Object.keys(contract.PATTERN_MESSAGES).filter((pattern) => !shown.includes(pattern))).toEqual([]);
  });
});

function withoutRules(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRules);
  if (!isSchema(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== "allOf");
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutRules(inner)]));
}

/** Formats that are bounded by what they are. */
const BOUNDED_FORMATS = new Set<unknown>(["uuid"]);

function unboundedIn(schema: Schema): string | null {
  const { type, format, enum: choices, const: only, maxLength, maxItems, maxProperties } = schema;
  if (choices !== undefined || only !== undefined) return null;
  if (type === "string" && maxLength === undefined && !BOUNDED_FORMATS.has(format)) return "text without maxLength";
  if (type === "array" && maxItems === undefined) return "list without maxItems";
  const isMap = schema["patternProperties"] !== undefined || isOpen(schema["additionalProperties"]);
  return type === "object" && isMap && maxProperties === undefined ? "map without maxProperties" : null;
}

const isOpen = (additional: unknown) => additional === true || isSchema(additional);

describe("what a request may hold", () => {
  test.each(describedRoutes().map(({ operation }) => [operation.id, operation] as const))(
    "[CV46] the request of %s limits the size of every text, list and map",
    (_, { params, query, cookies, body }) => {
      const found = [...schemasIn({ params, query, cookies, body })].flatMap(([way, schema]) => {
        const unbounded = unboundedIn(schema);
        return unbounded ? [`${way}: ${unbounded}`] : [];
      });
      expect(found).toEqual([]);
    },
  );

  test("[CV46] the check of request sizes finds texts, lists and maps without a limit", () => {
    const open = {
      a: { type: "string" },
      b: { type: "array", items: {} },
      c: { type: "object", additionalProperties: true },
    };
    const found = [...schemasIn({ type: "object", properties: open })].map(([, schema]) => unboundedIn(schema));
    expect(found.filter(Boolean)).toHaveLength(3);
  });
});
