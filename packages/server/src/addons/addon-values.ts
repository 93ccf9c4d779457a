import {
  type AddonDefinitionFile,
  isSecretPath,
  likelySecrets,
  type SecretRef,
  type ValidationItem,
  type ValidationType,
} from "@binnacle/contract";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { compileValuesSchema } from "../catalog/catalog-file.ts";
import { stepsAlong } from "../http/validation-item.ts";

/**
 * Values of addon instances. Secrets are split off before anything is stored: they go to the vault, and the values keep
 * a reference in their place.
 */

export type Values = Readonly<Record<string, unknown>>;

/** The owner of the values, with the paths of the secrets that the vault has for it. */
export interface Holder {
  readonly name: string;
  /** The name of the Secret in the cluster; that of an addon instance where it is left out. */
  readonly secretName?: string;
  readonly held: readonly string[];
}

export interface ValueRules {
  readonly default_values: Values;
  readonly secret_values: readonly string[];
  /** Returns the problems of the values, each with its location within the values. */
  readonly check: (values: Values) => readonly ValidationItem[];
  /** Returns the problems of the values as they were given, without the secret ones and without defaults. */
  readonly checkReadable?: (values: Values) => readonly ValidationItem[];
}

type Definition = Pick<AddonDefinitionFile, "default_values" | "secret_values" | "plain_values" | "values_schema">;

/** The rules of a definition, for instances of its addon and for components of apps alike. */
export const rulesOf = (definition: Definition): ValueRules => ({
  ...definition,
  check: (candidate) => valueProblems(definition.values_schema, candidate),
  checkReadable: (given) => readableSecrets(given, definition),
});

/** Every value of a map may look like a secret, and a hundred say enough. */
const MOST_READABLE_SECRETS = 100;

/** What looks like a secret and would not be sealed is refused, because everybody who reads the values would see it. */
export const readableSecrets = (
  values: Values,
  { secret_values, plain_values = [] }: Pick<Definition, "secret_values" | "plain_values">,
): ValidationItem[] =>
  likelySecrets(values, isSecretPath, [...secret_values, ...plain_values])
    .slice(0, MOST_READABLE_SECRETS)
    .map(({ steps }) => ({ loc: [...steps], msg: READABLE_SECRET, type: "value_error" }));

const READABLE_SECRET =
  "It looks like a secret, and the addon does not seal it: refer to a Secret of your own, or use the chart as a component of the " +
  "type chart, which seals it";

export interface ResolvedValues {
  /** The values without secrets, as they are stored and shown. */
  readonly values: Values;
  /** The secrets of the request, by path. */
  readonly given: ReadonlyMap<string, string>;
  /** The paths of secrets that are neither in the request nor in the vault. They are generated. */
  readonly missing: readonly string[];
}

/** Names the secrets of a request for the audit log. */
export const auditedSecrets = (resolved: ResolvedValues | null): Record<string, "changed"> =>
  Object.fromEntries([...(resolved?.given.keys() ?? [])].map((path) => [`secrets.${path}`, "changed"]));

/** The reference to the Secret in the cluster. A path is a valid key of a Secret. */
export const secretRefOf = (instanceName: string, path: string): SecretRef =>
  refIn(addonSecretName(instanceName), path);

const addonSecretName = (instanceName: string) => `${instanceName}-addon-values`;
const refIn = (secretName: string, path: string): SecretRef => ({ secret_ref: { name: secretName, key: path } });

