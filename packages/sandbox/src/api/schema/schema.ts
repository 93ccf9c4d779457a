export type ScalarType =
  | "string"
  | "integer"
  | "int64"
  | "number"
  | "boolean"
  | "bytes"
  | "Quantity"
  | "IntOrString"
  | "Time"
  | "MicroTime";

/** How elements of a list are identified when two lists are merged. */
export type ListRelation = "atomic" | "set" | "map";

/** The schema of a value, from Kubernetes itself or from a custom resource definition. */
export type Schema =
  | { readonly is: "scalar"; readonly type: ScalarType; readonly values?: readonly string[] }
  | { readonly is: "any" }
  | { readonly is: "list"; readonly items: Schema; readonly relation: ListRelation; readonly keys: readonly string[] }
  | { readonly is: "map"; readonly values: Schema; readonly isAtomic: boolean }
  | StructSchema;

export interface StructSchema {
  readonly is: "struct";
  readonly fields: ReadonlyMap<string, Field>;
  readonly isAtomic: boolean;
  /** Fields that are not declared are kept. */
  readonly isOpen: boolean;
  /** `core.v1.Pod`; custom kinds have none. */
  readonly type?: string;
}

export interface Field {
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly default?: unknown;
  /** Whether an empty value is left out, kept when given, or present even when not given. */
  readonly whenEmpty: "omit" | "keep" | "always";
  /** How a strategic merge patch treats the field; the key is empty for lists of scalars. */
  readonly mergeKey?: string;
  readonly isRetainingKeys: boolean;
  readonly isReplaced: boolean;
}

export const ANY: Schema = { is: "any" };

/** The schema of a field; undefined where no value is allowed. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  if (schema.is === "struct") return schema.fields.get(name)?.schema ?? (schema.isOpen ? ANY : undefined);
  if (schema.is === "map") return schema.values;
  return schema.is === "any" ? ANY : undefined;
}

/** Whether the name is one of a fixed set of fields rather than a key that somebody chose. */
export const isNamedField = (schema: Schema, name: string): boolean =>
  schema.is === "struct" && schema.fields.has(name);
