import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { valueProblems } from "../addons/addon-values.ts";
import { loadCatalog } from "./catalog.adapter.ts";
import { isOneLine, multilinePlaces } from "./one-line.ts";

const { addons } = await loadCatalog();
const BREAKS = ["\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\v", "\f"];

describe("a pattern", () => {
  const GOOD = [
    "^[a-z]+$",
    "^[ -~]+$",
    "^[0-9]+(\\.[0-9]+)?(m|Ki|Mi)?$",
    "^(?:a|b)$",
    "^\\d+-\\w*$",
    "^a\\$$",
    "^$",
    "^[.|^$]+$",
  ];
  const BAD = [
    "[a-z]+",
    "^[a-z]+",
    "a$",
    "^a|b$",
    "^.+$",
    "^[^:]+$",
    "^\\s$",
    "^[\\s]$",
    "^\\W$",
    "^a\\n?$",
    "^(?!x)a$",
    "^a\\$",
    "^\n$",
    "^[\t-z]$",
    "^(a$|^b)$",
    "^[ -\u2029]$",
  ];

  test.each(GOOD)("[CG16] the pattern %s permits no line break", (pattern) => {
    expect(isOneLine(pattern)).toBe(true);
    const text = fc.string({ unit: fc.constantFrom("a", "b", "0", ".", "$", " ", ...BREAKS), maxLength: 6 });
    const regexp = new RegExp(pattern, "u");
    fc.assert(
      fc.property(text, (given) => {
        if (BREAKS.some((line) => given.includes(line))) expect(regexp.test(given)).toBe(false);
      }),
    );
  });

  test.each(BAD)("[CG16] the pattern %s is not recognized as permitting no line break", (pattern) => {
    expect(isOneLine(pattern)).toBe(false);
  });
});

describe("a schema", () => {
  const line = { type: "string", pattern: "^[a-z]+$" };
  const places = (schema: unknown) => multilinePlaces(schema).map((place) => place.join("."));

  test.each<[unknown, string[]]>([
    [{ type: "object", additionalProperties: false, properties: { a: line, b: { type: "integer" } } }, []],
    [{ enum: ["a", 1, null] }, []],
    [{ const: true }, []],
    [{ type: "string", format: "uuid" }, []],
    [{ type: "array", items: line }, []],
    [{ type: "array", maxItems: 0 }, []],
    [{ anyOf: [line, { type: "null" }] }, []],
    [{ $ref: "#/$defs/a", $defs: { a: line } }, []],
    [{ type: "object", propertyNames: { pattern: "^[a-z]+$" }, additionalProperties: line }, []],
    [{ type: "string" }, [""]],
    [{}, [""]],
    [true, [""]],
    [{ type: ["string", "integer"] }, [""]],
    [{ enum: ["a\nb"] }, [""]],
    [{ enum: [{ a: "x" }] }, [""]],
    [{ type: "string", format: "password" }, [""]],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, ["$defs.a"]],
    [{ type: "object", properties: { a: {} }, additionalProperties: false }, ["properties.a"]],
    [{ type: "object" }, ["additionalProperties", "additionalProperties"]],
    [{ type: "object", additionalProperties: line }, ["additionalProperties"]],
    [{ type: "array" }, ["items"]],
    [{ anyOf: [line, { type: "string" }] }, ["anyOf.1"]],
  ])("[CG16] the places where the schema %j accepts line breaks are found", (schema, expected) => {
    expect(places(schema)).toEqual(expected);
  });
});

describe("the addons that ship", () => {
  test.each(addons.map((addon) => [addon.name, addon] as const))(
    "[CG16] the shipped addon %s accepts no text with a line break",
    (_, addon) => {
      expect(multilinePlaces(addon.values_schema)).toEqual([]);
    },
  );

  test("[CG16] values with line breaks are refused by the schema of the shipped addon postgresql", () => {
    const evil = "fast\n  hostNetwork: true";
    const postgresql = addons.find(({ name }) => name === "postgresql");
    const problems = valueProblems(postgresql?.values_schema ?? {}, {
      persistence: { storageClass: evil },
      auth: { password: `a good one${evil}` },
    });
    expect(problems.map(({ loc, type }) => [loc.join("."), type])).toEqual([
      ["auth.password", "string_pattern_mismatch"],
      ["persistence.storageClass", "string_pattern_mismatch"],
    ]);
  });
});
