import fc from "fast-check";
import { holdsTags } from "../../packages/contract/src/index.ts";
import type { ApiDocument, Schema } from "./document.ts";

/** Values that are known to mean something to the server, such as the ids of what is there, by the name of the field. */
export type KnownValues = (field: string) => readonly unknown[];

type Make = (schema: Schema, field?: string) => fc.Arbitrary<unknown>;

const FEW_ITEMS = 2;
const LONGEST_USUAL_TEXT = 40;
/** A rule that refuses so many values in a row is met by chance never. */
const MOST_MISSES = 20_000;

/**
 * Arbitrary values that a schema accepts. Each object is held against its own rules as soon as it is made, so that a body
 * of many parts does not have to be thrown away for one of them.
 */
export function schemaValues(document: ApiDocument, known: KnownValues): Make {
  const made = new Map<Schema, Map<string, fc.Arbitrary<unknown>>>();

  const make: Make = (given, field = "") => {
    const schema = document.resolve(given);
    const byField = made.get(schema) ?? new Map<string, fc.Arbitrary<unknown>>();
    made.set(schema, byField);
    const earlier = byField.get(field);
    if (earlier) return earlier;
    const arbitrary = ruled(schema, bare(schema, field));
    byField.set(field, arbitrary);
    return arbitrary;
  };

  /** Keywords that combine others are not built upon but checked. */
  function ruled(schema: Schema, arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
    const rules = ["allOf", "not", "if", "dependentRequired", "minProperties", "maxLength", "pattern", "format"];
    const isChoice = !("properties" in schema);
    if (!rules.some((rule) => rule in schema) && (isChoice || !("anyOf" in schema || "oneOf" in schema))) {
      return arbitrary;
    }
    let misses = 0;
    return arbitrary.filter((value) => {
      const fits = document.accepts(schema, value);
      misses = fits ? 0 : misses + 1;
      if (misses > MOST_MISSES) throw new Error(`No value was found for ${JSON.stringify(schema).slice(0, 500)}`);
      return fits;
    });
  }

  function bare(schema: Schema, field: string): fc.Arbitrary<unknown> {
    if ("const" in schema) return fc.constant(schema["const"]);
    if (Array.isArray(schema["enum"])) return fc.constantFrom(...schema["enum"]);
    const choices = (schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined;
    if (choices && !("properties" in schema)) return fc.oneof(...choices.map((choice) => make(choice, field)));
    switch (schema["type"]) {
      case "object":
        return objects(schema);
      case "array":
        return arrays(schema, field);
      case "string":
        return texts(schema, field);
      case "integer":
        return withExamples(schema, fc.integer(bounds(schema, 2 ** 31)));
      case "number":
        return numbers(schema);
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      default:
        return anything;
    }
  }

  function objects(schema: Schema): fc.Arbitrary<unknown> {
    const properties = (schema["properties"] ?? {}) as Record<string, Schema>;
    const named = namedFields(schema, properties);
    const [pattern, inner] = Object.entries((schema["patternProperties"] ?? {}) as Record<string, Schema>)[0] ?? [];
    const free = schema["additionalProperties"];
    const dictionary =
      pattern !== undefined && inner
        ? dictionaryOf(matching(pattern, 0, LONGEST_USUAL_TEXT), make(inner), schema)
        : free === undefined || free === false
          ? null
          : dictionaryOf(plainText(0, 12), typeof free === "object" ? make(free as Schema) : anything, schema);
    if (!dictionary) return named;
    return fc.tuple(dictionary, named).map(([more, fixed]) => ({ ...(more as object), ...fixed }));
  }

  /** Chooses the fields first, by the rules between them, because generating their values costs far more. */
  function namedFields(schema: Schema, properties: Record<string, Schema>): fc.Arbitrary<Record<string, unknown>> {
    const requiredKeys = ((schema["required"] ?? []) as string[]).filter((name) => name in properties);
    const recordOf = (fields: Record<string, fc.Arbitrary<unknown>>, keys: string[]) =>
      fc.record(fields, { requiredKeys: keys, noNullPrototype: true });
    const values = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, make(inner, name)]));
    const rules = presenceRules(schema);
    if (!rules) return recordOf(values, requiredKeys);
    const isChoice = (name: string) => "enum" in (properties[name] ?? {}) || "const" in (properties[name] ?? {});
    const outlines = Object.entries(values).map(([name, of]) => [name, isChoice(name) ? of : fc.constant("")]);
    return recordOf(Object.fromEntries(outlines), requiredKeys)
      .filter((outline) => document.accepts(rules, outline))
      .chain((outline) => {
        const names = Object.keys(outline);
        const filled = names.map((name) => [name, isChoice(name) ? fc.constant(outline[name]) : values[name]]);
        return recordOf(Object.fromEntries(filled), names);
      });
  }

  function arrays(schema: Schema, field: string): fc.Arbitrary<unknown> {
    const minLength = Number(schema["minItems"] ?? 0);
    const most = Number(schema["maxItems"] ?? FEW_ITEMS);
    const maxLength = Math.min(most, Math.max(minLength, FEW_ITEMS));
    const items = schema["items"] === undefined ? anything : make(schema["items"] as Schema, field);
    const length = { minLength, maxLength };
    if (schema["uniqueItems"] !== true) return fc.array(items, length);
    return fc.uniqueArray(items, { ...length, selector: (item) => JSON.stringify(item) });
  }

  function texts(schema: Schema, field: string): fc.Arbitrary<unknown> {
    const shortest = Number(schema["minLength"] ?? 0);
    const longest = Number(schema["maxLength"] ?? 2000);
    const pattern = schema["pattern"];
    const usual = () => {
      if (typeof schema["format"] === "string") return FORMATS[schema["format"]] ?? plainText(shortest, longest);
      // Names hold no tags, which no pattern for every engine can say.
      if (typeof pattern === "string") return matching(pattern, shortest, longest).filter((text) => !holdsTags(text));
      return plainText(shortest, longest);
    };
    const examples = (schema["examples"] ?? []) as readonly unknown[];
    const unknown = usual();
    // Asked for when a value is drawn: what is there changes while requests are made.
    return fc.nat().chain((at) => {
      const there = [...known(field), ...examples];
      const value = there[at % Math.max(1, there.length)];
      return at % 5 > 0 && document.accepts(schema, value) ? fc.constant(value) : unknown;
    });
  }

  return make;
}

