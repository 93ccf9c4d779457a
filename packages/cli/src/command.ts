import type { Answer, CallName, Client, ListName, OperationName } from "@binnacle/client";
import { parseAllDocuments, parseDocument } from "yaml";
import type { PositionOf } from "./failure.ts";
import type { Finder, Flags, RefKind } from "./find.ts";
import { CliError, EXIT, type Host } from "./host.ts";
import type { Colors, Format, Row, Style, View } from "./output.ts";
import type { Asked, State, Target } from "./state.ts";

/** How the text of a field becomes a value; a kind of reference becomes the parameters that address the resource. */
export type Kind = "text" | "integer" | "flag" | "list" | "map" | "secret" | RefKind;

/** One argument or option of a command. */
export interface Field {
  /** As it is written: `<name>`, `[name]`, `--flag <value>`. Places such as `--org` are options of every command. */
  readonly from: string;
  /** The parameter it fills, `body.<field>` for one of the body; left out where the command reads it itself. */
  readonly to?: string;
  readonly kind?: Kind;
  readonly help?: string;
  readonly choices?: readonly string[];
  /** A secret that is asked for where it is not given. */
  readonly isRequired?: boolean;
  readonly preset?: string;
  /** A value that the command itself stands for. */
  readonly constant?: unknown;
}

export interface Given {
  readonly args: Readonly<Record<string, string>>;
  /** The rest of a variadic argument. */
  readonly rest: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** The resolved parameters, with the body. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Command {
  /** Such as `clusters rbac grant <user>`; the arguments are described by `fields`. */
  readonly usage: string;
  readonly about: string;
  readonly fields: readonly Field[];
  /** The operations it calls. Every operation of the contract is in one of these. */
  readonly uses: readonly OperationName[];
  /** Takes the body, or parts of it, from a file. */
  readonly takesFile?: boolean;
  readonly notes?: string;
  /** Returns the exit code, which is an `ExitCode` or that of a command elsewhere. */
  run(call: Call, given: Given): Promise<number | undefined>;
}

export interface Call {
  readonly host: Host;
  readonly client: Client;
  readonly target: Target;
  readonly state: State;
  /** The context and the address that the command line names. */
  readonly asked: Asked & Flags;
  readonly fetch: Host["fetch"];
  readonly find: Finder;
  readonly format: Format;
  readonly style: Style;
  /** For what is said on stderr, which may be a terminal where stdout is none. */
  readonly errColors: Colors;
  readonly isConfirmed: boolean;
  /** Says something to a person, on stderr. */
  say(text: string): void;
  show(view: View | null, body: unknown): void;
  list(view: View | null, rows: readonly Row[]): void;
  /** Remembers where the fields of a file stand, for errors about them. */
  readAs(file: string, text: string): unknown;
  locate(positionOf: PositionOf): void;
  /** Ends the command where a person says no, or where nobody can be asked. */
  confirm(question: string): Promise<void>;
}

/** One call of one operation, as data. */
export interface Verb {
  readonly usage: string;
  readonly about: string;
  readonly operation: CallName;
  readonly fields?: readonly Field[];
  readonly view?: View;
  readonly isList?: boolean;
  readonly takesFile?: boolean;
  /** Reads what goes with it, which is told before a person is asked. */
  readonly preview?: "previewAppDeletion" | "previewAddonInstanceDeletion" | "previewProjectDeletion";
  /** Asked before it is done. `{name}` is an argument. */
  readonly confirm?: string;
  /** Said when it is done; by its answer where that decides what to say. */
  readonly done?: string | ((answer: Row) => string);
  /** The part of the answer that is shown. */
  readonly limit?: number;
  readonly notes?: string;
}

export const arg = (from: string, to: string, kind: Kind = "text", help?: string): Field => ({
  from,
  to,
  kind,
  ...(help ? { help } : {}),
});
export const option = (from: string, to: string, help: string, more: Partial<Field> = {}): Field => ({
  from,
  to,
  help,
  ...more,
});
export const constant = (to: string, value: unknown): Field => ({ from: "", to, constant: value });
export const IN_ORG: Field = { from: "--org", to: "id", kind: "org" };
export const IN_PROJECT: Field = { from: "--project", to: "id", kind: "project" };
export const IN_CLUSTER: Field = { from: "--cluster", to: "id", kind: "cluster" };
export const LIMIT: Field = { from: "--limit <count>", kind: "integer", help: "show at most so many" };

export function verb(description: Verb): Command {
  const { operation, view, isList, preview, confirm, done } = description;
  const fields = [...(description.fields ?? []), ...(isList ? [LIMIT] : [])];
  return {
    usage: description.usage,
    about: description.about,
    fields,
    uses: [operation, ...(preview ? [preview] : [])],
    ...(description.takesFile ? { takesFile: true } : {}),
    ...(description.notes ? { notes: description.notes } : {}),
    async run(call, given) {
      if (isList) {
        const rows = await taken(call, operation as ListName, given.input, limitOf(given) ?? description.limit);
        call.list(view ?? null, rows);
        return undefined;
      }
      if (preview && !call.isConfirmed) call.say(losses(await send(call, preview, given.input)).join("\n"));
      if (confirm) await call.confirm(filled(confirm, given));
      const answer = await send(call, operation, given.input);
      if (done) call.say(typeof done === "string" ? filled(done, given) : done(answer));
      if (answer !== null && answer !== undefined) call.show(view ?? null, answer);
      return undefined;
    },
  };
}

/** What a deletion takes with it, as lines for a person. */
export function losses(preview: Answer<"previewAppDeletion">): string[] {
  const { apps, addon_instances, components, objects, volumes, volumes_known, message } = preview;
  const named = (title: string, names: readonly string[]) =>
    names.length > 0 ? [`${title}: ${names.join(", ")}`] : [];
  return [
    ...named(
      "Apps that go",
      apps.map(({ name }) => name),
    ),
    ...named(
      "Addons that go",
      addon_instances.map(({ name }) => name),
    ),
    ...named("Components that go", components),
    ...(objects.length > 0 ? [`Objects in the cluster that go: ${objects.length}`] : []),
    ...volumes.map(({ claim, size, fate, recovery }) =>
      [`Volume ${claim}${size ? ` (${size})` : ""} is ${fate}.`, recovery].join(" "),
    ),
    ...(volumes_known ? [] : [message ?? "The cluster has not said which volumes there are."]),
  ];
}

/** The table of commands is data, so an operation and its input meet here without types; the server checks them. */
export function send<N extends CallName>(call: Call, operation: N, input: object): Promise<Answer<N>> {
  const untyped = call.client.call as (name: N, input: object, options: object) => Promise<Answer<N>>;
  return untyped(operation, input, { signal: call.host.interrupted });
}

export async function taken(call: Call, operation: ListName, input: object, limit?: number): Promise<Row[]> {
  const rows: Row[] = [];
  const pages = call.client.pages as (name: ListName, input: object, options: object) => AsyncGenerator<Row>;
  for await (const row of pages(operation, input, { signal: call.host.interrupted })) {
    if (limit !== undefined && rows.length >= limit) break;
    rows.push(row);
  }
  return rows;
}

/** An option that was given. */
export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const limitOf = ({ options }: Given): number | undefined => options["limit"] as number | undefined;

const filled = (text: string, { args }: Given): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => args[name] ?? name);

