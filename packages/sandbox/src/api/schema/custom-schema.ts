import { isRecord, type JsonRecord } from "../fields/typed-value.ts";
import { kubernetesSchema } from "./kubernetes-schema.ts";
import { ANY, type Field, type ScalarType, type Schema, type StructSchema } from "./schema.ts";

const SCALARS: Readonly<Record<string, ScalarType>> = {
  string: "string",
  integer: "int64",
  number: "number",
  boolean: "boolean",
};

/** The schema of a custom kind, from the `openAPIV3Schema` of its definition. */
export function customSchema(openApi: unknown): StructSchema {
  const root = isRecord(openApi) ? schemaOf(openApi) : ANY;
  const declared = root.is === "struct" ? root.fields : new Map<string, Field>();
  const isOpen = root.is === "any" || (root.is === "struct" && root.isOpen) || declared.size === 0;
  const text: Field = field({ is: "scalar", type: "string" });
  const metadata = { ...field(kubernetesSchema("meta.v1.ObjectMeta")), whenEmpty: "always" } as const;
  const fields = new Map([...declared, ["apiVersion", text], ["kind", text], ["metadata", metadata]] as const);
  return { is: "struct", fields, isAtomic: false, isOpen };
}

const field = (schema: Schema): Field => ({
  schema,
  isRequired: false,
  whenEmpty: "keep",
  isRetainingKeys: false,
  isReplaced: false,
});

function schemaOf(openApi: JsonRecord): Schema {
  if (openApi["x-kubernetes-int-or-string"] === true) return { is: "scalar", type: "IntOrString" };
  const { type, items, additionalProperties } = openApi;
  if (type === "array") return listOf(openApi, isRecord(items) ? schemaOf(items) : ANY);
  if (type !== "object") return typeof type === "string" && SCALARS[type] ? { is: "scalar", type: SCALARS[type] } : ANY;
  const isAtomic = openApi["x-kubernetes-map-type"] === "atomic";
  if (isRecord(additionalProperties)) return { is: "map", values: schemaOf(additionalProperties), isAtomic };
  const isOpen = openApi["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  if (!isRecord(openApi["properties"]) && isOpen && !isAtomic) return ANY;
  return { is: "struct", fields: fieldsOf(openApi), isAtomic, isOpen };
}

function fieldsOf({ properties, required }: JsonRecord): Map<string, Field> {
  const names = new Set(Array.isArray(required) ? required : []);
  const entries = isRecord(properties) ? Object.entries(properties) : [];
  return new Map(
    entries
      .filter((entry): entry is [string, JsonRecord] => isRecord(entry[1]))
      .map(([name, inner]) => [
        name,
        {
          ...field(schemaOf(inner)),
          isRequired: names.has(name),
          ...(inner["default"] === undefined ? {} : { default: inner["default"] }),
        },
      ]),
  );
}

function listOf(openApi: JsonRecord, items: Schema): Schema {
  const relation = openApi["x-kubernetes-list-type"];
  const keys = openApi["x-kubernetes-list-map-keys"];
  return {
    is: "list",
    items,
    relation: relation === "map" || relation === "set" ? relation : "atomic",
    keys: Array.isArray(keys) ? keys : [],
  };
}
