import { type Client, createClient, type SessionTokens } from "@binnacle/client";
import { CommanderError, Option, Command as Program } from "commander";
import pc from "picocolors";
import manifest from "../package.json" with { type: "json" };
import {
  type Call,
  type Command,
  type Field,
  type Given,
  pairs,
  parsedFile,
  parsedValue,
  place,
  positionsIn,
} from "./command.ts";
import { isCheckDue, noteContract } from "./contract.ts";
import { type PositionOf, requestLines, told } from "./failure.ts";
import { Finder } from "./find.ts";
import { CliError, EXIT, type Host, printable } from "./host.ts";
import { FORMATS, parseFormat, rendered, type Style } from "./output.ts";
import { changeState, parseState, type Target, targetOf, withSession } from "./state.ts";

export const VERSION: string = manifest.version;

/** The options of every command. */
interface Globals {
  readonly context?: string;
  readonly url?: string;
  readonly org?: string;
  readonly project?: string;
  readonly cluster?: string;
  readonly output: string;
  readonly color: "auto" | "always" | "never";
  readonly debug?: boolean;
  readonly yes?: boolean;
}

/** A noun; `heading` is what it stands under in the help of the program. */
export interface Group {
  readonly path: string;
  readonly about: string;
  readonly heading?: string;
}

const PLACES = new Set(["--org", "--project", "--cluster"]);

/** Runs one command line and returns its exit code. It writes to the host alone. */
export async function runCli(
  argv: readonly string[],
  host: Host,
  commands: readonly Command[],
  groups: readonly Group[],
): Promise<number> {
  const run: Run = { host, pending: [], positionOf: () => null };
  const program = programOf(commands, groups, run);
  try {
    await program.parseAsync([...argv], { from: "user" });
    await Promise.all(run.pending);
    return run.exitCode ?? EXIT.ok;
  } catch (error) {
    await Promise.allSettled(run.pending);
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (host.interrupted.aborted) return EXIT.interrupted;
    const { lines, exitCode } = told(error, run.positionOf);
    host.err.write(`${lines.join("\n")}\n`);
    return exitCode;
  }
}

interface Run {
  readonly host: Host;
  /** Writes of the session that are under way. */
  readonly pending: Promise<void>[];
  positionOf: PositionOf;
  exitCode?: number;
  /** Checks the contract of the control plane that the command has called, if it is time. */
  checkContract?: () => Promise<void>;
}

function programOf(commands: readonly Command[], groups: readonly Group[], run: Run): Program {
  const { host } = run;
  const program = new Program("binnacle")
    .description("Runs applications on many Kubernetes clusters.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.out.write(text),
      writeErr: (text) => host.err.write(text),
      getOutHelpWidth: () => host.out.columns || 100,
      getErrHelpWidth: () => host.err.columns || 100,
      getOutHasColors: () => host.out.isTerminal,
      getErrHasColors: () => host.err.isTerminal,
      outputError: (text, write) =>
        write(text.replace(/^\(Did you mean (.*)\?\)$/m, (_, name: string) => `fix: did you mean ${name}?`)),
    })
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false })
    .version(VERSION, "-V, --version", "print the version of this program")
    .option("-o, --output <format>", FORMATS, "table")
    .option("--org <organization>", "its name or id")
    .option("--project <project>", "its name or id")
    .option("--cluster <cluster>", "its name or id")
    .option("--context <name>", "the control plane to use")
    .option("--url <address>", "of the control plane, instead of the context's")
    .addOption(
      new Option("--color <when>", "colours in the output").choices(["auto", "always", "never"]).default("auto"),
    )
    .option("-y, --yes", "do not ask")
    .option("--debug", "print every request, with secrets masked");
  program.addHelpText(
    "after",
    "\nEvery option above works with every command.\nExit codes: 0 ok, 1 failed, 2 usage or differences, 3 not found, 4 refused, 5 conflict, 6 time-out, 7 unreachable.",
  );
  const nodes = new Map<string, Program>([["", program]]);
  const known = new Map(groups.map((group) => [group.path, group]));

  function nodeOf(path: readonly string[]): Program {
    const key = path.join(" ");
    const there = nodes.get(key);
    if (there) return there;
    const isHidden = path[0]?.startsWith("__") === true;
    const made = nodeOf(path.slice(0, -1)).command(path.at(-1) ?? "", { hidden: isHidden });
    made.description(known.get(key)?.about ?? "").helpGroup(known.get(key)?.heading ?? "Commands:");
    nodes.set(key, made);
    return made;
  }

  for (const command of commands) add(command);
  return program;

  function add(command: Command): void {
    const words = command.usage.split(" ");
    const path = words.filter((word) => !/^[<[]/.test(word));
    const made = nodeOf(path).description(command.about).showHelpAfterError(false);
    for (const word of words.slice(path.length)) made.argument(word, helpOf(command, word));
    for (const field of command.fields) addOption(made, field);
    if (command.takesFile)
      made.option("-f, --file <file>", "YAML or JSON with the fields of the request; - is standard input");
    if (command.notes) made.addHelpText("after", `\n${command.notes}`);
    made.action(async () => {
      run.exitCode = (await perform(command, made, program.opts<Globals>(), run)) ?? EXIT.ok;
    });
  }
}

