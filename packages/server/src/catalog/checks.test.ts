// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import type { TemplateParameter } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { valueProblemOf } from "../templates/parameter.ts";
import { patternsHere } from "../templates/pattern.ts";
import { ADDON, TEMPLATE } from "./catalog.fixture.ts";
import { fileReader } from "./catalog-file.ts";
import { ADDONS, TEMPLATES } from "./checks.ts";

type Change = readonly [before: string, after: string];
const changed = (text: string, [before, after]: Change) => {
  expect(text).toContain(before);
  return text.replace(before, () => after);
};
const read = { addon: fileReader(ADDONS), template: fileReader(TEMPLATES) };
const addonProblems = (change: Change) => read.addon("addons/store.yaml", changed(ADDON, change)).problems;
const templateProblems = (change: Change) => read.template("templates/app.yaml", changed(TEMPLATE, change)).problems;

const URL_SOURCE = 'from: { value: "store://${values.user}:${exports.password|uri}@${exports.host}" }';

describe("an addon", () => {
  test("[CG5] a complete addon is accepted", () => {
    expect(addonProblems(["", ""])).toEqual([]);
  });

  test.each<[string, Change, string]>([
    [
      "a default that its schema does not take",
      ["{ user: app }", "{ user: 1 }"],
      "7: default_values.user must be string",
    ],
    ["an invalid schema", ["user: { type: string", "user: { type: text"], "9: values_schema is not a JSON Schema: "],
    [
      "a version that is not offered",
      ["version: 2.0.0", "version: 3.0.0"],
      "6: chart.version is not among the versions",
    ],
  ])("[CG5] an addon with %s is refused", (_, change, problem) => {
    expect(addonProblems(change)).toEqual([expect.stringContaining(`addons/store.yaml:${problem}`)]);
  });

  test.each<[string, Change, string]>([
    ["that nobody may set", ["[password]", "[password, pin]"], "leads to no text in values_schema"],
    [
      "that is not a text",
      ['password: { type: string, pattern: "^[ -~]+$" }', "password: { type: integer }"],
      "leads to no text in values_schema",
    ],
    [
      "with a default",
      ["{ user: app }", "{ user: app, password: hunter2 }"],
      "has a default, which would not be secret",
    ],
  ])("[CG6] an addon with a secret %s is refused", (_, change, problem) => {
    expect(addonProblems(change)).toEqual([expect.stringContaining(problem)]);
  });

  test("[CG6] a secret value of an addon may be behind a reference in its schema", () => {
    const text = 'password: { type: string, pattern: "^[ -~]+$" }';
    const schema = "password: { $ref: '#/$defs/word' }\n  $defs: { word: { type: string, pattern: '^[a-z]+$' } }";
    expect(addonProblems([text, schema])).toEqual([]);
  });

  test("[CG16] an addon whose schema accepts text with line breaks is refused", () => {
    const change: Change = ['user: { type: string, pattern: "^[a-z]+$" }', "user: { type: string }"];
    expect(addonProblems(change)).toEqual([
      expect.stringContaining("values_schema.properties.user takes text with line breaks"),
    ]);
  });

  test.each([
    "{ value: 'store://${host}' }",
    "{ value: '${exports.host|shout}' }",
    "{ secret: '${values.user}', key: password }",
    "{ secret: store }",
    "{ service: '${fullname', port: 1 }",
    "{ service: store, port: 0 }",
    "{ value: x, key: y }",
    "{ file: /etc/passwd }",
  ])("[CG7] an addon export from %s is refused", (source) => {
    const place = "addons/store.yaml:18: export_schema.url.from has none of the forms that it may have";
    expect(addonProblems([URL_SOURCE, `from: ${source}`])).toEqual([place]);
  });

  test.each([
    "{ value: '$${host} costs $5 or $$' }",
    "{ service: '${release}-x', port: 80 }",
    "{ value: '${namespace}' }",
  ])("[CG7] an addon export from %s is accepted", (source) => {
    expect(addonProblems([URL_SOURCE, `from: ${source}`])).toEqual([]);
  });

  test.each<[string, Change, string]>([
    [
      "an export that there is not",
      ["${exports.host}", "${exports.constructor}"],
      "names the export constructor, which there is not",
    ],
    ["itself", ["${exports.host}", "${exports.url}"], "names the export url, which is made of exports itself"],
    ["a value without a default", ["${values.user}", "${values.name}"], "names the value name, which has no default"],
  ])("[CG7] an addon export that is made of %s is refused", (_, change, problem) => {
    expect(addonProblems(change)).toEqual([`addons/store.yaml:18: export_schema.url.from ${problem}`]);
  });

  test.each<[string, Change]>([
    ["a secret export", ["address., secret: true", "address., secret: false"]],
    ["a secret value", [`secret: true, ${URL_SOURCE}`, "secret: false, from: { value: '${values.password}' }"]],
  ])("[CG8] an addon export that holds %s must be declared secret", (_, change) => {
    expect(addonProblems(change)).toEqual([
      expect.stringContaining("url.from holds a secret and is not declared secret"),
    ]);
  });
});