/** Splits the values of a request into what is stored and what is secret, or returns all problems. */
export function resolveValues(
  values: Values,
  rules: ValueRules,
  holder: Holder,
): ResolvedValues | { readonly problems: readonly ValidationItem[] } {
  const paths = [...new Set([...rules.secret_values, ...holder.held])];
  const secretName = holder.secretName ?? addonSecretName(holder.name);
  const found = new Map(paths.map((path) => [path, through(values, stepsOf(path))]));
  const isKept = (path: string) => holder.held.includes(path) && isRef(found.get(path), refIn(secretName, path));
  const changed = paths.filter((path) => found.get(path) !== undefined && !isKept(path));
  const open = paths.filter((path) => !changed.includes(path));

  const candidate = overlay(rules.default_values, withoutPaths(values, open));
  const problems = onePerPlace([
    ...paths.flatMap((path) => obstacle(values, stepsOf(path))),
    ...changed.flatMap((path) => textProblem(path, found.get(path))),
    ...strayReferences(withoutPaths(values, paths)),
    // A secret that is not in the request is not missing: the vault has it, or it is generated.
    ...rules.check(candidate).filter(({ loc, type }) => type !== "missing" || !open.some((path) => leadsTo(path, loc))),
    ...(rules.checkReadable?.(withoutPaths(values, paths)) ?? []),
  ]);
  if (problems.length > 0) return { problems };

  return {
    values: withReferences(values, paths, secretName),
    given: new Map(changed.map((path) => [path, String(found.get(path))])),
    missing: open.filter((path) => !holder.held.includes(path)),
  };
}

/** Puts a reference at every path, whether or not there was a value. */
export const redactValues = (values: Values, paths: readonly string[], instanceName: string): Values =>
  withReferences(values, paths, addonSecretName(instanceName));

export const withReferences = (values: Values, paths: readonly string[], secretName: string): Values =>
  withReferencesAt(values, treeOf(paths), (path) => refIn(secretName, path));

/** Paths by their steps, so that a map is copied once, however many paths lead through it. */
interface PathTree {
  /** The path that ends here; null where others only lead through. */
  end: string | null;
  readonly below: Map<string, PathTree>;
}

function treeOf(paths: readonly string[]): PathTree {
  const top: PathTree = { end: null, below: new Map() };
  for (const path of paths) {
    let at = top;
    for (const step of stepsOf(path)) {
      const next = at.below.get(step) ?? { end: null, below: new Map() };
      at.below.set(step, next);
      at = next;
    }
    at.end = path;
  }
  return top;
}

