import types from "./kubernetes-types.json" with { type: "json" };
import { ANY, type Field, type ScalarType, type Schema, type StructSchema } from "./schema.ts";

const COMPACT: Readonly<Record<string, Readonly<Record<string, string>>>> = types;

/** Keys of lists that need not be given. */
const KEY_DEFAULTS: Readonly<Record<string, string>> = {
  "core.v1.ContainerPort.protocol": "TCP",
  "core.v1.ServicePort.protocol": "TCP",
};

const known = new Map<string, StructSchema>();

/** The schema of a type like `core.v1.Pod`; all sandboxes of a process share it. */
export function kubernetesSchema(name: string): StructSchema {
  const seen = known.get(name);
  if (seen) return seen;
  const { "": flags = "", ...texts } = COMPACT[name] ?? {};
  const fields = new Map<string, Field>();
  const schema: StructSchema = { is: "struct", fields, isAtomic: flags.includes("atomic"), isOpen: false, type: name };
  // Known before its fields are, because a type may hold itself.
  known.set(name, schema);
  for (const [field, text] of Object.entries(texts)) fields.set(field, parseField(text, `${name}.${field}`));
  return schema;
}

export const typeNames = (): string[] => Object.keys(COMPACT);
export const compactFieldsOf = (name: string): Readonly<Record<string, string>> => COMPACT[name] ?? {};

/** `[core.v1.EnvVar] map:name merge:name`: the type, then what is special about the field. */
function parseField(text: string, place: string): Field {
  const [type = "", ...words] = text.split(" ");
  const after = (prefix: string) => words.find((word) => word.startsWith(prefix))?.slice(prefix.length);
  const mergeKey = after("merge:") ?? (words.includes("merge") ? "" : undefined);
  const fallback = KEY_DEFAULTS[place];
  return {
    schema: parseType(type, words.includes("atomic"), after("map:")?.split(","), words.includes("set"), after("enum:")),
    isRequired: words.includes("!"),
    whenEmpty: words.includes("always") ? "always" : words.includes("keep") ? "keep" : "omit",
    isRetainingKeys: words.includes("retainKeys"),
    isReplaced: words.includes("replace"),
    ...(mergeKey === undefined ? {} : { mergeKey }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

function parseType(text: string, isAtomic: boolean, keys?: string[], isSet?: boolean, values?: string): Schema {
  if (text.startsWith("[")) {
    const relation = keys ? "map" : isSet ? "set" : "atomic";
    return { is: "list", items: parseType(text.slice(1, -1), false), relation, keys: keys ?? [] };
  }
  if (text.startsWith("{")) return { is: "map", values: parseType(text.slice(1, -1), false), isAtomic };
  if (text === "any") return ANY;
  if (text.includes(".")) return isAtomic ? { ...kubernetesSchema(text), isAtomic } : kubernetesSchema(text);
  const type = text as ScalarType;
  return values === undefined ? { is: "scalar", type } : { is: "scalar", type, values: values.split("|") };
}
