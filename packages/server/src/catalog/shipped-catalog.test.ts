import {
  ComponentInput,
  type ComponentSpec,
  fillPlaceholders,
  isSecretPath,
  likelySecrets,
  type StackTemplateFile,
  type TemplateParameter,
  valueAt,
} from "@binnacle/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { definitionFinder, resolveAddonComponent } from "../apps/addon-component.ts";
import { hasComponent } from "../bundles/bundle.ts";
import { valueProblemOf } from "../templates/parameter.ts";
import { patternsHere } from "../templates/pattern.ts";
import { loadCatalog } from "./catalog.adapter.ts";

const { bundles, addons, templates } = await loadCatalog();
const ajv = new Ajv2020({ allErrors: true, strict: false });
addFormats.default(ajv, ["uuid"]);

/** A value that the parameter takes, for those that have no default. */
const SAMPLES: Record<string, string | number> = {
  image: "docker.io/example/app:1.0.0",
  producer_image: "docker.io/example/producer:1.0.0",
  consumer_image: "docker.io/example/consumer:1.0.0",
  host: "shop.example.com",
  worker_command: "node worker.js",
  script: "echo done",
  port: 8080,
  session_key: "0123456789abcdef",
};

function sampleOf(parameter: TemplateParameter): string | number | boolean {
  const sample = parameter.default ?? SAMPLES[parameter.name];
  if (sample === undefined) throw new Error(`There is no sample for ${parameter.name}.`);
  expect(valueProblemOf(parameter, sample, patternsHere)).toBeNull();
  return sample;
}

function filled({ parameters, components }: StackTemplateFile): ComponentInput[] {
  const values = new Map(parameters.map((parameter) => [parameter.name, sampleOf(parameter)]));
  return fillPlaceholders(components, (name) => values.get(name)) as ComponentInput[];
}

type Schema = Readonly<Record<string, unknown>>;

/** A text at every place where a schema takes a value. */
function exampleOf(schema: Schema, defs: Readonly<Record<string, Schema>>): unknown {
  const { $ref, properties, items } = schema;
  if (typeof $ref === "string") return exampleOf(defs[$ref.replace("#/$defs/", "")] ?? {}, defs);
  if (items) return [exampleOf(items as Schema, defs)];
  if (!properties) return "some text";
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, exampleOf(inner, defs)]));
}

describe("the bundles that ship", () => {
  test("[BD9] the shipped bundles have a component for every install stage that is about one", () => {
    for (const bundle of bundles) {
      const missing = ["k3s", "cilium", "traefik", "cert-manager", "longhorn", "velero", "metrics-server"].filter(
        (key) => !hasComponent(bundle, key),
      );
      expect(missing).toEqual([]);
    }
  });

  test("[CG4] the shipped bundles pin every component to an exact version", () => {
    for (const { core, profiles } of bundles) {
      const pins = [core, ...Object.values(profiles).map(({ components }) => components)].flatMap(Object.values);
      for (const pin of pins) expect(pin).toMatch(/^v?\d+\.\d+\.\d+/);
    }
  });
});

describe.each(addons.map((addon) => [addon.name, addon] as const))("the addon %s", (_, addon) => {
  test("[CG5] the default values of a shipped addon satisfy its schema, which refuses unknown values", () => {
    const validate = ajv.compile(addon.values_schema);
    expect([validate(addon.default_values), validate.errors]).toEqual([true, null]);
    expect(validate({ ...addon.default_values, unheard_of: true })).toBe(false);
  });

  test("[CG6] a shipped addon accepts a text at every secret path, and has no default there", () => {
    for (const path of addon.secret_values) {
      const nested = path
        .split(".")
        .reduceRight<unknown>((value, step) => ({ [step]: value }), "a secret of thirty characters..");
      expect(ajv.compile(addon.values_schema)(nested)).toBe(true);
      expect(valueAt(addon.default_values, path.split("."))).toBeUndefined();
    }
  });

  test("[SV316] a shipped addon seals every value that looks like a secret", () => {
    const { values_schema: schema, secret_values, plain_values = [] } = addon;
    const values = exampleOf(schema, (schema["$defs"] ?? {}) as Record<string, Schema>) as Record<string, unknown>;
    expect(Object.keys(values).length).toBeGreaterThan(1);
    expect(likelySecrets(values, isSecretPath, [...secret_values, ...plain_values])).toEqual([]);
    expect(likelySecrets(values, isSecretPath).length > 0 || secret_values.length === 0).toBe(true);
  });

  test("[CG7] a shipped addon exports the host and the port that clients connect to", () => {
    expect(Object.keys(addon.export_schema)).toEqual(expect.arrayContaining(["host", "port"]));
  });

  test("[CG8] a shipped addon declares every export secret that is named password or secret", () => {
    const telling = Object.entries(addon.export_schema).filter(([key]) => /password|secret/.test(key));
    expect(telling.filter(([, { secret }]) => !secret)).toEqual([]);
  });
});

describe.each(templates.map((template) => [template.name, template] as const))("the template %s", (_, template) => {
  test("[CG14] a shipped template, filled in, consists of valid components", () => {
    const validate = ajv.compile(ComponentInput);
    for (const component of filled(template)) expect([validate(component), validate.errors]).toEqual([true, null]);
  });

  test("[CG14] a shipped template uses addons of the catalog with values that they accept and exports that they have", () => {
    const components = filled(template);
    const addonOf = new Map(
      components.flatMap(({ name, addon_spec }) =>
        addon_spec ? [[name, addons.find(({ id }) => id === addon_spec.definition_id)] as const] : [],
      ),
    );
    for (const component of components) {
      const { name, addon_spec, workload_spec } = component;
      const addon = addonOf.get(name);
      expect(resolveAddonComponent(component as ComponentSpec, definitionFinder(addons)).problems).toEqual([]);
      if (addon_spec) expect(addon && ajv.compile(addon.values_schema)(addon_spec.values ?? {})).toBe(true);
      for (const { export_ref } of workload_spec?.env ?? []) {
        if (export_ref)
          expect(Object.keys(addonOf.get(export_ref.component)?.export_schema ?? {})).toContain(export_ref.key);
      }
    }
  });
});
