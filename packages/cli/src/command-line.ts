import type { Input, OperationName } from "@binnacle/client";
import TABLE from "./generated/command-lines.json" with { type: "json" };

/** A field of a command, as far as it says how a value is typed. */
interface LineField {
  readonly from: string;
  readonly to?: string;
  readonly kind?: string;
  readonly preset?: string;
  readonly constant?: unknown;
  readonly unless?: string;
}

/** A command, as far as it says how it is typed. `npm run openapi` writes the table of them. */
export interface LineSyntax {
  readonly usage: string;
  readonly operations: readonly string[];
  readonly fields: readonly LineField[];
  readonly takesFile?: boolean;
}

/** Names of fields whose values may be secret. */
export const SECRET_KEY = /pass|secret|token|private_key|access_key|device_code|values?$|install_command/i;

const UNKNOWN = "…";
const REFERENCES: Readonly<Record<string, readonly string[]>> = {
  app: ["namespace", "name", "project_id"],
  template: ["namespace", "name", "org_id"],
};
const PAGING = ["page", "items_per_page", "cursor"];

/**
 * The `binnacle …` that a person types for a call, quoted for a shell. Commands take names where the API takes ids, so names may
 * stand in the input. Secrets are never printed: a parameter of a template that is one has to be covered in the input. Null where no
 * command stands for the operation, or none can say all of the input.
 */
export function commandLine<N extends OperationName>(operation: N, input: Input<N>): string | null {
  const given = input as Fields;
  for (const command of TABLE as readonly LineSyntax[]) {
    if (!command.operations.includes(operation)) continue;
    if (command.fields.some(({ to, constant }) => constant !== undefined && valueAt(given, to) !== constant)) continue;
    const words = wordsOf(command, given);
    if (words) return ["binnacle", ...words.map(quoted)].join(" ");
  }
  return null;
}

type Fields = Readonly<Record<string, unknown>>;

function wordsOf(command: LineSyntax, input: Fields): readonly string[] | null {
  const { usage, fields } = command;
  const isWhole = saysAll(command, input);
  if (!isWhole && !command.takesFile) return null;
  const path = usage.split(" ").filter((word) => !/^[<[]/.test(word));
  const args = usage
    .split(" ")
    .slice(path.length)
    .flatMap((word) => {
      // Where one argument is an id and a name, as of a cluster to abandon, the name stands last and says both.
      const field = fields.findLast(({ from }) => from === word);
      const several = word.includes("...") ? valueAt(input, field?.to) : undefined;
      if (Array.isArray(several)) return several.map(String);
      const typed = field ? textOf(field, input) : null;
      return typed === null ? (word.startsWith("<") ? [UNKNOWN] : []) : [typed];
    });
  const options = fields.flatMap((field) => optionTokens(field, input));
  const file = isWhole ? [] : ["-f", "request.yaml"];
  // A value that begins with a dash would be taken for an option.
  return args.some((word) => word.startsWith("-"))
    ? [...path, ...options, ...file, "--", ...args]
    : [...path, ...args, ...options, ...file];
}

/** Whether the arguments and options of the command say all of the input. */
function saysAll({ fields }: LineSyntax, { body, ...parameters }: Fields): boolean {
  if (fields.some(({ kind }) => kind === "file")) return true;
  const said = new Set(fields.flatMap(({ to = "", kind = "" }) => REFERENCES[kind] ?? [to]));
  // An option has no way to say null, which empties a field.
  const isSaid = (path: string, value: unknown): boolean =>
    (value !== null && said.has(path)) ||
    (isFields(value) &&
      [...said].some((other) => other.startsWith(`${path}.`)) &&
      Object.entries(value).every(([key, inner]) => isSaid(`${path}.${key}`, inner)));
  // A command sets one secret at a time.
  const isOneKey = said.has("body") && isFields(body) && Object.keys(body).length === 1;
  return [
    ...Object.entries(parameters).filter(([key]) => !PAGING.includes(key)),
    ...Object.entries(isFields(body) && !isOneKey ? body : {}).map(([key, value]) => [`body.${key}`, value] as const),
  ].every(([path, value]) => value === undefined || isSaid(path, value));
}

function optionTokens(field: LineField, input: Fields): readonly string[] {
  const { from, to, kind, preset, unless } = field;
  if (kind === "template") return typeof input["org_id"] === "string" ? ["--org", input["org_id"]] : [];
  if (!from.startsWith("-")) return [];
  const name = from.split(" ").find((word) => word.startsWith("--")) ?? from;
  if (kind === "file") return ["-f", preset ?? UNKNOWN];
  const value = valueAt(input, to);
  if (kind === "map" && isFields(value)) {
    const isUnsaid = (key: string, each: unknown) => each === UNKNOWN || SECRET_KEY.test(key);
    return Object.entries(value).flatMap(([key, each]) => [
      name,
      `${key}=${isUnsaid(key, each) ? UNKNOWN : yamlOf(each)}`,
    ]);
  }
  if (unless !== undefined) return valueAt(input, unless) === undefined ? [name] : [];
  if (kind === "flag") return value === true ? [name] : [];
  if (kind === "secret") return typeof value === "string" ? [`${name}-file`, `${name.slice(2)}.txt`] : [];
  const text = textOf(field, input);
  return text === null ? [] : [name, text];
}

function textOf({ to, kind = "text", preset }: LineField, input: Fields): string | null {
  if (kind === "file") return preset ?? null;
  if (kind in REFERENCES) {
    const { namespace, name } = input;
    return typeof name === "string" ? [namespace, name].filter(Boolean).join("/") : null;
  }
  const value = valueAt(input, to);
  if (value === undefined || value === null) return null;
  // The name of a secret is said, and its value is asked for.
  if (kind === "key") return isFields(value) ? (Object.keys(value)[0] ?? null) : null;
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const valueAt = (input: Fields, path: string | undefined): unknown =>
  path?.split(".").reduce<unknown>((at, key) => (isFields(at) ? at[key] : undefined), input);

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value of a `key=value` is YAML, where a text may read as something else. */
const yamlOf = (value: unknown): string =>
  typeof value === "string" && /^[a-z][\w./-]*$/i.test(value) && !/^(true|false|null)$/i.test(value)
    ? value
    : JSON.stringify(value);

const quoted = (word: string): string => (/^[\w@%+=:,./…-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The table of `commandLine`, a line for each command. */
export function lineTable(commands: readonly LineSyntax[]): string {
  const lines = commands
    .filter(({ operations }) => operations.length > 0)
    .map(({ usage, operations, fields, takesFile }) => {
      const typed = fields
        .map(({ from, to, kind, preset, constant, unless }) => ({
          from,
          to,
          kind,
          constant,
          unless,
          ...(kind === "file" ? { preset } : {}),
        }))
        .filter(({ to, kind, unless }) => to !== undefined || unless !== undefined || kind === "file");
      return JSON.stringify({ usage, operations, fields: typed, ...(takesFile ? { takesFile } : {}) });
    });
  return `[\n${lines.join(",\n")}\n]\n`;
}
