import type { ParameterType, TemplateParameter, ValidationItem, ValidationType } from "@binnacle/contract";
import { v4 } from "uuid";
import { LONGEST_MATCHED_TEXT, type PatternQuestion, type Patterns } from "./pattern.ts";

export type ParameterValue = string | number | boolean;

/** The reason why a value is refused, in the form of a validation item. */
interface ValueProblem {
  readonly type: ValidationType;
  readonly msg: string;
}

const LONGEST_TEXT = 65_536;

/** Returns the patterns and texts that must be tested before parameters and values can be validated. */
export function patternQuestions(
  parameters: readonly TemplateParameter[],
  given: Readonly<Record<string, unknown>> = {},
): PatternQuestion[] {
  const texts = new Map<string, Set<string>>();
  for (const { name, pattern, default: standard } of parameters) {
    if (pattern === undefined) continue;
    const held = texts.get(pattern) ?? new Set();
    texts.set(pattern, held);
    for (const text of [standard, Object.hasOwn(given, name) ? given[name] : null]) {
      if (typeof text === "string" && text.length <= LONGEST_MATCHED_TEXT) held.add(text);
    }
  }
  return [...texts].map(([pattern, held]) => ({ pattern, texts: [...held] }));
}

/** Returns the problem of a declaration, or null. */
export function declarationProblem(parameter: TemplateParameter, patterns: Patterns): string | null {
  const { type, options, pattern, min, max, generator } = parameter;
  if (type === "select" && !options) return "is a select without options";
  if (type === "secret" && parameter.default !== undefined) return "is a secret with a default";
  if (min !== undefined && max !== undefined && min > max) return "has a min that is greater than its max";
  if (pattern !== undefined) {
    const problem = patterns.problemOf(pattern);
    if (problem) return `has a pattern that ${problem}`;
  }
  if (generator) {
    const problem = generatorProblem(parameter, generator);
    if (problem) return problem;
  }
  if (options?.some((option) => typeValueProblem(type, option))) return "has an option that is not of its type";
  if (parameter.default === undefined) return null;
  return valueProblemOf(parameter, parameter.default, patterns) ? "has a default that it would not take" : null;
}

const TYPES: Record<ParameterType, readonly [ValidationType, string, (value: unknown) => boolean]> = {
  string: ["string_type", "Input should be a valid string", (value) => typeof value === "string"],
  secret: ["string_type", "Input should be a valid string", (value) => typeof value === "string"],
  integer: ["int_type", "Input should be a valid integer", Number.isSafeInteger],
  number: ["float_type", "Input should be a valid number", Number.isFinite],
  boolean: ["bool_type", "Input should be a valid boolean", (value) => typeof value === "boolean"],
  select: ["enum", "Input should be one of the options", (value) => /^(string|number|boolean)$/.test(typeof value)],
};

function typeValueProblem(type: ParameterType, value: unknown): ValueProblem | null {
  const [kind, msg, isOfType] = TYPES[type];
  return isOfType(value) ? null : { type: kind, msg };
}

/**
 * Returns why the parameter refuses the value, or null. The message never contains the value, which may be a secret.
 */
export function valueProblemOf(parameter: TemplateParameter, value: unknown, patterns: Patterns): ValueProblem | null {
  const { type, options } = parameter;
  const mistyped = typeValueProblem(type, value);
  if (mistyped) return mistyped;
  if (options && !options.some((option) => option === value)) {
    return {
      type: "enum",
      msg: `Input should be one of ${options.map((option) => JSON.stringify(option)).join(", ")}`,
    };
  }
  if (typeof value === "number") return numberValueProblem(parameter, value);
  return typeof value === "string" ? textValueProblem(parameter, value, patterns) : null;
}

function numberValueProblem({ min, max }: TemplateParameter, value: number): ValueProblem | null {
  if (min !== undefined && value < min) {
    return { type: "greater_than_equal", msg: `Input should be greater than or equal to ${min}` };
  }
  if (max !== undefined && value > max) {
    return { type: "less_than_equal", msg: `Input should be less than or equal to ${max}` };
  }
  return null;
}

