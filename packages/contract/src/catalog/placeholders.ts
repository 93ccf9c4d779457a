import Type, { type Static } from "typebox";
import { strict } from "../fields.ts";

/**
 * `${name}` stands for a value, `$${` for the two characters `${`. The one grammar of placeholders, for stack templates and
 * for the exports of addons.
 */

export interface Placeholder {
  readonly name: string;
}
type Part = string | Placeholder;

/**
 * Splits the text into literal parts and placeholders in one pass. A regular expression would search for the end of
 * each placeholder anew, so a text full of `${` would take quadratic time.
 */
export function scanPlaceholders(text: string): Part[] {
  const parts: Part[] = [];
  const lastEnd = text.lastIndexOf("}");
  let at = 0;
  for (let start = text.indexOf("${"); start !== -1; start = text.indexOf("${", Math.max(at, start + 1))) {
    const isEscaped = start > at && text[start - 1] === "$";
    // A placeholder without an end is literal text.
    if (!isEscaped && start > lastEnd) continue;
    const plain = text.slice(at, isEscaped ? start - 1 : start);
    if (plain) parts.push(plain);
    const end = isEscaped ? start + 1 : text.indexOf("}", start);
    parts.push(isEscaped ? "${" : { name: text.slice(start + 2, end) });
    at = end + 1;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** The names of all placeholders anywhere in a value. Keys of objects are not searched. */
export function placeholdersIn(value: unknown): Set<string> {
  const names = new Set<string>();
  collectPlaceholders(value, names);
  return names;
}

function collectPlaceholders(value: unknown, names: Set<string>): void {
  if (typeof value === "string") {
    for (const part of scanPlaceholders(value)) if (typeof part === "object") names.add(part.name);
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) collectPlaceholders(item, names);
  }
}

/**
 * A string that is exactly one placeholder becomes the value, whatever its type. Inside other text, the value's text is
 * inserted.
 */
export function fillPlaceholders(value: unknown, meaning: (name: string) => unknown): unknown {
  if (typeof value === "string") return filledText(value, meaning);
  if (Array.isArray(value)) return value.map((item) => fillPlaceholders(item, meaning));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillPlaceholders(item, meaning)]));
}

function filledText(text: string, meaning: (name: string) => unknown): unknown {
  const parts = scanPlaceholders(text);
  const [first] = parts;
  if (parts.length === 1 && typeof first === "object") return meaning(first.name);
  return parts.map((part) => (typeof part === "string" ? part : String(meaning(part.name)))).join("");
}

/**
 * Where the operator reads what an addon exports. A closed grammar of three sources, whose texts may hold placeholders:
 *
 *     {secret: NAME, key}    the value under that key of a Secret in the release's namespace
 *     {service: NAME}        the DNS name of a Service there; with `port`, `name:port`
 *     {value: TEXT}          the text itself
 *
 *     NAME   ${release} | ${namespace} | ${fullname}: what Helm charts name their objects after
 *     TEXT   these, ${values.a.b} (a value of the release) and ${exports.key} (an export that is not made of exports);
 *            with `|uri` behind the name, escaped for use inside a URL
 */
const NameTemplate = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: "^([a-z0-9-]|\\$\\{(release|namespace|fullname)\\})+$",
  examples: [`\${fullname}`],
});

const TEXT_NAME = "(release|namespace|fullname|values(\\.[A-Za-z0-9_-]+)+|exports\\.[A-Za-z0-9_.-]+)";
const TextTemplate = Type.String({
  minLength: 1,
  maxLength: 2000,
  // The first two characters decide which alternative matches, so a text is matched in one way only and without
  // backtracking.
  pattern: `^([^$]|\\$[^\${]|\\$\\$+[^$]|\\$\\{${TEXT_NAME}(\\|uri)?\\})*(\\$\\$?)?$`,
  examples: [`nats://\${exports.host}:4222`],
});

export const ExportSource = Type.Union(
  [
    Type.Object(
      { secret: NameTemplate, key: Type.String({ minLength: 1, maxLength: 253, pattern: "^[A-Za-z0-9._-]+$" }) },
      strict,
    ),
    Type.Object({ service: NameTemplate, port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })) }, strict),
    Type.Object({ value: TextTemplate }, strict),
  ],
  { examples: [{ service: `\${fullname}` }] },
);
export type ExportSource = Static<typeof ExportSource>;

/** The values of the placeholders of a source, as far as they are known. */
export interface ReleaseFacts {
  readonly release: string;
  readonly namespace: string;
  readonly chart: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly exports: Readonly<Record<string, string>>;
}

/** Returns the filled template, or null while a value that it names is not known. */
export function fillExportTemplate(template: string, facts: ReleaseFacts): string | null {
  const texts = scanPlaceholders(template).map((part) =>
    typeof part === "string" ? part : meaningOf(part.name, facts),
  );
  return texts.includes(null) ? null : texts.join("");
}

function meaningOf(placeholder: string, facts: ReleaseFacts): string | null {
  const [name = "", filter] = placeholder.split("|");
  const text = textOf(name, facts);
  return text !== null && filter === "uri" ? encodeURIComponent(text) : text;
}

function textOf(name: string, facts: ReleaseFacts): string | null {
  if (name === "release") return facts.release;
  if (name === "namespace") return facts.namespace;
  if (name === "fullname") return helmFullname(facts.release, facts.chart);
  const dot = name.indexOf(".");
  const rest = name.slice(dot + 1);
  if (name.slice(0, dot) === "exports")
    return Object.hasOwn(facts.exports, rest) ? (facts.exports[rest] ?? null) : null;
  const value = valueAt(facts.values, rest.split("."));
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : null;
}

/** Returns undefined where the path does not exist. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<string | number, unknown>)[step]
        : undefined,
    value,
  );
}

const LONGEST_NAME = 63;

/** Follows the convention of Helm charts: the chart's name is not repeated where the release's name contains it. */
export function helmFullname(release: string, chart: string): string {
  const name = release.includes(chart) ? release : `${release}-${chart}`;
  return name.slice(0, LONGEST_NAME).replace(/-$/, "");
}
