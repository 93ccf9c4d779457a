import type { TemplateParameter } from "@binnacle/client";

/** What people have typed or chosen, by the name of the parameter. A choice is kept as JSON, because `1` and `"1"` differ. */
export type Typed = Readonly<Record<string, string | boolean>>;
export type ParameterValue = string | number | boolean;

/** How a parameter is asked for. */
export type Control = "text" | "number" | "switch" | "choice" | "secret";

export function controlOf({ type, options, default: preset }: TemplateParameter): Control {
  if (type === "secret") return "secret";
  if (options || type === "select") return "choice";
  // Without a default, off and not given are two things, which a switch cannot tell apart.
  if (type === "boolean") return typeof preset === "boolean" ? "switch" : "choice";
  return type === "integer" || type === "number" ? "number" : "text";
}

export function choicesOfParameter({ type, options }: TemplateParameter) {
  const offered: readonly ParameterValue[] = options ?? (type === "boolean" ? [true, false] : []);
  const words = new Map<ParameterValue, string>([
    [true, "Yes"],
    [false, "No"],
  ]);
  return offered.map((option) => ({ value: JSON.stringify(option), label: words.get(option) ?? String(option) }));
}

/** The form as it opens: defaults are filled in. */
export function typedDefaults(parameters: readonly TemplateParameter[]): Typed {
  return Object.fromEntries(parameters.map((parameter) => [parameter.name, typedDefault(parameter)]));
}

function typedDefault(parameter: TemplateParameter): string | boolean {
  const { default: preset } = parameter;
  const control = controlOf(parameter);
  if (control === "switch") return preset === true;
  if (preset === undefined) return "";
  return control === "choice" ? JSON.stringify(preset) : String(preset);
}

export interface Filled {
  /** What is sent. A parameter that is left empty, or that keeps its default, is not part of it. */
  readonly values: Readonly<Record<string, ParameterValue>>;
  /** Why a value cannot be sent, by the name of the parameter. */
  readonly problems: Readonly<Record<string, string>>;
}

/** Reads the form. The rules are the server's own; what the browser cannot decide, such as some patterns, is left to it. */
export function fill(parameters: readonly TemplateParameter[], typed: Typed): Filled {
  const values: Record<string, ParameterValue> = {};
  const problems: Record<string, string> = {};
  for (const parameter of parameters) {
    const { name } = parameter;
    const value = givenValue(parameter, typed[name] ?? "");
    if (value === null) {
      if (isNeeded(parameter)) problems[name] = "Give a value.";
      continue;
    }
    const problem = problemOf(parameter, value);
    if (problem) problems[name] = problem;
    else if (value !== parameter.default) values[name] = value;
  }
  return { values, problems };
}

/** Whether the deployment is refused without a value. */
export const isNeeded = ({ required, default: preset, generator }: TemplateParameter): boolean =>
  required === true && preset === undefined && generator === undefined;

/** Null where nothing is given. */
function givenValue(parameter: TemplateParameter, typed: string | boolean): ParameterValue | null {
  if (typeof typed === "boolean") return typed;
  if (typed === "") return null;
  const control = controlOf(parameter);
  if (control === "choice") return JSON.parse(typed) as ParameterValue;
  return control === "number" ? Number(typed) : typed;
}

function problemOf(parameter: TemplateParameter, value: ParameterValue): string | null {
  const { type, min, max, pattern } = parameter;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return "Give a number.";
    if (type === "integer" && !Number.isSafeInteger(value)) return "Give a whole number.";
    if (min !== undefined && value < min) return `The least is ${min}.`;
    return max !== undefined && value > max ? `The greatest is ${max}.` : null;
  }
  if (typeof value !== "string" || controlOf(parameter) === "choice") return null;
  const length = Array.from(value).length;
  if (min !== undefined && length < min) return `Give at least ${min} characters.`;
  if (max !== undefined && length > max) return `Give at most ${max} characters.`;
  return pattern !== undefined && matches(pattern, value) === false ? `It has to match ${pattern}` : null;
}

const LONGEST_TESTED = 300;
const MOST_REPETITIONS = 3;

/**
 * Whether a text matches a pattern of RE2, or null where the server has to decide. A pattern may come from anybody who writes
 * templates, and a browser's own engine can take for ever on one that repeats a repetition; and RE2 reads some escapes in
 * another way. Only patterns in which the two agree, and which end soon, are tested here.
 */
export function matches(pattern: string, text: string): boolean | null {
  const bare = pattern.replace(/\\[.d/]/g, "x");
  const isPlain = !/\\|\(\?|\[\[|\)[*+{]/.test(bare);
  const repetitions = bare.match(/[*+{]/g)?.length ?? 0;
  if (!isPlain || repetitions > MOST_REPETITIONS || text.length > LONGEST_TESTED) return null;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return null;
  }
}

const GENERATED: Readonly<Record<NonNullable<TemplateParameter["generator"]>, string>> = {
  random_password: "Made up when left empty: random letters and digits",
  random_hex: "Made up when left empty: random hexadecimal digits",
  uuid: "Made up when left empty: a UUID",
};

/** The words in an empty field: what happens when it stays empty. */
export function placeholderOf({ default: preset, generator, required }: TemplateParameter): string {
  if (generator) return GENERATED[generator];
  if (preset !== undefined) return `${preset}`;
  return required ? "" : "Optional";
}

/** The limits of a parameter in words, for the page of a template. */
export function limitsOf({ type, min, max, pattern, options }: TemplateParameter): string {
  const unit = type === "string" || type === "secret" ? " characters" : "";
  const parts = [
    min !== undefined && max !== undefined ? `${min} to ${max}${unit}` : "",
    min !== undefined && max === undefined ? `at least ${min}${unit}` : "",
    min === undefined && max !== undefined ? `at most ${max}${unit}` : "",
    pattern === undefined ? "" : `matches ${pattern}`,
    options ? `one of ${options.join(", ")}` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** The values without those that are secret, for commands that are shown. */
export function shownValues(parameters: readonly TemplateParameter[], values: Filled["values"]): Filled["values"] {
  const secret = new Set(parameters.filter(({ type }) => type === "secret").map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, secret.has(name) ? "…" : value]));
}
