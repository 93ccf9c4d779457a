import type { TSchema } from "typebox";

/**
 * A rule between fields, as JSON Schema. It is in the `allOf` of an object, so clients read it in the document and the
 * server validates by the same text. Its description is the message of the 422.
 */
export interface Rule {
  readonly description: string;
  readonly [keyword: string]: unknown;
}

type Condition = Readonly<Record<string, unknown>>;

export const exactlyOneOf = (...fields: readonly [string, string, ...string[]]): Rule => ({
  description: `Exactly one of ${fields.slice(0, -1).join(", ")} and ${fields.at(-1)} is required`,
  oneOf: fields.map((field) => ({ required: [field] })),
});

/** The field is present. */
export const given = (field: string): Condition => ({ required: [field] });

/** The field is present and has one of the values. */
export const holds = (field: string, values: readonly unknown[]): Condition => holdsEach({ [field]: values });

/** All these fields are present, and each has one of its values. */
export const holdsEach = (fields: Readonly<Record<string, readonly unknown[]>>): Condition => ({
  required: Object.keys(fields),
  properties: Object.fromEntries(Object.entries(fields).map(([field, values]) => [field, { enum: values }])),
});

/** The same, or the field is left out and its default is one of the values. */
export const holdsByDefault = (field: string, values: readonly unknown[]): Condition => ({
  properties: { [field]: { enum: values } },
});

export interface Consequence {
  readonly requires?: readonly string[];
  readonly refuses?: readonly string[];
  /** Schemas of other fields, which apply where those are present. */
  readonly fields?: Readonly<Record<string, object>>;
}

export function where(condition: Condition, description: string, consequence: Consequence): Rule {
  const { requires = [], refuses = [], fields = {} } = consequence;
  const refused = Object.fromEntries(refuses.map((field) => [field, false]));
  const properties = { ...fields, ...refused };
  return {
    description,
    if: condition,
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: {
      ...(requires.length > 0 ? { required: requires } : {}),
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
    },
  };
}

/** Refuses a value that its other keywords allow. */
export const except = (description: string, refused: object): Rule => ({ description, not: refused });

const RULES = new Set(["allOf", "dependentRequired"]);
const NAMED = new Set(["properties", "patternProperties"]);

/**
 * The same schema without rules. It is for values that were accepted earlier and are only passed on, so that a stricter
 * rule does not refuse what is stored.
 */
export function withoutRules<T extends TSchema>(schema: T): T {
  // TypeBox marks optional fields by properties that are not enumerable. A copy without them would be required.
  const fields = Object.entries(Object.getOwnPropertyDescriptors(schema)).filter(([keyword]) => !RULES.has(keyword));
  const bareFields = fields.map(([keyword, field]) => [keyword, { ...field, value: inner(keyword, field.value) }]);
  return Object.defineProperties({}, Object.fromEntries(bareFields)) as T;
}

function inner(keyword: string, value: unknown): unknown {
  const each = (entries: [string, unknown][]) => Object.fromEntries(entries.map(([name, it]) => [name, bare(it)]));
  if (NAMED.has(keyword)) return each(Object.entries(value as object));
  if (keyword === "items" || keyword === "additionalProperties") return bare(value);
  return keyword === "anyOf" || keyword === "oneOf" ? (value as unknown[]).map(bare) : value;
}

const bare = (value: unknown) => (typeof value === "object" && value !== null ? withoutRules(value as TSchema) : value);
