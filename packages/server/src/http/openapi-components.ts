import { exampleOf } from "@binnacle/contract";
import type { TSchema } from "typebox";

export type Json = Record<string, unknown>;

/** Where a JSON Schema holds other schemas; everything else in it is plain data, whatever its keys are called. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs"]);
const SCHEMA_LISTS = new Set(["anyOf", "allOf", "oneOf", "prefixItems"]);
const SCHEMAS = new Set([
  "items",
  "additionalProperties",
  "propertyNames",
  "contains",
  "contentSchema",
  "not",
  "if",
  "then",
  "else",
]);

/** The parts of the document that operations share, gathered while the operations are described. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();

  /** A schema with a title becomes a component and is referred to by it. */
  schema(schema: TSchema): Json {
    const { title, ...rest } = schema as Json;
    const described = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.#inner(key, value)]));
    if (typeof title !== "string") return described;
    return refer("schemas", this.#schemas, title, described);
  }

  response(name: string, response: Json): Json {
    return refer("responses", this.#responses, name, response);
  }

  content(type: string, schema: TSchema, example: unknown = exampleOf(schema)): Json {
    return { [type]: { schema: this.schema(schema), example } };
  }

  /** By name, so that the order in which routes are registered does not show. */
  toJSON(): Json {
    return { schemas: byName(this.#schemas), responses: byName(this.#responses) };
  }

  #inner(key: string, value: unknown): unknown {
    const asSchema = (inner: unknown) => (typeof inner === "object" ? this.schema(inner as TSchema) : inner);
    if (SCHEMAS.has(key)) return asSchema(value);
    if (SCHEMA_LISTS.has(key)) return (value as unknown[]).map(asSchema);
    if (!SCHEMA_MAPS.has(key)) return value;
    return Object.fromEntries(Object.entries(value as Json).map(([name, inner]) => [name, asSchema(inner)]));
  }
}

function refer(kind: string, known: Map<string, Json>, name: string, described: Json): Json {
  const earlier = known.get(name);
  if (earlier && JSON.stringify(earlier) !== JSON.stringify(described))
    throw new Error(`Two ${kind} are called ${name}.`);
  known.set(name, described);
  return { $ref: `#/components/${kind}/${name}` };
}

const byName = (parts: Map<string, Json>): Json => Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1)));
