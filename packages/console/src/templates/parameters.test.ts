import type { TemplateParameter } from "@binnacle/client";
import { expect, test } from "vitest";
import {
  choicesOfParameter,
  controlOf,
  fill,
  limitsOf,
  matches,
  placeholderOf,
  shownValues,
  typedDefaults,
} from "./parameters.ts";

const parameter = (facts: Partial<TemplateParameter>): TemplateParameter => ({ name: "p", type: "string", ...facts });

test.each<[Partial<TemplateParameter>, ReturnType<typeof controlOf>, string | boolean]>([
  [{}, "text", ""],
  [{ default: "a" }, "text", "a"],
  [{ type: "integer", default: 80 }, "number", "80"],
  [{ type: "number" }, "number", ""],
  [{ type: "boolean", default: false }, "switch", false],
  [{ type: "boolean" }, "choice", ""],
  [{ type: "select", options: ["a", 1], default: 1 }, "choice", "1"],
  [{ type: "string", options: ["1", "2"], default: "1" }, "choice", '"1"'],
  [{ type: "secret" }, "secret", ""],
])("[WC81] a parameter %j is entered in a control of kind %s that opens with %j", (facts, control, typed) => {
  const given = parameter(facts);
  expect(controlOf(given)).toBe(control);
  expect(typedDefaults([given])).toEqual({ p: typed });
});

test.each<[Partial<TemplateParameter>, string | boolean, unknown]>([
  [{}, "a", "a"],
  [{}, "", undefined],
  [{ default: "a" }, "a", undefined],
  [{ default: "a" }, "", undefined],
  [{ type: "integer" }, "80", 80],
  [{ type: "number" }, "0.5", 0.5],
  [{ type: "integer", default: 80 }, "80", undefined],
  [{ type: "boolean", default: false }, true, true],
  [{ type: "boolean", default: true }, false, false],
  [{ type: "boolean" }, "false", false],
  [{ type: "select", options: ["1", 1] }, '"1"', "1"],
  [{ type: "select", options: ["1", 1] }, "1", 1],
  [{ required: true, generator: "uuid" }, "", undefined],
])("[WC81] the parameter %j filled with %j is sent as %j", (facts, typed, value) => {
  const { values, problems } = fill([parameter(facts)], { p: typed });
  expect(problems).toEqual({});
  expect(values).toEqual(value === undefined ? {} : { p: value });
});

test("[WC81] a form that is left at its defaults sends nothing", () => {
  const parameters = [
    parameter({ name: "a", default: "x", pattern: "^x$" }),
    parameter({ name: "b", type: "integer", default: 3 }),
    parameter({ name: "c", type: "boolean", default: true }),
    parameter({ name: "d", type: "select", options: ["x", "y"], default: "y" }),
  ];
  expect(fill(parameters, typedDefaults(parameters))).toEqual({ values: {}, problems: {} });
});

test.each<[Partial<TemplateParameter>, string, string]>([
  [{ required: true }, "", "Give a value."],
  [{ type: "secret", required: true }, "", "Give a value."],
  [{ type: "integer" }, "1.5", "Give a whole number."],
  [{ type: "integer" }, "1e30", "Give a whole number."],
  [{ type: "number" }, "x", "Give a number."],
  [{ type: "integer", min: 1 }, "0", "The least is 1."],
  [{ type: "integer", max: 5 }, "6", "The greatest is 5."],
  [{ min: 3 }, "ab", "Give at least 3 characters."],
  [{ max: 1 }, "ab", "Give at most 1 characters."],
  [{ pattern: "^[a-z0-9.-]+$" }, "A B", "It has to match ^[a-z0-9.-]+$"],
])("[WC82] the parameter %j refuses %j at the field: %s", (facts, typed, problem) => {
  expect(fill([parameter(facts)], { p: typed })).toEqual({ values: {}, problems: { p: problem } });
});

test("[WC82] an emoji counts as one character of a parameter, as it does on the server", () => {
  expect(fill([parameter({ max: 2 })], { p: "🚀🚀" }).problems).toEqual({});
});

test.each([
  ["^/", "/x", true],
  ["^/", "x", false],
  ["^[0-9]+(Mi|Gi|Ti)$", "10Gi", true],
  ["^[0-9]+(Mi|Gi|Ti)$", "10", false],
  ["^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$", "-", false],
  [String.raw`^\d+\.\d+$`, "1.2", true],
  // A repetition of a repetition takes time that doubles with each character.
  ["^(a+)+$", `${"a".repeat(60)}!`, null],
  ["^(a|aa){2,}$", `${"a".repeat(60)}!`, null],
  ["^a*a*a*a*b$", "a".repeat(300), null],
  // These mean something else in a browser, or nothing.
  ["(?i)^a$", "A", null],
  [String.raw`^\pL$`, "é", null],
  [String.raw`^a\z`, "a", null],
  ["^[[:alpha:]]$", "a", null],
  ["(", "a", null],
  ["^a", "a".repeat(301), null],
])(
  "[WC82] the browser judges a text by the pattern %s as the server does, or leaves it to the server: %#",
  (pattern, text, verdict) => {
    expect(matches(pattern, text)).toBe(verdict);
  },
);

test("[WC84] secret parameters are not part of the commands that the console shows", () => {
  const parameters = [parameter({ name: "session_key", type: "secret" }), parameter({ name: "host" })];
  expect(shownValues(parameters, { session_key: "hunter2", host: "a" })).toEqual({ session_key: "…", host: "a" });
});

test.each<[Partial<TemplateParameter>, string, string]>([
  [{ generator: "uuid" }, "Made up when left empty: a UUID", ""],
  [{ default: 80, type: "integer", min: 1, max: 65535 }, "80", "1 to 65535"],
  [{ required: true, min: 8 }, "", "at least 8 characters"],
  [{ max: 9, type: "number" }, "Optional", "at most 9"],
  [{ pattern: "^/" }, "Optional", "matches ^/"],
  [{ type: "select", options: ["a", 1] }, "Optional", "one of a, 1"],
])("[WC81] the field of %j says what happens when it is left empty, and its limits", (facts, placeholder, limits) => {
  expect(placeholderOf(parameter(facts))).toBe(placeholder);
  expect(limitsOf(parameter(facts))).toBe(limits);
});

test("[WC81] the options of a parameter keep their type", () => {
  expect(choicesOfParameter(parameter({ type: "boolean" }))).toEqual([
    { value: "true", label: "Yes" },
    { value: "false", label: "No" },
  ]);
  expect(choicesOfParameter(parameter({ type: "select", options: ["1", 1] })).map(({ value }) => value)).toEqual([
    '"1"',
    "1",
  ]);
});