function textValueProblem(
  { min = 0, max = LONGEST_TEXT, pattern }: TemplateParameter,
  value: string,
  patterns: Patterns,
): ValueProblem | null {
  const tooLong = (limit: number): ValueProblem => ({
    type: "string_too_long",
    msg: `String should have at most ${limit} characters`,
  });
  // Code units are at least as many as characters, so the cheap check comes first.
  if (value.length > LONGEST_TEXT) return tooLong(LONGEST_TEXT);
  const length = Array.from(value).length;
  if (length < min) return { type: "string_too_short", msg: `String should have at least ${min} characters` };
  if (length > max) return tooLong(max);
  if (pattern === undefined) return null;
  if (value.length > LONGEST_MATCHED_TEXT) return tooLong(LONGEST_MATCHED_TEXT);
  return patterns.accepts(pattern, value)
    ? null
    : { type: "string_pattern_mismatch", msg: `String should match pattern '${pattern}'` };
}

export interface ResolvedParameters {
  /** Values by name; null for an optional parameter without a value. */
  readonly values: ReadonlyMap<string, ParameterValue | null>;
  readonly items: readonly ValidationItem[];
}

/**
 * Determines the value of each parameter: the given one, else a generated one, else the default. Reports all problems
 * at once.
 */
export function resolveParameters(
  parameters: readonly TemplateParameter[],
  given: Readonly<Record<string, unknown>>,
  randomBytes: RandomBytes,
  patterns: Patterns,
): ResolvedParameters {
  const values = new Map<string, ParameterValue | null>();
  const items: ValidationItem[] = [];
  const refuse = (name: string, complaint: ValueProblem) =>
    items.push({ loc: ["body", "parameters", name], ...complaint });

  for (const parameter of parameters) {
    const { name, required, generator } = parameter;
    if (Object.hasOwn(given, name)) {
      const complaint = valueProblemOf(parameter, given[name], patterns);
      if (complaint) refuse(name, complaint);
      else values.set(name, given[name] as ParameterValue);
    } else if (generator) values.set(name, generateValue(parameter, generator, randomBytes));
    else if (parameter.default !== undefined) values.set(name, parameter.default);
    else if (required) refuse(name, { type: "missing", msg: "Field required" });
    else values.set(name, null);
  }
  const declared = new Set(parameters.map(({ name }) => name));
  for (const name of Object.keys(given)) {
    if (!declared.has(name)) refuse(name, { type: "extra_forbidden", msg: "Extra inputs are not permitted" });
  }
  return { values, items };
}

export type RandomBytes = (size: number) => Uint8Array;
export type Generator = NonNullable<TemplateParameter["generator"]>;

/** Only letters and digits, so that a password needs no quoting in a URL or a shell. */
const PASSWORD_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const USUAL_LENGTH = { random_password: 24, random_hex: 32, uuid: 36 } as const;
const LONGEST_GENERATED = 1024;

/** Returns why a parameter cannot be generated, or null. A generated value must always be valid. */
function generatorProblem(parameter: TemplateParameter, generator: Generator): string | null {
  const { type, pattern, options, min = 0, max = Number.POSITIVE_INFINITY } = parameter;
  if (type !== "string" && type !== "secret") return "has a generator, which makes text";
  if (pattern !== undefined || options) return "has a generator and limits that it does not know";
  if (parameter.default !== undefined) return "has both a generator and a default";
  const [shortest, longest] = generator === "uuid" ? [USUAL_LENGTH.uuid, USUAL_LENGTH.uuid] : [1, LONGEST_GENERATED];
  const hasRoom = Math.max(shortest, Math.ceil(min)) <= Math.min(longest, Math.floor(max));
  return hasRoom ? null : "has a generator that cannot keep its bounds";
}

function generateValue({ min, max }: TemplateParameter, generator: Generator, draw: RandomBytes): string {
  const length = Math.min(Math.max(USUAL_LENGTH[generator], Math.ceil(min ?? 0)), Math.floor(max ?? LONGEST_GENERATED));
  switch (generator) {
    case "random_password":
      return password(length, draw);
    case "random_hex":
      return Buffer.from(draw(length)).toString("hex").slice(0, length);
    case "uuid":
      return v4({ random: draw(16) });
  }
}

/** Bytes beyond the last multiple of the alphabet's size are skipped; otherwise some letters would be more frequent. */
function password(length: number, draw: RandomBytes): string {
  const size = PASSWORD_ALPHABET.length;
  let text = "";
  while (text.length < length) {
    const fair = [...draw(length)].filter((byte) => byte < 256 - (256 % size));
    text += fair.map((byte) => PASSWORD_ALPHABET[byte % size]).join("");
  }
  return text.slice(0, length);
}