/** Merges values as Helm does: maps are merged, everything else is replaced. */
export function overlay(below: Values, above: Values): Values {
  const merged = Object.entries(above).map(([key, value]) => {
    const under = Object.hasOwn(below, key) ? below[key] : undefined;
    return [key, isMap(under) && isMap(value) ? overlay(under, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(merged) };
}

const stepsOf = (path: string) => path.split(".");

const leadsTo = (path: string, loc: ValidationItem["loc"]) => JSON.stringify(stepsOf(path)) === JSON.stringify(loc);

/** Returns the value at the path, or undefined. Lists are not entered. */
function through(values: Values, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (inner, step) => (isMap(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
    values,
  );
}

/** Reports the first value on the path to a secret that is not a map. */
function obstacle(values: Values, steps: readonly string[]): ValidationItem[] {
  const ways = steps.slice(1).map((_, index) => steps.slice(0, index + 1));
  const loc = ways.find((way) => {
    const value = through(values, way);
    return value !== undefined && !isMap(value);
  });
  return loc ? [{ loc, msg: "Input should be a valid dictionary", type: "dict_type" }] : [];
}

function textProblem(path: string, value: unknown): ValidationItem[] {
  if (typeof value === "string") return [];
  const loc = stepsOf(path);
  return isMap(value) && Object.hasOwn(value, "secret_ref")
    ? [strayReference(loc)]
    : [{ loc, msg: "Input should be a valid string", type: "string_type" }];
}

function isReference(value: unknown): boolean {
  const given = isMap(value) ? value["secret_ref"] : undefined;
  return isMap(given) && typeof given["name"] === "string" && typeof given["key"] === "string";
}

const strayReference = (loc: ValidationItem["loc"]): ValidationItem => ({
  loc,
  msg: "A reference stands only for the secret that was read at this place; give the value itself",
  type: "value_error",
});

/** A reference where no secret is would reach the chart as a map in place of the value. */
export function strayReferences(value: unknown, loc: ValidationItem["loc"] = []): ValidationItem[] {
  if (isReference(value)) return [strayReference(loc)];
  if (Array.isArray(value)) return value.flatMap((item, index) => strayReferences(item, [...loc, index]));
  return isMap(value) ? Object.entries(value).flatMap(([key, item]) => strayReferences(item, [...loc, key])) : [];
}

function isRef(value: unknown, { secret_ref: { name, key } }: SecretRef): boolean {
  if (!isMap(value) || Object.keys(value).length !== 1) return false;
  const given = value["secret_ref"];
  return isMap(given) && Object.keys(given).length === 2 && given["name"] === name && given["key"] === key;
}

function withReferencesAt(values: Values, { below }: PathTree, refTo: (path: string) => SecretRef): Values {
  const entries = new Map<string, unknown>(Object.entries(values));
  for (const [step, node] of below) {
    const inner = node.end === null ? entries.get(step) : refTo(node.end);
    const isLast = node.end !== null && node.below.size === 0;
    entries.set(step, isLast ? inner : withReferencesAt(isMap(inner) ? inner : {}, node, refTo));
  }
  return Object.fromEntries(entries);
}

/** Returns the values without those at the paths. */
export const withoutPaths = (values: Values, paths: readonly string[]): Values =>
  paths.length === 0 ? values : withoutTree(values, treeOf(paths));

function withoutTree(values: Values, { below }: PathTree): Values {
  const kept = Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
    const node = below.get(key);
    if (!node) return [[key, value]];
    if (node.end !== null) return [];
    return [[key, isMap(value) ? withoutTree(value, node) : value]];
  });
  return Object.fromEntries(kept);
}

const isMap = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);

function onePerPlace(items: readonly ValidationItem[]): ValidationItem[] {
  return [...new Map(items.toReversed().map((item) => [JSON.stringify(item.loc), item])).values()].reverse();
}

type Schema = AddonDefinitionFile["values_schema"];

/** Caches the compiled schema of each definition. */
const compiled = new WeakMap<Schema, ValidateFunction>();

function validatorOf(schema: Schema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const made = compileValuesSchema(schema);
  compiled.set(schema, made);
  return made;
}

/** Validates values by the schema of the definition. Messages never contain the values. */
export function valueProblems(schema: Schema, values: Values): ValidationItem[] {
  const validate = validatorOf(schema);
  if (validate(values)) return [];
  return (validate.errors ?? []).map((error) => itemOf(stepsAlong(error.instancePath, values), error));
}

const TYPES: Readonly<Record<string, ValidationType>> = {
  string: "string_type",
  integer: "int_type",
  number: "float_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
};

const KEYWORDS: Readonly<Record<string, ValidationType>> = {
  minimum: "greater_than_equal",
  exclusiveMinimum: "greater_than",
  maximum: "less_than_equal",
  exclusiveMaximum: "less_than",
  minLength: "string_too_short",
  maxLength: "string_too_long",
  pattern: "string_pattern_mismatch",
  minItems: "too_short",
  minProperties: "too_short",
  maxItems: "too_long",
  maxProperties: "too_long",
};

function itemOf(
  loc: ValidationItem["loc"],
  { keyword, params, message = "is not valid" }: ErrorObject,
): ValidationItem {
  switch (keyword) {
    case "required":
      return { loc: [...loc, params["missingProperty"]], msg: "Field required", type: "missing" };
    case "additionalProperties":
      return {
        loc: [...loc, params["additionalProperty"]],
        msg: "Extra inputs are not permitted",
        type: "extra_forbidden",
      };
    case "enum":
      return { loc, msg: `Input should be one of ${JSON.stringify(params["allowedValues"])}`, type: "enum" };
    case "const":
      return { loc, msg: `Input should be ${JSON.stringify(params["allowedValue"])}`, type: "enum" };
    default: {
      const type = keyword === "type" ? TYPES[String(params["type"])] : KEYWORDS[keyword];
      return { loc, msg: `Input ${message.replace(/^must/, "should")}`, type: type ?? "value_error" };
    }
  }
}