const helpOf = ({ fields }: Command, word: string): string => fields.find(({ from }) => from === word)?.help ?? "";

function addOption(program: Program, { from, kind, help = "", choices, preset }: Field): void {
  if (!from.startsWith("-") || PLACES.has(from)) return;
  if (kind === "secret") {
    program.option(`${from}-stdin`, `read ${help || "it"} from standard input`);
    program.option(`${from}-file <file>`, `read ${help || "it"} from a file`);
    return;
  }
  const option = new Option(from, help);
  if (choices) option.choices([...choices]);
  if (preset !== undefined) option.default(preset);
  if (kind === "map") option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  program.addOption(option);
}

async function perform(command: Command, program: Program, globals: Globals, run: Run): Promise<number | undefined> {
  const call = await callOf(globals, run);
  const words = command.usage.split(" ").filter((word) => /^[<[]/.test(word));
  const args: Record<string, string> = {};
  let rest: readonly string[] = [];
  words.forEach((word, index) => {
    const value = program.processedArgs[index] as string | readonly string[] | undefined;
    if (Array.isArray(value)) rest = value;
    else if (value !== undefined) args[word.replace(/[<>[\].]/g, "")] = String(value);
  });
  const options = { ...program.opts() } as Record<string, unknown>;
  const input: Record<string, unknown> = {};
  if (command.takesFile && typeof options["file"] === "string") {
    const file = options["file"];
    input["body"] = call.readAs(file, file === "-" ? await run.host.readInput() : await run.host.readFile(file));
  }
  for (const field of command.fields) {
    const value = await fieldValue(field, { args, options }, call);
    if (value === undefined) continue;
    if (field.from.startsWith("--") && !PLACES.has(field.from)) options[nameOf(field)] = value;
    if (field.to === "*") Object.assign(input, value);
    else if (field.to) place(input, field.to, value);
  }
  const given: Given = { args, rest, options, input };
  const exitCode = (await command.run(call, given)) ?? undefined;
  await run.checkContract?.();
  return exitCode;
}

const nameOf = ({ from }: Field): string => new Option(from).attributeName();

async function fieldValue(
  field: Field,
  { args, options }: Pick<Given, "args" | "options">,
  call: Call,
): Promise<unknown> {
  const { from, kind = "text" } = field;
  const isOption = from.startsWith("-");
  if (from === "") return field.constant;
  if (PLACES.has(from)) return field.to ? call.find.resolve(kind as "org", undefined) : undefined;
  if (kind === "secret") return secretOf(field, options, call);
  const text = isOption ? options[nameOf(field)] : args[from.replace(/[<>[\].]/g, "")];
  if (text === undefined) return undefined;
  if (kind === "flag" || Array.isArray(text))
    return kind === "map" ? pairs(from.split(" ")[0] ?? from, text as string[]) : text;
  if (isReference(kind)) return field.to ? call.find.resolve(kind, text as string) : text;
  return parsedValue(from.split(" ")[0] ?? from, kind, text as string);
}

const isReference = (
  kind: NonNullable<Field["kind"]>,
): kind is Exclude<typeof kind, "text" | "integer" | "flag" | "list" | "map" | "secret"> =>
  !["text", "integer", "flag", "list", "map", "secret"].includes(kind);

/** From standard input, a file or a person; never from the command line, which others on the machine can read. */
async function secretOf(
  { from, help = "secret", isRequired }: Field,
  options: Given["options"],
  { host }: Call,
): Promise<string | undefined> {
  const name = new Option(from).attributeName();
  const file = options[`${name}File`];
  if (options[`${name}Stdin`]) return withoutLineEnd(await host.readInput());
  if (typeof file === "string") return withoutLineEnd(await host.readFile(file));
  if (!isRequired) return undefined;
  if (!host.isInteractive) throw new CliError(`Give ${help} by ${from}-stdin or ${from}-file.`);
  const typed = await host.password(`${help[0]?.toUpperCase()}${help.slice(1)}`);
  if (typed === null) throw new CliError("Nothing was done.", EXIT.interrupted);
  return typed;
}

const withoutLineEnd = (text: string) => text.replace(/\r?\n$/, "");

async function callOf(globals: Globals, run: Run): Promise<Call> {
  const { host } = run;
  const format = parseFormat(globals.output);
  const wantsAuto = globals.color === "auto" && !host.env["NO_COLOR"] && host.env["TERM"] !== "dumb";
  const colorsFor = ({ isTerminal }: Host["out"]) =>
    pc.createColors(globals.color === "always" || (wantsAuto && isTerminal));
  const style: Style = {
    colors: colorsFor(host.out),
    columns: host.out.isTerminal ? host.out.columns : 0,
    get nowMs() {
      return host.now();
    },
  };
  const state = parseState(await host.readState());
  const fetch = globals.debug ? debugged(host) : host.fetch;
  let target: Target | null = null;
  let client: Client | null = null;
  const targetNow = () => (target ??= targetOf(state, globals, host.env));
  const clientNow = () => (client ??= connected(targetNow(), fetch, run));
  run.checkContract = async () => {
    const name = target?.name ?? null;
    if (client === null || name === null) return;
    // It is read again: the command may have signed out.
    const context = parseState(await host.readState()).contexts[name];
    if (!(context?.token || context?.session) || !isCheckDue(context.contract, host.now())) return;
    await noteContract(host, client, name).catch(() => undefined);
  };
  return {
    host,
    format,
    style,
    errColors: colorsFor(host.err),
    state,
    asked: globals,
    fetch,
    isConfirmed: globals.yes === true,
    get target() {
      return targetNow();
    },
    get client() {
      return clientNow();
    },
    get find() {
      return new Finder(clientNow(), globals, targetNow());
    },
    say: (text) => host.err.write(`${printable(text, { lines: true, colors: true })}\n`),
    show: (view, body) => host.out.write(rendered(view, { body, rows: [body], isList: false }, format, style)),
    list(view, rows) {
      const shown = { body: { data: rows, total_count: rows.length }, rows, isList: true };
      if (rows.length > 0 || (format.kind !== "table" && format.kind !== "wide"))
        host.out.write(rendered(view, shown, format, style));
      else host.err.write("Nothing found.\n");
    },
    readAs(file, text) {
      run.positionOf = positionsIn(file, text);
      return parsedFile(file, text);
    },
    locate(positionOf) {
      run.positionOf = positionOf;
    },
    async confirm(question) {
      if (globals.yes) return;
      if (!host.isInteractive) throw new CliError(`${question} Nobody can be asked here.`, EXIT.usage, "add --yes");
      if (!(await host.confirm(question))) throw new CliError("Nothing was done.", EXIT.failed);
    },
  };
}

/** A client of the target. A session that it renews is kept for the next run. */
function connected({ url, name, credential }: Target, fetch: Host["fetch"], run: Run): Client {
  const onSession = (session: SessionTokens | null) => {
    if (name !== null) run.pending.push(changeState(run.host, (state) => withSession(state, name, session)));
  };
  return createClient({ url, userAgent: USER_AGENT, fetch, onSession, ...credential });
}

const USER_AGENT = `binnacle-cli/${VERSION}`;

/** Prints every request and how it was answered. */
function debugged(host: Host): Host["fetch"] {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    for (const line of requestLines(init?.method ?? "GET", url, new Headers(init?.headers), init?.body))
      host.err.write(`${line}\n`);
    const startedMs = host.now();
    const response = await host.fetch(input, init);
    const id = response.headers.get("x-request-id");
    host.err.write(
      `< ${response.status} in ${Math.round(host.now() - startedMs)} ms${id ? `, request ${printable(id)}` : ""}\n`,
    );
    return response;
  };
}
