import type { AddonDefinition, TemplateParameter } from "@binnacle/client";
import { fill, type Typed, typedDefaults } from "../templates/parameters.ts";

export type Values = Readonly<Record<string, unknown>>;
type Schema = Readonly<Record<string, unknown>>;

/** One field of the form of an addon's values. A parameter of a template asks for the same kinds of things. */
export interface ValueField {
  readonly path: readonly string[];
  readonly label: string;
  /** The first part of the path in words; fields of a group stand together. */
  readonly group: string;
  /** Its name is the dotted path. */
  readonly parameter: TemplateParameter;
  /** A list or a shape that has no field of its own is written as JSON. */
  readonly isJson: boolean;
}

/**
 * The fields of a definition's schema. Values that can only be one thing are left out. The schemas of the shipped catalog use
 * objects, `$ref` into `$defs`, text, numbers, booleans, `enum`, `const` and arrays; everything else is asked for as JSON.
 */
export function fieldsOf(
  definition: Pick<AddonDefinition, "values_schema" | "default_values" | "secret_values">,
): readonly ValueField[] {
  const { values_schema, default_values, secret_values } = definition;
  return fieldsUnder(values_schema, [], {
    root: values_schema,
    defaults: default_values,
    secrets: new Set(secret_values),
  });
}

interface Context {
  readonly root: Schema;
  readonly defaults: Values;
  readonly secrets: ReadonlySet<string>;
}

const DEEPEST = 8;

function fieldsUnder(given: Schema, path: readonly string[], context: Context): readonly ValueField[] {
  const schema = resolved(given, context.root);
  const properties = schema["properties"];
  if (isMap(properties) && path.length < DEEPEST) {
    return Object.entries(properties).flatMap(([key, inner]) =>
      isMap(inner) && key !== "__proto__" ? fieldsUnder(inner, [...path, key], context) : [],
    );
  }
  if (path.length === 0 || "const" in schema || schema["maxItems"] === 0) return [];
  return [fieldOf(schema, path, context)];
}

function fieldOf(schema: Schema, path: readonly string[], { defaults, secrets }: Context): ValueField {
  const name = path.join(".");
  const preset = at(defaults, path);
  const isSecret = secrets.has(name);
  const type = isSecret ? "secret" : typeOf(schema);
  const isJson = type === null;
  const limits = {
    min: numberIn(schema, "minimum") ?? numberIn(schema, "minLength"),
    max: numberIn(schema, "maximum") ?? numberIn(schema, "maxLength"),
    pattern: textIn(schema, "pattern"),
    description: textIn(schema, "description"),
    options: Array.isArray(schema["enum"]) ? (schema["enum"].filter(isScalar) as (string | number)[]) : undefined,
    default: !isSecret && isScalar(preset) ? preset : undefined,
  };
  const present = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
  return {
    path,
    label: textIn(schema, "title") ?? words(path.length > 2 ? path.slice(-2).join(" ") : (path.at(-1) ?? "")),
    group: path.length > 1 ? words(path[0] ?? "") : "",
    parameter: { name, type: type ?? "string", ...present },
    isJson,
  };
}

/** A `$ref` into the schema itself, with what stands beside it. */
function resolved(schema: Schema, root: Schema): Schema {
  const target = schema["$ref"];
  if (typeof target !== "string" || !target.startsWith("#/")) return schema;
  const found = at(root, target.slice(2).split("/"));
  const { $ref: _, ...beside } = schema;
  return isMap(found) && !("$ref" in found) ? { ...found, ...beside } : beside;
}

function typeOf(schema: Schema): TemplateParameter["type"] | null {
  if (Array.isArray(schema["enum"])) return "select";
  const type = schema["type"];
  return type === "string" || type === "integer" || type === "number" || type === "boolean" ? type : null;
}

/** The form as it opens: what was set, else the default. Secrets are never filled in. */
export function typedValues(fields: readonly ValueField[], values: Values): Typed {
  const typed: Record<string, string | boolean> = { ...typedDefaults(fields.map(({ parameter }) => parameter)) };
  for (const { path, parameter, isJson } of fields) {
    const value = at(values, path);
    if (value === undefined || parameter.type === "secret") continue;
    const isChoice = typeof typed[parameter.name] !== "boolean" && (parameter.options || parameter.type === "boolean");
    typed[parameter.name] =
      isJson || isChoice || (typeof value !== "boolean" && typeof value !== "string") ? JSON.stringify(value) : value;
  }
  return typed;
}

export interface ReadValues {
  readonly values: Values;
  readonly problems: Readonly<Record<string, string>>;
}

/**
 * The values that are sent: those that were set before, with what was changed in the form. A field that is emptied takes the
 * default again; a secret that is left empty stays what it is; what the form does not show is kept.
 */
export function readValues(fields: readonly ValueField[], typed: Typed, before: Values): ReadValues {
  const opened = typedValues(fields, before);
  const plain = fields.filter(({ isJson }) => !isJson).map(({ parameter }) => parameter);
  const { values: given, problems: found } = fill(plain, typed);
  const problems: Record<string, string> = { ...found };
  let values: Values = before;
  for (const { path, parameter, isJson } of fields) {
    const { name, type } = parameter;
    if (typed[name] === opened[name]) continue;
    if (Object.hasOwn(given, name)) values = set(values, path, given[name]);
    else if (isJson && typed[name] !== "") {
      const parsed = parsedJson(String(typed[name]));
      if (parsed === undefined) problems[name] = "This is not valid JSON.";
      else values = set(values, path, parsed);
    } else if (type !== "secret") values = set(values, path, undefined);
  }
  return { values, problems };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A copy with the value at the path, or without it. Maps that become empty go too. */
function set(values: Values, [key = "", ...rest]: readonly string[], value: unknown): Values {
  const { [key]: current, ...others } = values;
  if (rest.length === 0) return value === undefined ? others : { ...others, [key]: value };
  const inner = set(isMap(current) ? current : {}, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...others, [key]: inner };
}

/** The names of the secrets that are set already. */
export const heldSecrets = (fields: readonly ValueField[], values: Values): ReadonlySet<string> =>
  new Set(
    fields.flatMap(({ path, parameter }) => {
      const value = at(values, path);
      return isMap(value) && "secret_ref" in value ? [parameter.name] : [];
    }),
  );

/** The values without those that are secret, for commands that are shown. */
export function shownAddonValues(fields: readonly ValueField[], values: Values): Values {
  return fields
    .filter(({ parameter, path }) => parameter.type === "secret" && typeof at(values, path) === "string")
    .reduce((shown, { path }) => set(shown, path, "…"), values);
}

function at(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isMap(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    values,
  );
}

const isMap = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): value is string | number | boolean => /^(string|number|boolean)$/.test(typeof value);
const numberIn = (schema: Schema, key: string) => (typeof schema[key] === "number" ? schema[key] : undefined);
const textIn = (schema: Schema, key: string) => (typeof schema[key] === "string" ? schema[key] : undefined);

/** `maxMemory` as "Max memory". */
function words(key: string): string {
  const spaced = key.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
