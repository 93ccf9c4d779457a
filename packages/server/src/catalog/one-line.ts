/**
 * Values of an addon are written into the templates of its chart, and many a template writes a text as it is: a line break in
 * it begins another line of YAML. So no text that people may set has one.
 */

type Path = readonly (string | number)[];
type Schema = Readonly<Record<string, unknown>>;

/** None of these takes a line break. */
const ONE_LINE_FORMATS = new Set(["date", "date-time", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"]);
const CHOICES = ["anyOf", "oneOf"] as const;

/** Where a JSON Schema takes text with a line break, or does not say what it takes. */
export function multilinePlaces(schema: unknown, path: Path = []): Path[] {
  if (schema === false) return [];
  if (!isMap(schema)) return [path];
  const definitions = Object.entries(mapOf(schema["$defs"])).flatMap(([name, inner]) =>
    multilinePlaces(inner, [...path, "$defs", name]),
  );
  return [...definitions, ...ownPlaces(schema, path)];
}

function ownPlaces(schema: Schema, path: Path): Path[] {
  if (typeof schema["$ref"] === "string" && schema["$ref"].startsWith("#/$defs/")) return [];
  const listed = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(listed)) return listed.every(isOneLineValue) ? [] : [path];
  const choices = CHOICES.flatMap((word) => (Array.isArray(schema[word]) ? [[word, schema[word]] as const] : []));
  if (choices.length > 0) {
    return choices.flatMap(([word, all]) =>
      all.flatMap((inner, index) => multilinePlaces(inner, [...path, word, index])),
    );
  }
  return [schema["type"] ?? "anything"].flat().flatMap((type) => placesOf(type, schema, path));
}

function placesOf(type: unknown, schema: Schema, path: Path): Path[] {
  switch (type) {
    case "boolean":
    case "integer":
    case "number":
    case "null":
      return [];
    case "string":
      return isOneLineText(schema) ? [] : [path];
    case "array": {
      if (schema["maxItems"] === 0) return [];
      const first = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
      return [
        ...first.flatMap((inner, index) => multilinePlaces(inner, [...path, "prefixItems", index])),
        ...multilinePlaces(schema["items"], [...path, "items"]),
      ];
    }
    case "object":
      return objectPlaces(schema, path);
    default:
      return [path];
  }
}

/** The names of properties that are not listed are text as well. */
function objectPlaces(schema: Schema, path: Path): Path[] {
  const named = Object.entries(mapOf(schema["properties"]));
  const matched = Object.entries(mapOf(schema["patternProperties"]));
  const further = schema["additionalProperties"];
  const names = mapOf(schema["propertyNames"]);
  return [
    ...named.flatMap(([name, inner]) => multilinePlaces(inner, [...path, "properties", name])),
    ...matched.flatMap(([pattern, inner]) => [
      ...(isOneLine(pattern) ? [] : [[...path, "patternProperties", pattern]]),
      ...multilinePlaces(inner, [...path, "patternProperties", pattern]),
    ]),
    ...(further === false || isOneLineText(names) ? [] : [[...path, "additionalProperties"]]),
    ...(further === false ? [] : multilinePlaces(further, [...path, "additionalProperties"])),
  ];
}

const isOneLineText = ({ pattern, format }: Schema): boolean =>
  (typeof pattern === "string" && isOneLine(pattern)) || ONE_LINE_FORMATS.has(String(format));

/** Scalars alone: a map that is listed may hold any text. */
const isOneLineValue = (value: unknown): boolean =>
  typeof value === "string" ? !/[\n\v\f\r\x85\u2028\u2029]/.test(value) : typeof value !== "object" || value === null;

/** Escapes that stand for themselves, and the two classes that hold no line break. */
const HARMLESS_ESCAPES = /^[.+*?()[\]{}|^$/\\dw-]$/;

/**
 * Whether a pattern holds for the whole text, and no line break can be in what it matches, whichever engine reads it. It is
 * told by its form, and what is not plain is not said to be: printable ASCII, no dot, no class of what is left out, no
 * choice beside the anchors.
 */
export function isOneLine(pattern: string): boolean {
  if (!/^\^[ -~]*\$$/.test(pattern)) return false;
  let [depth, isInClass] = [0, false];
  for (let at = 1; at < pattern.length - 1; at++) {
    const [character = "", next = ""] = [pattern[at], pattern[at + 1]];
    if (character === "\\") {
      if (at + 1 === pattern.length - 1 || !HARMLESS_ESCAPES.test(next)) return false;
      at++;
    } else if (isInClass) isInClass = character !== "]";
    else if (character === "[") {
      if (next === "^") return false;
      isInClass = true;
    } else if (character === "(") {
      if (next === "?" && pattern[at + 2] !== ":") return false;
      depth++;
    } else if (character === ")") depth--;
    else if (character === "." || character === "^" || character === "$" || (character === "|" && depth === 0))
      return false;
  }
  return !isInClass;
}

const isMap = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);
const mapOf = (value: unknown): Schema => (isMap(value) ? value : {});
