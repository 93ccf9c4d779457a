import type { Answer, CallName, Client, Input, ItemOf, ListName, OperationName } from "@binnacle/client";
import { parseDocument } from "yaml";
import type { Finder, Flags, RefKind } from "./find.ts";
import { CliError, type Host } from "./host.ts";
import type { PositionOf } from "./manifest.ts";
import type { Colors, Format, Style, View } from "./output.ts";
import type { Asked, State, Target } from "./state.ts";
import { showList, WATCH } from "./watching.ts";

/** How the text of a field becomes a value; a kind of reference becomes the parameters that address the resource. */
export type Kind = (typeof TYPED)[number] | RefKind;

/** Kinds that are read without asking the control plane. A `file` and a `key` are read by the command itself. */
const TYPED = ["text", "integer", "flag", "list", "map", "secret", "file", "key"] as const;
export const isReference = (kind: Kind): kind is RefKind => !TYPED.some((typed) => typed === kind);

type Keys<T> = T extends readonly unknown[] ? never : T extends object ? Extract<keyof T, string> : never;
type At<T, K extends string> = T extends object ? (K extends keyof T ? NonNullable<T[K]> : never) : never;
type BodyOf<N extends OperationName> = At<Input<N>, "body">;

/** The parameters of an operation, `body.<field>` for those of the body, and `*` for what a reference fills in by itself. */
export type InputPath<N extends OperationName> =
  | "*"
  | Keys<Input<N>>
  | `body.${Keys<BodyOf<N>>}`
  | { [K in Keys<BodyOf<N>>]: `body.${K}.${Keys<At<BodyOf<N>, K>>}` }[Keys<BodyOf<N>>];

/** One argument or option of a command. */
export interface Field<P extends string = string> {
  /** As it is written: `<name>`, `[name]`, `--flag <value>`. Places such as `--org` are options of every command. */
  readonly from: string;
  /** The parameter it fills; left out where the command reads it itself. */
  readonly to?: P;
  readonly kind?: Kind;
  readonly help?: string;
  readonly choices?: readonly string[];
  /** A secret that is asked for where it is not given. */
  readonly isRequired?: boolean;
  /** What an option is unless given. Of a file that is an argument, the name that `commandLine` prints. */
  readonly preset?: string;
  /** A value that the command itself stands for. */
  readonly constant?: unknown;
  /** A flag with which a person says that this parameter is left out. */
  readonly unless?: P;
}

export interface Given<I = Readonly<Record<string, unknown>>> {
  readonly args: Readonly<Record<string, string>>;
  /** The rest of a variadic argument. */
  readonly rest: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** The parameters that the fields have filled in, with the body. The server checks whether any is missing. */
  readonly input: I;
}

/** What a person gives to a command whose fields fill the input of an operation. */
export type GivenFor<N extends OperationName> = Given<Input<N>>;

interface Description<N extends OperationName> {
  readonly fields?: readonly Field<InputPath<N>>[];
  /** Takes the body, or parts of it, from a file. */
  readonly takesFile?: boolean;
  readonly notes?: string;
}

/** A command of the table. Every operation of the contract is in the `operations` or `also` of one. */
export interface Command {
  /** Such as `clusters rbac grant <cluster>`; the arguments are described by `fields`. */
  readonly usage: string;
  readonly about: string;
  /** Those that it stands for, see `commandLine`. */
  readonly operations: readonly OperationName[];
  /** Further ones that it calls. */
  readonly also?: readonly OperationName[];
  readonly fields: readonly Field[];
  readonly takesFile?: boolean;
  readonly notes?: string;
  /** Returns the exit code, which is an `ExitCode` or that of a command elsewhere. */
  run(call: Call, given: Given): Promise<number | undefined>;
}

/** A command of its own, whose fields fill the input of an operation, or of one of several. */
export function command<N extends OperationName>(
  operation: N | readonly N[],
  usage: string,
  about: string,
  rest: Description<N> & Pick<Command, "also"> & { run(call: Call, given: GivenFor<N>): ReturnType<Command["run"]> },
): Command {
  const operations: readonly N[] = Array.isArray(operation) ? operation : [operation];
  // What a person types becomes an input here, by fields that are checked against the operation.
  const run: Command["run"] = (call, given) => rest.run(call, given as GivenFor<N>);
  return { fields: [], ...rest, usage, about, operations, run };
}

