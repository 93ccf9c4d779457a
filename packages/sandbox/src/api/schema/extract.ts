import { type Emptiness, type GoField, longName, shortName } from "./go-types.ts";

interface OpenApiProperty {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: OpenApiProperty;
  readonly additionalProperties?: OpenApiProperty;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-patch-strategy"?: string;
}
interface OpenApiDefinition extends OpenApiProperty {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApiProperty>>;
}
export type OpenApiDefinitions = Readonly<Record<string, OpenApiDefinition>>;

/** For each type its fields, and for each field its type and what is special about it; see `parseField`. */
export type CompactTypes = Record<string, Record<string, string>>;

export function typesFrom(
  definitions: OpenApiDefinitions,
  roots: readonly string[],
  goFieldsOf: (type: string) => ReadonlyMap<string, GoField>,
): CompactTypes {
  const types: CompactTypes = {};
  const queue = [...roots];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const definition = definitions[longName(name)];
    if (types[name] || !definition?.properties) continue;
    const required = new Set(definition.required ?? []);
    const goFields = goFieldsOf(name);
    const fields: Record<string, string> = {};
    types[name] = fields;
    if (definition["x-kubernetes-map-type"] === "atomic") fields[""] = "atomic";
    for (const [field, property] of Object.entries(definition.properties)) {
      const text = typeText(property, definitions);
      const { whenEmpty, number = "" } = goFields.get(field) ?? {};
      const words = [text, ...qualifiers(property, required.has(field)), ...emptyTexts(text, whenEmpty)];
      fields[field] = [...words, ...(number === "" ? [] : [`#${number}`])].join(" ");
      queue.push(...referencesIn(text));
    }
  }
  return Object.fromEntries(Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const referencesIn = (text: string): string[] => text.match(/[a-z0-9]+\.v[0-9a-z]+\.[A-Za-z]+/g) ?? [];

function typeText(property: OpenApiProperty, definitions: OpenApiDefinitions): string {
  if (property.$ref) {
    const name = property.$ref.slice("#/definitions/".length);
    const short = name.slice(name.lastIndexOf(".") + 1);
    if (["Quantity", "IntOrString", "Time", "MicroTime"].includes(short)) return short;
    return definitions[name]?.properties ? shortName(name) : "any";
  }
  if (property.items) return `[${typeText(property.items, definitions)}]`;
  if (property.additionalProperties) return `{${typeText(property.additionalProperties, definitions)}}`;
  if (property.type === "object" || property.type === undefined) return "any";
  if (property.format === "byte") return "bytes";
  if (property.format === "int64") return "int64";
  return property.type;
}

/** Go does not take a struct for empty. */
function emptyTexts(text: string, emptiness: Emptiness | undefined): string[] {
  if (emptiness === "keep" || emptiness === "always") return [emptiness];
  return emptiness === "omitEmpty" && referencesIn(text)[0] === text ? ["always"] : [];
}

function qualifiers(property: OpenApiProperty, isRequired: boolean): string[] {
  const strategy = property["x-kubernetes-patch-strategy"];
  const listType = property["x-kubernetes-list-type"];
  const keys = property["x-kubernetes-list-map-keys"];
  const mergeKey = property["x-kubernetes-patch-merge-key"];
  return [
    ...(isRequired ? ["!"] : []),
    ...(listType === "map" ? [`map:${keys?.join(",")}`] : listType === "set" ? ["set"] : []),
    ...(property["x-kubernetes-map-type"] === "atomic" ? ["atomic"] : []),
    ...(mergeKey ? [`merge:${mergeKey}`] : strategy?.includes("merge") ? ["merge"] : []),
    ...(strategy?.includes("retainKeys") ? ["retainKeys"] : []),
    ...(strategy === "replace" ? ["replace"] : []),
    ...(property.enum ? [`enum:${property.enum.join("|")}`] : []),
  ];
}
