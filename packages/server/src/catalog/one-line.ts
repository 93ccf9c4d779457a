/**
 * Values of an addon are rendered into the templates of its chart, often without quotes, so a line break in a value
 * could add lines of YAML. Therefore settable text must not contain one.
 */

type Path = readonly (string | number)[];
type Schema = Readonly<Record<string, unknown>>;

/** These formats exclude line breaks. */
const ONE_LINE_FORMATS = new Set(["date", "date-time", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"]);
const CHOICES = ["anyOf", "oneOf"] as const;

/** Returns the paths at which a JSON Schema accepts text with a line break or has no type. */
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

/** Names of additional properties are text as well. */
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

/** Only scalars count, because a listed map may contain any text. */
const isOneLineValue = (value: unknown): boolean =>
  typeof value === "string" ? !/[\n\v\f\r\x85\u2028\u2029]/.test(value) : typeof value !== "object" || value === null;

/** Escapes of literal characters, and the two classes without line breaks. */
const HARMLESS_ESCAPES = /^[.+*?()[\]{}|^$/\\dw-]$/;

/**
 * Returns whether a pattern matches the whole text and excludes line breaks in every engine. It accepts simple patterns
 * only: printable ASCII, no dot, no negated class, no alternation beside the anchors.
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
