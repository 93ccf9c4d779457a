import { withoutRules } from "@binnacle/contract";
import type { TSchema } from "typebox";

/**
 * The schema that serializes an answer, without rules between fields, which apply to input only. The choices of a union are
 * validated at every answer until one fits, by code that takes long to compile. So `null or X` becomes a nullable X, and a
 * union of scalars becomes a value of any type.
 */
export const answerSchema = (schema: TSchema): TSchema => written(withoutRules(schema));

function written(schema: TSchema): TSchema {
  const { anyOf, ...rest } = schema as TSchema & { anyOf?: readonly TSchema[] };
  const [given, ...others] = anyOf?.filter((choice) => !isNull(choice)) ?? [];
  if (given && others.length === 0 && anyOf?.length === 2 && isOfOneType(given)) {
    return { ...rest, ...written(given), nullable: true };
  }
  if (anyOf?.every(isScalar)) return rest;
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inner(keyword, value)]));
}

const isNull = (schema: TSchema) => "type" in schema && schema["type"] === "null";

const SCALARS: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "null"]);

function isScalar(schema: TSchema): boolean {
  const { type, anyOf, ...rest } = schema as TSchema & { type?: unknown; anyOf?: readonly TSchema[] };
  return anyOf ? anyOf.every(isScalar) : SCALARS.has(type) || "enum" in rest || "const" in rest;
}

/** Ajv accepts `nullable` only beside a type, and null is not among the values of an `enum`. */
const isOfOneType = (schema: TSchema) => "type" in schema && !("enum" in schema || "const" in schema);

/** Recurses only into keywords that contain schemas: examples and defaults are data. */
function inner(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case "properties":
    case "patternProperties":
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, schema]) => [name, written(schema)]),
      );
    case "items":
    case "additionalProperties":
      return typeof value === "object" && value !== null && !Array.isArray(value) ? written(value) : value;
    case "anyOf":
    case "oneOf":
      return (value as readonly TSchema[]).map(written);
    default:
      return value;
  }
}
