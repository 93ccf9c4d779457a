// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { placeholdersIn } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attributeToParameters, LARGEST_RENDERED_CHARACTERS, renderComponents, TemplateOutgrown } from "./render.ts";

type Value = string | number | boolean | null;
const render = (component: object, values: Record<string, Value>) =>
  renderComponents([component], new Map(Object.entries(values)))[0];
const inValues = (value: unknown) => ({ chart_spec: { values: { x: value } } });

const literal = fc.string({ unit: fc.constantFrom("$", "{", "}", "a", "b") });
const escaped = (text: string) => text.replaceAll("${", () => "$${");

describe("filling in", () => {
  test("[TP15] filling in a template leaves no placeholder, keeps every literal and writes values unchanged", () => {
    fc.assert(
      fc.property(literal, literal, literal, (before, value, after) => {
        // A literal that ends in a dollar sign would make an escape of the placeholder behind it.
        fc.pre(!before.endsWith("$"));
        const rendered = render(inValues(`${escaped(before)}\${a}${escaped(after)}`), { a: value });
        expect(rendered).toEqual(inValues(before + value + after));
      }),
    );
  });

  test("[TP15] filling in a template does not fill in placeholders that stand in a value", () => {
    expect(render(inValues("${a} ${b}"), { a: "${b}", b: "${a}" })).toEqual(inValues("${b} ${a}"));
    expect(render(inValues("${a}"), { a: "${a}" })).toEqual(inValues("${a}"));
  });

  test("[TP15] filling in a template reaches every depth, and does not change the names of fields", () => {
    const component = inValues([{ deep: ["${a}", { "${a}": "${a}-$${a}" }] }]);
    expect(render(component, { a: 1 })).toEqual(inValues([{ deep: [1, { "${a}": "1-${a}" }] }]));
  });

  test("[TP15] filling in a template without placeholders changes nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(placeholdersIn(value).size === 0 && !JSON.stringify(value).includes("$${"));
        expect(render(inValues(value), {})).toEqual(inValues(value));
      }),
    );
  });

  test("[TP16] filling in a free value gives it the type of the parameter", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer(), fc.boolean()), (value) => {
        expect(render(inValues("${a}"), { a: value })).toEqual(inValues(value));
      }),
    );
  });

  test("[TP16] filling in a template gives a field its number, and an environment variable its text", () => {
    const component = {
      workload_spec: { replicas: "${n}", env: [{ name: "N", value: "${n}" }], ingress: { tls: "${t}", host: "${n}" } },
      secrets: { N: "${n}" },
      exports: { n: "${n}", t: "${t}" },
    };
    expect(render(component, { n: 3, t: true })).toEqual({
      workload_spec: { replicas: 3, env: [{ name: "N", value: "3" }], ingress: { tls: true, host: "3" } },
      secrets: { N: "3" },
      exports: { n: "3", t: "true" },
    });
  });

  test("[TP17] filling in a template leaves out a field or item that is only an optional parameter without a value", () => {
    const component = { workload_spec: { image: "${a}", args: ["x", "${a}", "-${a}-"] } };
    expect(render(component, { a: null })).toEqual({ workload_spec: { args: ["x", "--"] } });
  });

  test("[TP18] filling in a template ends before the result is too large", () => {
    const large = "x".repeat(60_000);
    const component = { workload_spec: { args: Array.from({ length: 100_000 }, () => "${a}${a}${a}") } };
    expect(() => render(component, { a: large })).toThrow(TemplateOutgrown);
    expect(() => render({ args: ["${a}"] }, { a: "x".repeat(LARGEST_RENDERED_CHARACTERS - 4) })).not.toThrow();
    expect(() => render({ args: ["${a}"] }, { a: "x".repeat(LARGEST_RENDERED_CHARACTERS - 3) })).toThrow(
      TemplateOutgrown,
    );
  });
});

describe("what is wrong with a filled-in component", () => {
  const components = [
    { name: "web", workload_spec: { image: "${repo}:${tag}", replicas: 0, ports: [{ port: "${p}" }] } },
  ];
  const blamed = (...path: (string | number)[]) =>
    attributeToParameters(
      [{ loc: ["body", "components", 0, ...path], msg: "Is bad", type: "value_error" }],
      components,
    ).map(({ loc }) => loc);

  test("[TP24] a problem with a filled-in component is reported at the parameters that filled the place", () => {
    expect(blamed("workload_spec", "image")).toEqual([
      ["body", "parameters", "repo"],
      ["body", "parameters", "tag"],
    ]);
    expect(blamed("workload_spec", "ports", 0, "port")).toEqual([["body", "parameters", "p"]]);
    expect(blamed("workload_spec", "ports", 0, "name")).toEqual([["body", "parameters", "p"]]);
  });

  test("[TP24] a problem with a filled-in component is reported at the request where no parameter filled the place", () => {
    expect(blamed("workload_spec", "replicas")).toEqual([["body"]]);
  });
});
