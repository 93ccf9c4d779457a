/**
 * How the Go types of Kubernetes treat the empty value of a field when they write JSON, which decides what becomes of
 * a field that somebody sets to `""`, `0`, `false`, `[]` or `{}`:
 *  - `keep`: a pointer, written as it was given;
 *  - `always`: written even when nobody has set it;
 *  - `omitEmpty`: left out, unless it is a struct, which Go does not take for empty;
 *  - `omitZero`: left out, structs too.
 */
export type Emptiness = "keep" | "always" | "omitEmpty" | "omitZero";

/** A field of a Go struct: what becomes of it when it is empty, and its numbers in Protobuf, like `2.6`. */
export interface GoField {
  readonly whenEmpty: Emptiness;
  readonly number: string;
}

interface GoStruct {
  readonly fields: Map<string, GoField>;
  readonly inlined: { readonly type: string; readonly number: string }[];
}

const FIELD = /^\s*(?:\w+\s+)?(\*?)([^\s`]+)\s+`[^`]*json:"([^",]*)([^"]*)"([^`]*)/;

/** The structs of one Go file, by name. */
export function structsIn(source: string): Map<string, GoStruct> {
  const structs = new Map<string, GoStruct>();
  let current: GoStruct | null = null;
  for (const line of source.split("\n")) {
    const opened = /^type (\w+) struct \{/.exec(line)?.[1];
    if (opened) {
      current = { fields: new Map(), inlined: [] };
      structs.set(opened, current);
    } else if (line.startsWith("}")) current = null;
    else if (current) addField(current, line);
  }
  return structs;
}

function addField({ fields, inlined }: GoStruct, line: string): void {
  const [, pointer = "", type = "", name, options = "", tags = ""] = FIELD.exec(line) ?? [];
  if (name === undefined) return;
  const number = /protobuf:"\w+,(\d+),/.exec(tags)?.[1] ?? "";
  if (name === "" || options.includes("inline")) inlined.push({ type: type.slice(type.lastIndexOf(".") + 1), number });
  else fields.set(name, { whenEmpty: emptiness(pointer !== "", options), number });
}

function emptiness(isPointer: boolean, options: string): Emptiness {
  if (isPointer) return "keep";
  if (options.includes("omitzero")) return "omitZero";
  return options.includes("omitempty") ? "omitEmpty" : "always";
}

/** Each field of a struct with those of the structs that it has taken in, which are messages of their own in Protobuf. */
export function fieldsOf(structs: ReadonlyMap<string, GoStruct>, name: string): Map<string, GoField> {
  const { fields = new Map<string, GoField>(), inlined = [] } = structs.get(name) ?? {};
  const taken = inlined.flatMap(({ type, number }) =>
    [...fieldsOf(structs, type)].map(
      ([field, inner]) => [field, { ...inner, number: `${number}.${inner.number}` }] as const,
    ),
  );
  return new Map([...taken, ...fields]);
}

/** Where the types of Kubernetes live in its OpenAPI documents; here only the last parts of the names are used. */
const PREFIXES: Readonly<Record<string, string>> = {
  meta: "io.k8s.apimachinery.pkg.apis.meta",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

/** `core.v1.Pod` is `io.k8s.api.core.v1.Pod`. */
export function longName(short: string): string {
  const dot = short.indexOf(".");
  const group = short.slice(0, dot);
  return `${PREFIXES[group] ?? `io.k8s.api.${group}`}${short.slice(dot)}`;
}

export function shortName(long: string): string {
  return long.split(".").slice(-3).join(".");
}
