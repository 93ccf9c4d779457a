import { isRecord, type JsonRecord } from "../fields/typed-value.ts";
import { canonicalQuantity } from "./quantity.ts";
import type { Field, ScalarType, Schema, StructSchema } from "./schema.ts";

/** A value that is not of the type that its field has. */
export class WrongType extends Error {
  override readonly name = "WrongType";
}

export interface NormalizeOptions {
  /** Told each field that the schema does not know, like `spec.template.foo`. It is left out. */
  readonly onUnknown?: (path: string) => void;
  /** Fields that a value of a type gets when it has none. */
  readonly defaultsOf?: (type: string | undefined, value: JsonRecord) => JsonRecord | undefined;
}

/** The object as the server keeps it: only fields that it knows, empty values left out, quantities in one form. */
export function normalize(schema: Schema, value: unknown, options: NormalizeOptions = {}, path = ""): unknown {
  switch (schema.is) {
    case "any":
      return value;
    case "scalar":
      return scalar(schema.type, value, path);
    case "list":
      if (!Array.isArray(value)) throw wrong(path, "array", value);
      return value.map((element, at) =>
        normalize(schema.items, element ?? emptyOf(schema.items), options, `${path}[${at}]`),
      );
    case "map":
      if (!isRecord(value)) throw wrong(path, "object", value);
      return mapped(value, (inner, name) =>
        normalize(schema.values, inner ?? emptyOf(schema.values), options, join(path, name)),
      );
    case "struct":
      if (!isRecord(value)) throw wrong(path, "object", value);
      return struct(schema, value, options, path);
  }
}

function struct(schema: StructSchema, given: JsonRecord, options: NormalizeOptions, path: string): JsonRecord {
  const value = { ...given, ...options.defaultsOf?.(schema.type, given) };
  const result: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const field = schema.fields.get(name);
    if (!field) {
      if (schema.isOpen) result[name] = inner;
      else options.onUnknown?.(join(path, name));
      continue;
    }
    if (inner === null || inner === undefined) continue;
    const normal = normalize(field.schema, inner, options, join(path, name));
    if (field.whenEmpty !== "omit" || !isEmptyValue(normal, field)) result[name] = normal;
  }
  for (const [name, field] of schema.fields) {
    if (result[name] !== undefined) continue;
    if (field.default !== undefined) result[name] = structuredClone(field.default);
    else if (field.whenEmpty === "always")
      fill(result, name, field.schema, () => struct(field.schema as StructSchema, {}, options, join(path, name)));
  }
  return result;
}

const PLAIN: readonly ScalarType[] = ["string", "integer", "int64", "number", "boolean"];

/** Go writes such a field even when nobody has set it. */
function fill(result: Record<string, unknown>, name: string, schema: Schema, empty: () => JsonRecord): void {
  if (schema.is === "struct") result[name] = empty();
  else if (schema.is === "scalar" && PLAIN.includes(schema.type)) result[name] = emptyOf(schema);
}

function isEmptyValue(value: unknown, { schema }: Field): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return schema.is === "map" && isRecord(value) && Object.keys(value).length === 0;
}

function scalar(type: ScalarType, value: unknown, path: string): unknown {
  switch (type) {
    case "boolean":
      if (typeof value !== "boolean") throw wrong(path, "bool", value);
      return value;
    case "integer":
    case "int64":
      if (typeof value !== "number" || !Number.isInteger(value))
        throw wrong(path, type === "int64" ? type : "int32", value);
      return value;
    case "number":
      if (typeof value !== "number") throw wrong(path, "float64", value);
      return value;
    case "IntOrString":
      if (typeof value !== "string" && typeof value !== "number") throw wrong(path, "intstr.IntOrString", value);
      return value;
    case "Quantity":
      return quantity(value);
    case "bytes":
      if (typeof value !== "string") throw wrong(path, "[]uint8", value);
      if (!isBase64(value)) throw new WrongType("illegal base64 data at input byte 0");
      return value;
    case "string":
    case "Time":
    case "MicroTime":
      if (typeof value !== "string") throw wrong(path, "string", value);
      return value;
  }
}

function quantity(value: unknown): string {
  const text = typeof value === "string" || typeof value === "number" ? canonicalQuantity(value) : null;
  if (text !== null) return text;
  throw new WrongType("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

const isBase64 = (text: string) =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replaceAll(/[\r\n]/g, ""));

/** The zero value that Go makes of a null. */
function emptyOf(schema: Schema): unknown {
  if (schema.is === "list") return [];
  if (schema.is !== "scalar") return {};
  return schema.type === "boolean" ? false : ["integer", "int64", "number"].includes(schema.type) ? 0 : "";
}

/** An object of the kind on which nothing is set, as it is compared with what is created. */
export function hollow(schema: StructSchema): JsonRecord {
  const fields = [...schema.fields].filter(([, { whenEmpty }]) => whenEmpty === "always");
  return Object.fromEntries(
    fields.map(([name, { schema: inner }]) => [
      name,
      inner.is === "struct" ? hollow(inner) : inner.is === "scalar" ? emptyOf(inner) : null,
    ]),
  );
}

function mapped(value: JsonRecord, change: (inner: unknown, name: string) => unknown): JsonRecord {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner, name)]));
}

const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

function wrong(path: string, type: string, value: unknown): WrongType {
  const got = Array.isArray(value)
    ? "array"
    : value === null
      ? "null"
      : typeof value === "boolean"
        ? "bool"
        : typeof value;
  return new WrongType(`json: cannot unmarshal ${got} into Go struct field ${path} of type ${type}`);
}
