import {
  isSecretPath,
  likelySecretPaths,
  placeholdersIn,
  type TemplateComponent,
  type TemplateParameter,
  valueAt,
} from "@binnacle/contract";
import { withoutPaths } from "../addons/addon-values.ts";
import type { FindDefinition } from "../apps/addon-component.ts";
import type { Problem } from "../catalog/catalog-file.ts";
import { declarationProblem } from "./parameter.ts";
import type { Patterns } from "./pattern.ts";

interface Content {
  readonly parameters: readonly TemplateParameter[];
  readonly components: readonly TemplateComponent[];
}

/** Returns all problems of a well-formed template. What a partial one refers to may be among what is missing. */
export function templateProblems(
  { parameters, components }: Content,
  patterns: Patterns,
  { isPartial = false } = {},
): Problem[] {
  return [
    ...(isPartial ? [] : placeholderProblems(parameters, components)),
    ...parameters.flatMap((parameter, index) => {
      const message = declarationProblem(parameter, patterns);
      return message === null ? [] : [{ path: ["parameters", index], message }];
    }),
    ...nameProblems(
      "parameters",
      parameters.map(({ name }) => name),
    ),
    ...nameProblems("components", components.map(nameOf)),
    ...(isPartial ? [] : components.flatMap((component, index) => mentionProblems(component, index, components))),
    ...components.flatMap((component, index) => secretProblems(component, index, parameters)),
  ];
}

const nameOf = (component: TemplateComponent) => String(component["name"]);

/** The limit of one component: more problems help nobody, and a megabyte may have a quarter of a million. */
const MOST_PLACEHOLDERS = 100;

/** An unknown placeholder would reach the cluster as text, and an unused required parameter is a mistake. */
function placeholderProblems(parameters: Content["parameters"], components: Content["components"]): Problem[] {
  const declared = new Set(parameters.map(({ name }) => name));
  const usedBy = components.map(placeholdersIn);
  return [
    ...usedBy.flatMap((used, index) =>
      [...used]
        .filter((name) => !declared.has(name))
        .slice(0, MOST_PLACEHOLDERS)
        .map((name) => ({ path: ["components", index], message: `uses \${${name}}, which is no parameter` })),
    ),
    ...parameters.flatMap(({ name, required }, index) =>
      required && !usedBy.some((used) => used.has(name))
        ? [{ path: ["parameters", index], message: `requires ${name} and does not use it` }]
        : [],
    ),
  ];
}

function nameProblems(list: string, names: readonly string[]): Problem[] {
  const first = new Map<string, number>();
  return names.flatMap((name, index) => {
    if (!first.has(name)) first.set(name, index);
    return first.get(name) === index ? [] : [{ path: [list, index], message: `names ${name} again` }];
  });
}

/** Dependencies and exports of a component must be within the template. */
function mentionProblems(component: TemplateComponent, index: number, all: readonly TemplateComponent[]): Problem[] {
  const names = new Set(all.map(nameOf));
  const containers = ["init_containers", "sidecars"].flatMap((list) => listAt(component, ["workload_spec", list]));
  const env = [
    ...listAt(component, ["workload_spec", "env"]),
    ...containers.flatMap((container) => listAt(container, ["env"])),
  ];
  const mentioned = [
    ...listAt(component, ["depends_on"]),
    ...env.map((variable) => valueAt(variable, ["export_ref", "component"])),
    ...listAt(component, ["export_refs"]).map((reference) => valueAt(reference, ["component"])),
  ];
  return mentioned
    .filter((name) => typeof name === "string")
    .filter((name) => !names.has(name) && placeholdersIn(name).size === 0)
    .map((name) => ({ path: ["components", index], message: `mentions ${name}, which is no component` }));
}

/**
 * Templates are stored and shown in plain text, and so are components except for their `secrets` and the secret values
 * of charts. A template therefore never contains a secret, and the value of a secret parameter may only be used in
 * those places, where it is sealed.
 */
function secretProblems(component: TemplateComponent, index: number, parameters: Content["parameters"]): Problem[] {
  const { secrets = {}, ...rest } = component;
  const secretValues = secretValuesOf(component);
  const used = placeholdersIn(withoutPaths(rest, [...secretValues.keys()]));
  const leaked = parameters.filter(({ type, name }) => type === "secret" && used.has(name));
  const kept = Object.entries(secrets as object).filter(([, value]) => placeholdersIn(value).size === 0);
  return [
    ...leaked.map(({ name }) => ({
      path: ["components", index],
      message: `uses the secret \${${name}} outside of its secrets`,
    })),
    ...kept.map(([key]) => ({ path: ["components", index, "secrets", key], message: KEPT_SECRET })),
    ...[...secretValues]
      .filter(([, value]) => value !== undefined && placeholdersIn(value).size === 0)
      .map(([path]) => ({ path: ["components", index, ...path.split(".")], message: KEPT_SECRET })),
  ];
}

const KEPT_SECRET = "is a secret that the template would keep; let a parameter of type secret stand for it";

/** Returns the secret values of a chart component by path, as an app has them. A path with a placeholder is not known yet. */
function secretValuesOf(component: TemplateComponent): ReadonlyMap<string, unknown> {
  const listed = (list: string) => listAt(component, ["chart_spec", list]).filter((path) => typeof path === "string");
  const values = valueAt(component, ["chart_spec", "values"]);
  const isMap = typeof values === "object" && values !== null && !Array.isArray(values);
  const likely = isMap ? likelySecretPaths(values as Readonly<Record<string, unknown>>, isSecretPath) : [];
  const plain = listed("plain_values");
  const paths = [...listed("secret_values"), ...likely.filter((path) => !plain.includes(path))];
  return new Map(
    paths
      .filter((path) => placeholdersIn(path).size === 0)
      .map((path) => ["chart_spec", "values", ...path.split(".")])
      .map((steps) => [steps.join("."), valueAt(component, steps)]),
  );
}

function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list : [];
}

/**
 * Finds secrets among the values of addons, which everybody who sees the template could read. A parameter is allowed
 * there: its value comes with the deployment and is sealed.
 */
export function addonSecretProblems(components: readonly TemplateComponent[], find: FindDefinition): Problem[] {
  return components.flatMap((component, index) => {
    const definitionId = valueAt(component, ["addon_spec", "definition_id"]);
    const definition = typeof definitionId === "string" ? find(definitionId) : undefined;
    return (definition?.secret_values ?? []).flatMap((secret) => {
      const path = ["addon_spec", "values", ...secret.split(".")];
      const value = valueAt(component, path);
      if (value === undefined || placeholdersIn(value).size > 0) return [];
      const message = `is a secret that the template would keep; let a parameter of type secret stand for it, as ${secret} of the component's secrets`;
      return [{ path: ["components", index, ...path], message }];
    });
  });
}
