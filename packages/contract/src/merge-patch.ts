import Type, { type TSchema } from "typebox";
import { Nullable } from "./fields.ts";

interface Shape extends TSchema {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

/**
 * The fields of a merge patch (RFC 7396) of an object: each may be left out, and null removes it. Lists are replaced as
 * a whole. A patch has no defaults and no rules between fields, because those apply to the patched value.
 */
export const mergePatchFields = (fields: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(nullablePatchOf(field))]));

function mergePatchOf(schema: TSchema): TSchema {
  const shape = bare(schema);
  if (shape.properties) {
    const { required: _required, allOf: _rules, ...rest } = shape as Shape & { required?: unknown; allOf?: unknown };
    const { title } = schema as Shape;
    return {
      ...rest,
      ...(title ? { title: `${title}Patch` } : {}),
      properties: each(shape.properties, nullablePatchOf),
    };
  }
  if (shape.patternProperties) return { ...shape, patternProperties: each(shape.patternProperties, nullablePatchOf) };
  return withoutDefaults(shape);
}

/** An unconstrained value may be null already, so `Nullable` would add nothing. */
const nullablePatchOf = (schema: TSchema): TSchema =>
  Object.keys(schema).length === 0 ? Type.Unknown() : Nullable(mergePatchOf(schema));

/** The same schema without defaults, which apply to the patched value too. */
function withoutDefaults(schema: TSchema): TSchema {
  if (!JSON.stringify(schema).includes('"default":')) return schema;
  const shape = bare(schema);
  if (shape.properties) return { ...shape, properties: each(shape.properties, withoutDefaults) };
  return shape.items ? { ...shape, items: withoutDefaults(shape.items) } : shape;
}

function bare(schema: TSchema): Shape {
  const { title: _title, default: _default, ...shape } = schema as Shape & { default?: unknown };
  return shape;
}

const each = (shapes: Readonly<Record<string, Shape>>, change: (shape: Shape) => TSchema) =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, change(shape)]));

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Applies a merge patch (RFC 7396): null removes a field, objects are merged, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
