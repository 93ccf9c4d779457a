import { isSecretPath, valueAt } from "@binnacle/contract";

/** Infers a JSON Schema from the values of a chart that has none. It only describes the values. */
export function inferSchema(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (Array.isArray(value)) return { ...shapeOfList(value), default: value };
  if (typeof value !== "object") return { type: typeOf(value), default: value };
  const properties = Object.entries(value).map(([key, item]) => [key, inferSchema(item)] as const);
  return { type: "object", properties: Object.fromEntries(properties) };
}

function typeOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : "string";
}

/** Describes the items of a list if all have the same shape. */
function shapeOfList(items: readonly unknown[]): Record<string, unknown> {
  const shapes = new Map(items.map(shapeOf).map((shape) => [JSON.stringify(shape), shape]));
  const [only] = shapes.values();
  return { type: "array", ...(shapes.size === 1 && only ? { items: only } : {}) };
}

/** Like `inferSchema` without defaults, because the values of one item are not defaults for others. */
function shapeOf(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (Array.isArray(value)) return shapeOfList(value);
  if (typeof value !== "object") return { type: typeOf(value) };
  const properties = Object.entries(value).map(([key, item]) => [key, shapeOf(item)] as const);
  return { type: "object", properties: Object.fromEntries(properties) };
}

const DEEPEST = 20;
/** A schema that refers to itself twice would otherwise be visited a million times. */
const MOST_VISITS = 10_000;
/** The most secret paths that a component may have. */
const MOST_PATHS = 100;

/**
 * Returns the dotted paths of secrets in a chart's schema: text with `x-secret: true` or `format: password`. It follows
 * properties, local references and `allOf`, and skips what a path cannot express, such as items of a list.
 */
export function secretPathsIn(schema: unknown): string[] {
  const paths = new Set<string>();
  let visits = 0;

  function walk(part: unknown, steps: readonly string[]): void {
    if (steps.length > DEEPEST || paths.size >= MOST_PATHS || ++visits > MOST_VISITS) return;
    const meant = resolved(schema, part);
    const path = steps.join(".");
    if (isSecretText(meant) && isSecretPath(path)) paths.add(path);
    for (const [name, inner] of Object.entries(mapOf(valueAt(meant, ["properties"])))) {
      if (!name.includes(".")) walk(inner, [...steps, name]);
    }
    const all = valueAt(meant, ["allOf"]);
    // `allOf` stays at the same path, so only the count of visits would end a circular schema.
    for (const one of Array.isArray(all) ? all : []) walk({ ...mapOf(resolved(schema, one)), allOf: undefined }, steps);
  }

  walk(schema, []);
  return [...paths];
}

function isSecretText(schema: unknown): boolean {
  const type = valueAt(schema, ["type"]);
  const isText = type === undefined || [type].flat().includes("string");
  return isText && (valueAt(schema, ["x-secret"]) === true || valueAt(schema, ["format"]) === "password");
}

/** Follows one reference only, so that a circular schema ends. */
function resolved(root: unknown, schema: unknown): unknown {
  const reference = valueAt(schema, ["$ref"]);
  if (typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  return { ...mapOf(valueAt(root, reference.slice(2).split("/"))), ...mapOf(schema), $ref: undefined };
}

const mapOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
