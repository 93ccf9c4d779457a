import {
  fillPlaceholders,
  isSecretPath,
  type JudgedComponent,
  type LikelySecret,
  likelySecrets,
  placeholdersIn,
  problemsOf,
  type TemplateComponent,
  type TemplateParameter,
  valueAt,
} from "@binnacle/contract";
import { readableSecrets, strayReferences, withoutPaths } from "../addons/addon-values.ts";
import type { FindDefinition } from "../apps/addon-component.ts";
import type { Problem } from "../catalog/catalog-file.ts";
import { declarationProblem } from "./parameter.ts";
import type { Patterns } from "./pattern.ts";

interface Content {
  readonly parameters: readonly TemplateParameter[];
  readonly components: readonly TemplateComponent[];
}

/**
 * Returns all problems of a well-formed template. What a partial one refers to may be among what is missing. Stored components
 * that a change leaves as they are may be older than a rule for apps, so they are not judged as an app.
 */
export function templateProblems(
  { parameters, components }: Content,
  patterns: Patterns,
  { isPartial = false, judgesApp = true } = {},
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
    // The same placeholder twice is the same name twice. Names that are known are judged with the app.
    ...nameProblems(
      "components",
      components.map((component) => (isKnown(component["name"]) ? null : nameOf(component))),
    ),
    ...(judgesApp ? appProblems(components, isPartial) : []),
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
        .map((name) => ({ path: ["components", index], message: `uses \${${name}}, which is not a parameter` })),
    ),
    ...parameters.flatMap(({ name, required }, index) =>
      required && !usedBy.some((used) => used.has(name))
        ? [{ path: ["parameters", index], message: `requires ${name} and does not use it` }]
        : [],
    ),
  ];
}

function nameProblems(list: string, names: readonly (string | null)[]): Problem[] {
  const first = new Map<string, number>();
  return names.flatMap((name, index) => {
    if (name === null) return [];
    if (!first.has(name)) first.set(name, index);
    return first.get(name) === index ? [] : [{ path: [list, index], message: `names ${name} again` }];
  });
}

/** Templates are deployed under names of their own, of which the shortest has one character. */
const SHORTEST_APP_NAME = "a";

/**
 * Returns what would keep every app of the template from running, as far as that does not depend on a parameter. Mentions
 * of other components are judged apart.
 */
function appProblems(components: readonly TemplateComponent[], isPartial: boolean): Problem[] {
  const known = components.map(knownPart);
  const judged = [...known.entries()].flatMap(([index, part]) => (part === null ? [] : [{ index, ...part }]));
  const hasUnknown = known.some((part) => part === null || !part.isWhole);
  const app = { name: SHORTEST_APP_NAME, components: judged.map(({ component }) => component) };
  return problemsOf(app, { isPartial: isPartial || hasUnknown })
    .filter(({ code }) => code !== "UnknownComponent")
    .map(({ path: [list = "components", position], message }) => ({
      path: [list, ...(position === undefined ? [] : [judged[Number(position)]?.index ?? 0])],
      message: `cannot run: ${message}`,
    }));
}

const isKnown = (value: unknown): boolean => placeholdersIn(value).size === 0;

interface KnownPart {
  readonly component: JudgedComponent;
  /** No field was left out. */
  readonly isWhole: boolean;
}

/** Returns the component without the fields and items that a parameter fills. Null for one without a name, which cannot be identified. */
function knownPart(component: TemplateComponent): KnownPart | null {
  if (!isKnown(component["name"])) return null;
  const { workload_spec: spec, ...rest } = component;
  const known = { ...knownFields(rest), ...(spec === undefined ? {} : { workload_spec: knownFields(spec as object) }) };
  // Without placeholders it has the form of a component, in which `$${` is written for the text `${`.
  const literal = fillPlaceholders(known, () => undefined);
  return { component: literal as JudgedComponent, isWhole: isKnown(component) };
}

function knownFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, Array.isArray(value) ? value.filter(isKnown) : value] as const)
      .filter(([, value]) => isKnown(value)),
  );
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
    .map((name) => ({ path: ["components", index], message: `mentions ${name}, which is not a component` }));
}

/**
 * Templates are stored and shown in plain text, and so are components except for their `secrets` and the secret values
 * of charts. A template therefore never contains a secret, and the value of a secret parameter may only be used in
 * those places, where it is sealed.
 */
function secretProblems(component: TemplateComponent, index: number, parameters: Content["parameters"]): Problem[] {
  const { secrets = {}, ...rest } = component;
  const likely = likelySecretsOf(component);
  const secretValues = secretValuesOf(component, likely);
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
    ...likely
      .filter(({ canBeSealed }) => !canBeSealed)
      .slice(0, MOST_PLACEHOLDERS)
      .map(({ steps, path }) => ({ path: ["components", index, ...VALUES, ...steps], message: unsealable(path) })),
    ...strayReferences(valueAt(component, VALUES)).map(({ loc }) => ({
      path: ["components", index, ...VALUES, ...loc],
      message: "refers to a secret of an app; let a parameter of type secret stand for it",
    })),
  ];
}

const KEPT_SECRET = "is a secret that the template would keep; let a parameter of type secret stand for it";

const unsealable = (path: string) =>
  `looks like a secret and cannot be sealed there; refer to a Secret, or list ${path} in plain_values`;

const VALUES = ["chart_spec", "values"];

const textsAt = (component: TemplateComponent, list: string) =>
  listAt(component, ["chart_spec", list]).filter((path) => typeof path === "string");

function likelySecretsOf(component: TemplateComponent): LikelySecret[] {
  const values = valueAt(component, VALUES);
  return isMap(values) ? likelySecrets(values, isSecretPath, textsAt(component, "plain_values")) : [];
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the secret values of a chart component by path, as an app has them. A path with a placeholder is not known yet. */
function secretValuesOf(component: TemplateComponent, likely: readonly LikelySecret[]): ReadonlyMap<string, unknown> {
  const sealed = likely.filter(({ canBeSealed }) => canBeSealed).map(({ path }) => path);
  return new Map(
    [...textsAt(component, "secret_values"), ...sealed]
      .filter((path) => placeholdersIn(path).size === 0)
      .map((path) => [...VALUES, ...path.split(".")])
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
    if (!definition) return [];
    const given = valueAt(component, ["addon_spec", "values"]);
    const readable = isMap(given) ? readableSecrets(given, definition) : [];
    const kept = definition.secret_values.flatMap((secret) => {
      const path = ["addon_spec", "values", ...secret.split(".")];
      const value = valueAt(component, path);
      if (value === undefined || placeholdersIn(value).size > 0) return [];
      const message = `is a secret that the template would keep; let a parameter of type secret stand for it, as ${secret} of the component's secrets`;
      return [{ path: ["components", index, ...path], message }];
    });
    return [
      ...kept,
      ...readable.map(({ loc }) => ({
        path: ["components", index, "addon_spec", "values", ...loc],
        message: "looks like a secret, and the addon does not seal it; refer to a Secret",
      })),
    ];
  });
}