/** A command that reads and changes what is on this computer. */
export const local = (
  usage: string,
  about: string,
  run: Command["run"],
  more: Partial<Pick<Command, "fields" | "notes" | "also">> = {},
): Command => ({ usage, about, operations: [], fields: [], run, ...more });

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
  /** For what is said on stderr, which may be a terminal where stdout is not. */
  readonly errColors: Colors;
  readonly isConfirmed: boolean;
  /** Prints a message for a person, on stderr. */
  info(text: string): void;
  show<T>(view: View<T> | null, body: T): void;
  list<T>(view: View<T> | null, rows: readonly T[]): void;
  /** Prints one of many things that come one after the other, such as a line of a log. */
  item(text: string, body: unknown): void;
  /** Prints what has one form only, such as a table that was drawn. */
  print(text: string): void;
  /** Remembers where the fields of a file stand, for errors about them. */
  readAs(file: string, text: string): unknown;
  locate(positionOf: PositionOf): void;
  /** Ends the command where a person says no, or where nobody can be asked. */
  confirm(question: string): Promise<void>;
}

export const isTable = ({ format }: Call) => format.kind === "table" || format.kind === "wide";

type Preview = "previewAppDeletion" | "previewAddonInstanceDeletion" | "previewProjectDeletion";

interface Verb<N extends CallName> extends Description<N> {
  readonly view?: View<NonNullable<Answer<N>>>;
  /** Reads what goes with it, which is told before a person is asked. */
  readonly preview?: Preview;
  /** Asked before it is done. `{name}` is an argument. */
  readonly confirm?: string;
  /** Said when it is done; by its answer where that decides what to say. */
  readonly done?: string | ((answer: Answer<N>) => string);
}

/** One call of one operation. */
export function verb<N extends CallName>(operation: N, usage: string, about: string, rest: Verb<N> = {}): Command {
  const { view = null, preview, confirm, done, ...description } = rest;
  return command<N>(operation, usage, about, {
    ...description,
    also: preview ? [preview] : [],
    async run(call, given) {
      if (preview) await confirmLosses(call, preview, given.input as Input<Preview>, filled(confirm ?? "", given));
      else if (confirm) await call.confirm(filled(confirm, given));
      const answer = await send(call, operation, given.input);
      if (done) call.info(typeof done === "string" ? filled(done, given) : done(answer));
      if (answer !== null && answer !== undefined) call.show(view, answer);
    },
  });
}

/** All items of a list, or as many as `--limit` says. */
export function listing<N extends ListName>(
  operation: N,
  usage: string,
  about: string,
  rest: Description<N> & { readonly view: View<ItemOf<N>>; readonly limit?: number },
): Command {
  const { view, limit, fields = [], ...description } = rest;
  return command<N>(operation, usage, about, {
    ...description,
    fields: [...fields, LIMIT, WATCH],
    run: async (call, given) => {
      await showList(call, given, view, () => listAll(call, operation, given.input, limitOf(given) ?? limit));
      return undefined;
    },
  });
}

export const arg = <const P extends string>(from: string, to: P, kind: Kind = "text", help?: string): Field<P> => ({
  from,
  to,
  kind,
  ...(help ? { help } : {}),
});
export const option = <const P extends string>(
  from: string,
  to: P,
  help: string,
  more: Partial<Omit<Field, "to" | "unless">> = {},
): Field<P> => ({ from, to, help, ...more });
export const constant = <const P extends string>(to: P, value: unknown): Field<P> => ({
  from: "",
  to,
  constant: value,
});
export const inOrg = <const P extends string>(to: P): Field<P> => ({ from: "--org", to, kind: "org" });
export const inProject = <const P extends string>(to: P): Field<P> => ({ from: "--project", to, kind: "project" });
export const inCluster = <const P extends string>(to: P): Field<P> => ({ from: "--cluster", to, kind: "cluster" });
export const LIMIT: Field<never> = { from: "--limit <count>", kind: "integer", help: "show at most so many" };

/** Says what a deletion takes with it, and asks. */
export async function confirmLosses<P extends Preview>(
  call: Call,
  preview: P,
  input: Input<P>,
  question: string,
): Promise<void> {
  if (!call.isConfirmed) call.info(losses(await send(call, preview, input)).join("\n"));
  await call.confirm(question);
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

export const send = <N extends CallName>(call: Call, operation: N, input: Input<N>): Promise<Answer<N>> =>
  call.client.call(operation, input, { signal: call.host.interrupted });

export async function listAll<N extends ListName>(
  call: Call,
  operation: N,
  input: Input<N>,
  limit?: number,
): Promise<ItemOf<N>[]> {
  const rows: ItemOf<N>[] = [];
  for await (const row of call.client.pages(operation, input, { signal: call.host.interrupted })) {
    if (limit !== undefined && rows.length >= limit) break;
    rows.push(row);
  }
  return rows;
}

/** An option that was given. */
export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const limitOf = ({ options: { limit } }: Pick<Given, "options">): number | undefined =>
  typeof limit === "number" ? limit : undefined;

const filled = (text: string, { args }: Pick<Given, "args">): string =>
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