/** Mixes in the examples of the schema, which are values that people would send. */
function withExamples(schema: Schema, arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const examples = (schema["examples"] ?? []) as readonly unknown[];
  return examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), arbitrary) : arbitrary;
}

/** The rules of an object as far as they are about which fields there are; null where it has none. */
function presenceRules({ allOf, dependentRequired }: Schema): Schema | null {
  if (!allOf && !dependentRequired) return null;
  const rules = ((allOf ?? []) as readonly Schema[]).map((rule) => {
    const { properties = {}, ...then } = (rule["then"] ?? {}) as Schema;
    const refused = Object.entries(properties as Schema).filter(([, field]) => field === false);
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    return rule["then"] ? { ...rule, then: { ...then, properties: Object.fromEntries(refused) } } : rule;
  });
  return { allOf: [true, ...rules], ...(dependentRequired ? { dependentRequired } : {}) };
}

const bounds = (schema: Schema, far: number) => ({
  min: Number(schema["minimum"] ?? ("exclusiveMinimum" in schema ? Number(schema["exclusiveMinimum"]) + 1 : -far)),
  max: Number(schema["maximum"] ?? ("exclusiveMaximum" in schema ? Number(schema["exclusiveMaximum"]) - 1 : far)),
});

function numbers(schema: Schema): fc.Arbitrary<number> {
  const { min, max } = bounds(schema, 1e9);
  const whole = fc.integer({ min: Math.max(Math.ceil(min), -(2 ** 31)), max: Math.min(Math.floor(max), 2 ** 31) });
  return fc.oneof(whole, fc.double({ min, max, noNaN: true, noDefaultInfinity: true }));
}

/** Text that can be stored: well-formed, and without NUL. The document says so for all text at once. */
const storable = (text: string) => text.isWellFormed() && !text.includes("\0");
const lengthOf = (text: string) => Array.from(text).length;

/** Made once for each pair of bounds: fast-check looks at a list of dangerous texts each time. */
const plainTexts = new Map<string, fc.Arbitrary<string>>();

function plainText(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const key = `${minLength} ${maxLength}`;
  const made = plainTexts.get(key) ?? makePlainText(minLength, maxLength);
  plainTexts.set(key, made);
  return made;
}

function makePlainText(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const usual = { minLength, maxLength: Math.min(maxLength, Math.max(minLength, LONGEST_USUAL_TEXT)) };
  const units = (["grapheme-ascii", "grapheme", "binary"] as const).map((unit) => fc.string({ unit, ...usual }));
  const edge = fc.constantFrom(minLength, maxLength).map((length) => "x".repeat(length));
  return fc
    .oneof({ weight: 8, arbitrary: fc.oneof(...units) }, { weight: 1, arbitrary: edge })
    .filter((text) => storable(text) && lengthOf(text) <= maxLength);
}

function matching(pattern: string, shortest: number, longest: number): fc.Arbitrary<string> {
  const usual = fc.stringMatching(new RegExp(pattern, "u"), { size: "-1" });
  return usual.filter((text) => storable(text) && lengthOf(text) >= shortest && lengthOf(text) <= longest);
}

const anything = fc
  .jsonValue({ maxDepth: 2, stringUnit: "grapheme" })
  // As JSON brings it: no -0 and no prototype of its own, and only text that can be stored.
  .filter((value) => storable(JSON.parse(JSON.stringify(JSON.stringify(value)))) && isPlain(value));

function isPlain(value: unknown): boolean {
  if (typeof value === "string") return storable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => storable(key) && key !== "__proto__" && isPlain(inner));
}

function dictionaryOf(keys: fc.Arbitrary<string>, values: fc.Arbitrary<unknown>, schema: Schema) {
  const minKeys = Number(schema["minProperties"] ?? 0);
  const usable = keys.filter((key) => !["__proto__", "constructor", "prototype"].includes(key));
  return fc.dictionary(usable, values, { minKeys, maxKeys: Math.max(minKeys, FEW_ITEMS), noNullPrototype: true });
}

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  "date-time": fc
    .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  uri: fc.webUrl({ withFragments: true, withQueryParameters: true }),
};
