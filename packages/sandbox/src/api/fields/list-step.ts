import { fieldSchema, type Schema } from "../schema/schema.ts";

type ListSchema = Extract<Schema, { is: "list" }>;

/** A list cannot be merged because its elements cannot be told apart. */
export class UnidentifiedElement extends Error {
  override readonly name = "UnidentifiedElement";
}

/** The step that identifies an element of a list whose elements are told apart. */
export function stepOfElement(list: ListSchema, element: unknown): string {
  if (list.relation === "set") {
    if (typeof element === "object")
      throw new UnidentifiedElement("associative list without keys has an element that's a map type");
    return `v:${JSON.stringify(element)}`;
  }
  if (typeof element !== "object" || element === null) {
    throw new UnidentifiedElement("associative list with keys may not have non-map elements");
  }
  const keys: Record<string, unknown> = {};
  for (const name of list.keys.toSorted()) {
    const value = (element as Record<string, unknown>)[name] ?? defaultOf(list.items, name);
    if (value !== undefined) keys[name] = value;
  }
  if (Object.keys(keys).length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(" ");
    throw new UnidentifiedElement(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${JSON.stringify(keys)}`;
}

function defaultOf(items: Schema, name: string): unknown {
  if (items.is !== "struct") return undefined;
  const field = items.fields.get(name);
  return field && fieldSchema(items, name) ? field.default : undefined;
}
