import {
  ComponentInput,
  fillPlaceholders,
  type StackTemplateFile,
  type TemplateParameter,
  valueAt,
} from "@binnacle/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
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

describe("the bundles that ship", () => {
  test("[BD9] have a component for every stage of an install that is about one", () => {
    for (const bundle of bundles) {
      const missing = ["k3s", "cilium", "traefik", "cert-manager", "longhorn", "velero", "metrics-server"].filter(
        (key) => !hasComponent(bundle, key),
      );
      expect(missing).toEqual([]);
    }
  });

  test("[CG4] pin every component to an exact version", () => {
    for (const { core, profiles } of bundles) {
      const pins = [core, ...Object.values(profiles).map(({ components }) => components)].flatMap(Object.values);
      for (const pin of pins) expect(pin).toMatch(/^v?\d+\.\d+\.\d+/);
    }
  });
});

describe.each(addons.map((addon) => [addon.name, addon] as const))("the addon %s", (_, addon) => {
  test("[CG5] has default values that its schema takes, and takes nothing that it does not know", () => {
    const validate = ajv.compile(addon.values_schema);
    expect([validate(addon.default_values), validate.errors]).toEqual([true, null]);
    expect(validate({ ...addon.default_values, unheard_of: true })).toBe(false);
  });

  test("[CG6] takes a text at every secret path", () => {
    for (const path of addon.secret_values) {
      const nested = path
        .split(".")
        .reduceRight<unknown>((value, step) => ({ [step]: value }), "a secret of thirty characters..");
      expect(ajv.compile(addon.values_schema)(nested)).toBe(true);
      expect(valueAt(addon.default_values, path.split("."))).toBeUndefined();
    }
  });

  test("[CG7] says where clients connect", () => {
    expect(Object.keys(addon.export_schema)).toEqual(expect.arrayContaining(["host", "port"]));
  });

  test("[CG8] declares secret whatever is called a password or a secret key", () => {
    const telling = Object.entries(addon.export_schema).filter(([key]) => /password|secret/.test(key));
    expect(telling.filter(([, { secret }]) => !secret)).toEqual([]);
  });
});

describe.each(templates.map((template) => [template.name, template] as const))("the template %s", (_, template) => {
  test("[CG14] filled in, is made of valid components", () => {
    const validate = ajv.compile(ComponentInput);
    for (const component of filled(template)) expect([validate(component), validate.errors]).toEqual([true, null]);
  });

  test("[CG14] names addons of the catalog, gives them values that they take, and reads exports that they have", () => {
    const components = filled(template);
    const addonOf = new Map(
      components.flatMap(({ name, addon_spec }) =>
        addon_spec ? [[name, addons.find(({ id }) => id === addon_spec.definition_id)] as const] : [],
      ),
    );
    for (const { name, addon_spec, workload_spec } of components) {
      const addon = addonOf.get(name);
      if (addon_spec) expect(addon && ajv.compile(addon.values_schema)(addon_spec.values ?? {})).toBe(true);
      for (const { export_ref } of workload_spec?.env ?? []) {
        if (export_ref)
          expect(Object.keys(addonOf.get(export_ref.component)?.export_schema ?? {})).toContain(export_ref.key);
      }
    }
  });
});