/** Sets `body.a.b` in an input. */
export function place(input: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  let at = input;
  for (const key of keys) {
    const next = (at[key] ?? {}) as Record<string, unknown>;
    at[key] = next;
    at = next;
  }
  at[last] = value;
}

/** A value of an option that needs no request. */
export function parsedValue(name: string, kind: Kind, text: string): unknown {
  if (kind === "integer") {
    if (!/^-?\d{1,15}$/.test(text)) throw new CliError(`${name} takes a whole number, not "${text}".`);
    return Number(text);
  }
  if (kind !== "list") return text;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

/** `key=value` pairs; a value is YAML, so that `replicas=3` is a number. */
export function pairs(name: string, texts: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new CliError(`${name} takes key=value, not "${text}".`);
      return [text.slice(0, at), parseDocument(text.slice(at + 1)).toJS() ?? text.slice(at + 1)];
    }),
  );
}

const DURATION = /^(\d{1,9})(ms|s|m|h|d)?$/;
const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90`, `90s`, `5m`, `1h`: seconds where no unit is said. */
export function durationMs(name: string, text: string): number {
  const [, count, unit = "s"] = DURATION.exec(text) ?? [];
  if (count === undefined) throw new CliError(`${name} takes a duration such as 30s, 5m or 1h, not "${text}".`);
  return Number(count) * MS[unit as keyof typeof MS];
}

/** The lines of a YAML text, by the path of a field; the nearest parent stands in for a field that is missing. */
export function positionsIn(file: string, text: string, docIndex = 0): PositionOf {
  return (path) => {
    const document = parseAll(text)[docIndex];
    if (!document) return null;
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      const range = (node as { range?: readonly number[] } | undefined)?.range;
      if (range) return `${file}:${text.slice(0, range[0]).split("\n").length}`;
    }
    return file;
  };
}

export const parseAll = (text: string) => {
  const documents = parseAllDocuments(text);
  return Array.isArray(documents) ? documents : [];
};

/** One YAML or JSON document. A mistake in it is told with its line. */
export function parsedFile(file: string, text: string): unknown {
  const [document, second] = parseAll(text);
  if (second) throw new CliError(`${file} holds several documents, and one is expected.`);
  if (!document) return {};
  const [problem] = document.errors;
  if (problem) throw yamlProblem(file, text, problem);
  return document.toJS();
}

export function yamlProblem(
  file: string,
  text: string,
  problem: { readonly message: string; readonly pos: readonly number[] },
): CliError {
  const line = text.slice(0, problem.pos[0] ?? 0).split("\n").length;
  return new CliError(
    `${file}:${line}: ${problem.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "not YAML"}`,
    EXIT.usage,
  );
}
