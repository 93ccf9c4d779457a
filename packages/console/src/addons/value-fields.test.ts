import { readdirSync, readFileSync } from "node:fs";
import type { AddonDefinition } from "@binnacle/client";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { fieldsOf, readValues, shownAddonValues, typedValues } from "./value-fields.ts";

const CATALOG = new URL("../../../../catalog/addons/", import.meta.url);
const catalog = readdirSync(CATALOG).map(
  (file) => parse(readFileSync(new URL(file, CATALOG), "utf8")) as AddonDefinition,
);

test.each(catalog.map((definition) => [definition.name, definition] as const))(
  "[WC92] the values of %s have a form that opens with the defaults and then changes nothing",
  (_, definition) => {
    const fields = fieldsOf(definition);
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter(({ label }) => label === "")).toEqual([]);
    expect(readValues(fields, typedValues(fields, {}), {})).toEqual({ values: {}, problems: {} });
    for (const secret of definition.secret_values) {
      // The way to some secrets leads through a list, which is written as JSON.
      const field = fields.find(({ parameter }) => parameter.name === secret);
      if (field) expect(field.parameter.type).toBe("secret");
    }
  },
);

const definition = {
  values_schema: {
    type: "object",
    properties: {
      mode: { const: "one" },
      users: { type: "array", maxItems: 0 },
      list: { type: "array", title: "List" },
      auth: {
        type: "object",
        properties: {
          user: { type: "string", title: "User", pattern: "^[a-z]+$" },
          password: { type: "string", minLength: 8 },
        },
      },
      disk: { $ref: "#/$defs/disk" },
      level: { enum: ["low", "high", 3] },
      maxMemory: { type: "integer", minimum: 1, maximum: 9 },
      isKept: { type: "boolean" },
      again: { $ref: "#/$defs/loop" },
    },
    $defs: {
      disk: { type: "object", properties: { size: { $ref: "#/$defs/size", title: "Disk" } } },
      size: { type: "string" },
      loop: { $ref: "#/$defs/loop" },
    },
  },
  default_values: { auth: { user: "app" }, disk: { size: "1Gi" }, isKept: true },
  secret_values: ["auth.password"],
};
const fields = fieldsOf(definition);
const read = (changes: Record<string, string | boolean>, before = {}) =>
  readValues(fields, { ...typedValues(fields, before), ...changes }, before);

test("[WC92] each value of an addon's schema is a field of the form, except values with only one possible content", () => {
  expect(fields.map(({ parameter: { name, type }, label, isJson }) => [name, type, label, isJson])).toEqual([
    ["list", "string", "List", true],
    ["auth.user", "string", "User", false],
    ["auth.password", "secret", "Password", false],
    ["disk.size", "string", "Disk", false],
    ["level", "select", "Level", false],
    ["maxMemory", "integer", "Max memory", false],
    ["isKept", "boolean", "Is kept", false],
    ["again", "string", "Again", true],
  ]);
});

const SECRET = { secret_ref: { name: "db", key: "password" } };

test.each<[string, Record<string, string | boolean>, object, object]>([
  ["nothing is changed", {}, {}, {}],
  ["a text is changed", { "auth.user": "ada" }, {}, { auth: { user: "ada" } }],
  ["the default is typed", { "auth.user": "app" }, {}, {}],
  ["what was set is emptied", { "auth.user": "" }, { auth: { user: "ada" } }, {}],
  [
    "what was set to the default stays",
    { maxMemory: "3" },
    { auth: { user: "app" } },
    { auth: { user: "app" }, maxMemory: 3 },
  ],
  [
    "a secret stays when it is left empty",
    { maxMemory: "3" },
    { auth: { password: SECRET } },
    { auth: { password: SECRET }, maxMemory: 3 },
  ],
  [
    "a secret is replaced",
    { "auth.password": "correct horse" },
    { auth: { password: SECRET } },
    { auth: { password: "correct horse" } },
  ],
  ["a choice keeps its type", { level: "3" }, {}, { level: 3 }],
  ["a switch is turned off", { isKept: false }, {}, { isKept: false }],
  ["a list is written as JSON", { list: '[{"a":1}]' }, {}, { list: [{ a: 1 }] }],
  [
    "what the form does not show is kept",
    { level: '"low"' },
    { mode: "one", other: { x: 1 } },
    { mode: "one", other: { x: 1 }, level: "low" },
  ],
])("[WC93] an addon's form in which %s sends the right values", (_, changes, before, values) => {
  expect(read(changes, before)).toEqual({ values, problems: {} });
});

test.each<[Record<string, string | boolean>, Record<string, string>]>([
  [{ "auth.user": "ADA" }, { "auth.user": "It has to match ^[a-z]+$" }],
  [{ "auth.password": "short" }, { "auth.password": "Give at least 8 characters." }],
  [{ maxMemory: "10" }, { maxMemory: "The greatest is 9." }],
  [{ list: "[" }, { list: "This is not valid JSON." }],
])("[WC93] the addon's value %j is refused at its field", (changes, problems) => {
  expect(read(changes).problems).toEqual(problems);
});

test("[WC84] secrets of an addon are not part of the commands that the console shows", () => {
  expect(shownAddonValues(fields, { auth: { user: "a", password: "hunter22" } })).toEqual({
    auth: { user: "a", password: "…" },
  });
  expect(shownAddonValues(fields, { auth: { password: SECRET } })).toEqual({ auth: { password: SECRET } });
});

test("[WC93] an addon's value whose path leads through the prototype of objects changes nothing", () => {
  const hostile = {
    ...definition,
    values_schema: JSON.parse('{"properties":{"__proto__":{"properties":{"x":{"type":"string"}}}}}'),
  };
  expect(fieldsOf(hostile)).toEqual([]);
});