describe("a stack template", () => {
  test("[CG11] a complete stack template is accepted", () => {
    expect(templateProblems(["", ""])).toEqual([]);
  });

  test.each<[string, Change, string]>([
    [
      "a placeholder that is not a parameter",
      ['"${port}"', '"${prot}"'],
      "12: components.0 uses ${prot}, which is not a parameter",
    ],
    [
      "a required parameter that fills nothing",
      ["image: ${image}", "image: x"],
      "9: parameters.0 requires image and does not use it",
    ],
    ["two parameters of one name", ["name: port", "name: image"], "10: parameters.1 names image again"],
    [
      "two components of one name",
      ["components:", "components:\n  - name: web"],
      "13: components.1 cannot run: Two components have the name web.",
    ],
  ])("[CG11] a stack template with %s is refused", (_, change, problem) => {
    expect(templateProblems(change)).toContain(`templates/app.yaml:${problem}`);
  });

  test("[CG11] a stack template with a placeholder in place of a list is refused", () => {
    const problems = templateProblems(['ports: [{ name: http, port: "${port}" }]', 'ports: "${port}"']);
    expect(problems).toEqual([`templates/app.yaml:15: components.0.workload_spec.ports must be array`]);
  });

  test.each<[string, Change, string]>([
    ["of another type", ["default: 8080", "default: web"], "has a default that it would not take"],
    ["beyond its bounds", ["default: 8080", "default: 0"], "has a default that it would not take"],
    ["for a secret", ["type: integer, default: 8080", "type: secret, default: hunter22"], "is a secret with a default"],
  ])("[CG12] a stack template with a default %s is refused", (_, change, problem) => {
    expect(templateProblems(change)).toContain(`templates/app.yaml:10: parameters.1 ${problem}`);
  });

  test("[CG12] a stack template with a select without options or an invalid pattern is refused", () => {
    expect(templateProblems(["type: integer", "type: select"])).toEqual([
      expect.stringContaining("is a select without options"),
    ]);
    expect(templateProblems(["required: true", 'pattern: "("'])).toEqual([
      expect.stringContaining("has a pattern that RE2 does not take: missing closing )"),
    ]);
  });

  test.each<[boolean, TemplateParameter, unknown]>([
    [true, { name: "p", type: "string", pattern: "^a", min: 2, max: 3 }, "ab"],
    [false, { name: "p", type: "string", pattern: "^a" }, "ba"],
    [false, { name: "p", type: "string", min: 2 }, "👍"],
    [false, { name: "p", type: "string" }, 1],
    [true, { name: "p", type: "integer", min: 1 }, 1],
    [false, { name: "p", type: "integer" }, 1.5],
    [true, { name: "p", type: "number", max: 2 }, 1.5],
    [false, { name: "p", type: "number", max: 1 }, 1.5],
    [true, { name: "p", type: "boolean" }, false],
    [false, { name: "p", type: "boolean" }, "false"],
    [true, { name: "p", type: "select", options: ["a", 1] }, 1],
    [false, { name: "p", type: "select", options: ["a", 1] }, "1"],
    [false, { name: "p", type: "secret", min: 8 }, "short"],
  ])("[CG12] it is %s that the parameter %j accepts the value %j", (expected, parameter, value) => {
    expect(valueProblemOf(parameter, value, patternsHere) === null).toBe(expected);
  });

  test.each<[string, string]>([
    ["waits for", "depends_on: [db]"],
    ["takes an export of", "export_refs: [{ component: db, key: url }]"],
    [
      "reads an export of",
      "workload_spec: { image: '${image}', env: [{ name: A, export_ref: { component: db, key: url } }] }",
    ],
  ])("[CG13] a stack template is refused when a component %s one that does not exist", (_, field) => {
    const text = TEMPLATE.replace("components:", `components:\n  - name: other\n    ${field}`);
    expect(read.template("templates/app.yaml", text).problems).toEqual([
      "templates/app.yaml:12: components.0 mentions db, which is not a component",
    ]);
  });
});
