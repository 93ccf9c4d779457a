import type { TSchema } from "typebox";

interface Shape {
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

/** A value that the schema accepts, put together from the examples its fields carry. */
export function exampleOf(schema: TSchema): unknown {
  return example(schema as Shape);
}

function example(shape: Shape): unknown {
  if (shape.examples?.length) return shape.examples[0];
  if (shape.default !== undefined) return shape.default;
  if (shape.const !== undefined) return shape.const;
  if (shape.enum?.length) return shape.enum[0];
  if (shape.anyOf?.[0]) return example(shape.anyOf[0]);
  switch (shape.type ?? "string") {
    case "object":
      return Object.fromEntries(Object.entries(shape.properties ?? {}).map(([name, field]) => [name, example(field)]));
    case "array":
      return shape.items ? [example(shape.items)] : [];
    case "boolean":
      return false;
    case "integer":
    case "number":
      return 1;
    case "null":
      return null;
    default:
      return "text";
  }
}
