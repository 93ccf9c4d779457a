import { CommanderError, Option, Command as Program } from "commander";
import { callOf, type Globals, type Run, showDone, VERSION } from "./call.ts";
import { type Call, type Command, type Field, type Given, isReference, pairs, parsedValue, place } from "./command.ts";
import { answerTo, asked } from "./commands/completion.ts";
import { hasPath } from "./completion.ts";
import { exampleOf } from "./examples.ts";
import { errorReport } from "./failure.ts";
import { CliError, EXIT, type ExitCode, type Host, MEANINGS } from "./host.ts";
import { usageError } from "./meant.ts";
import { FORMATS } from "./output.ts";
import { expanded, withoutHelp } from "./shortcuts.ts";
import { parseState } from "./state.ts";

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
  const run: Run = { host, pending: [], positionOf: () => null, said: [] };
  try {
    if (argv[0] === "__complete") return await complete(argv.slice(1), commands, run);
    const line = withoutHelp(await withAliases(argv, commands, host));
    const program = programOf(commands, groups, run, line);
    await program.parseAsync([...line], { from: "user" });
    await Promise.all(run.pending);
    return run.exitCode ?? EXIT.ok;
  } catch (error) {
    await Promise.allSettled(run.pending);
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (host.interrupted.aborted) return EXIT.interrupted;
    const { lines, exitCode } = errorReport(error, run.positionOf, host.env);
    host.err.write(`${lines.join("\n")}\n`);
    return exitCode;
  }
}

/** The aliases are read only where the line does not begin with a command. */
async function withAliases(
  argv: readonly string[],
  commands: readonly Command[],
  host: Host,
): Promise<readonly string[]> {
  const [first = "-"] = argv;
  if (first.startsWith("-") || first === "help" || hasPath(commands, [first])) return argv;
  return expanded(argv, parseState(await host.readState()).aliases ?? {});
}

/** Answers a shell. It is not parsed as a command, because the words are those of another line. */
async function complete(argv: readonly string[], commands: readonly Command[], run: Run): Promise<ExitCode> {
  const position = asked(argv, commands);
  const { flags } = position;
  const globals = { output: "table", color: "never" as const };
  const places = Object.fromEntries(
    ["context", "url", "org", "project", "cluster"].map((name) => [name, flags[`--${name}`]] as const),
  );
  const call = await callOf({ ...globals, ...places }, run);
  run.host.out.write(await answerTo(call, position));
  await Promise.allSettled(run.pending);
  return EXIT.ok;
}

function programOf(commands: readonly Command[], groups: readonly Group[], run: Run, argv: readonly string[]): Program {
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
      outputError: (text, write) => write(usageError(text, commands, argv)),
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
    ["\nEvery option above works with every command.\n\nExit codes:", ...exitCodes()].join("\n"),
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
    const example = exampleOf(command);
    const more = [command.notes, example && `Example: ${example}`].filter(Boolean).join("\n");
    if (more) made.addHelpText("after", `\n${more}`);
    made.action(async () => {
      run.exitCode = (await perform(command, made, program.opts<Globals>(), run)) ?? EXIT.ok;
    });
  }
}

const exitCodes = () =>
  Object.entries(MEANINGS).map(([name, meaning]) => `  ${String(EXIT[name as keyof typeof EXIT]).padEnd(5)}${meaning}`);

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

/** An option of which the command above has one too is read by that one, wherever it stands. Its others are not for this command. */
function optionsOf(program: Program): Record<string, unknown> {
  const above = program.parent?.parent ? program.parent : null;
  const isGiven = (option: Option) => above?.getOptionValueSource(option.attributeName()) === "cli";
  const given = above?.options.filter(isGiven) ?? [];
  const own = new Set(program.options.map((option) => option.attributeName()));
  const stray = given.find((option) => !own.has(option.attributeName()));
  if (stray) throw new CliError(`unknown option '${stray.long}'`);
  const values = given.map((option) => [option.attributeName(), above?.getOptionValue(option.attributeName())]);
  return { ...program.opts(), ...Object.fromEntries(values) };
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
  const options = optionsOf(program);
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
  if (!exitCode) showDone(call, run);
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
  if (PLACES.has(from)) return field.to && isReference(kind) ? call.find.resolve(kind, undefined) : undefined;
  if (kind === "secret") return secretOf(field, options, call);
  const text = isOption ? options[nameOf(field)] : args[from.replace(/[<>[\].]/g, "")];
  if (text === undefined || kind === "key") return undefined;
  if (kind === "flag" || Array.isArray(text))
    return kind === "map" ? pairs(from.split(" ")[0] ?? from, text as string[]) : text;
  if (isReference(kind)) return field.to ? call.find.resolve(kind, text as string) : text;
  return parsedValue(from.split(" ")[0] ?? from, kind, text as string);
}

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
