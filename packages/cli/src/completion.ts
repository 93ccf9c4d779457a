import { type Command, type Field, isReference } from "./command.ts";
import type { RefKind } from "./find.ts";

/** What a word on the command line can be: one of some words, a name that the control plane knows, or a file. */
type Wanted =
  | { readonly kind: "words"; readonly words: readonly string[]; readonly before?: string }
  | { readonly kind: "names"; readonly of: RefKind | "context" | "component"; readonly before?: string }
  | { readonly kind: "files" };

export interface Position {
  readonly wanted: Wanted;
  /** What is typed of the word. */
  readonly typed: string;
  /** Options and arguments that stand before it, by which the names are found. */
  readonly flags: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

interface Option {
  readonly long: string;
  readonly short: string | null;
  /** Null where it takes none. */
  readonly value: Wanted | null;
}

const words = (...list: string[]): Wanted => ({ kind: "words", words: list });
const names = (of: RefKind | "context" | "component"): Wanted => ({ kind: "names", of });
const taking = (long: string, value: Wanted | null, short: string | null = null): Option => ({ long, short, value });

/** The options of every command. */
const GLOBALS: readonly Option[] = [
  taking("--output", words("table", "wide", "json", "yaml", "name", "jsonpath="), "-o"),
  taking("--org", names("org")),
  taking("--project", names("project")),
  taking("--cluster", names("cluster")),
  taking("--context", names("context")),
  taking("--url", words()),
  taking("--color", words("auto", "always", "never")),
  taking("--yes", null, "-y"),
  taking("--debug", null),
  taking("--help", null, "-h"),
];

/** Finds what can stand where the last word is being typed. */
export function positionOf(commands: readonly Command[], asked: readonly string[]): Position {
  const line = asked[0] === "help" && asked.length > 1 ? asked.slice(1) : asked;
  const typed = line.at(-1) ?? "";
  const path: string[] = [];
  const args: string[] = [];
  const flags: Record<string, string> = {};
  let open: Option | null = null;
  let hasEnded = false;
  for (const word of line.slice(0, -1)) {
    if (open) {
      flags[open.long] = word;
      open = null;
    } else if (hasEnded) args.push(word);
    else if (word === "--") hasEnded = true;
    else if (word.startsWith("-")) {
      const [name = "", value] = word.split("=", 2);
      const option = optionsAt(commands, path).find(({ long, short }) => long === name || short === name);
      if (value !== undefined) flags[name] = value;
      else if (option?.value) open = option;
    } else if (args.length === 0 && hasPath(commands, [...path, word])) path.push(word);
    else args.push(word);
  }
  const at = (wanted: Wanted): Position => ({ wanted, typed, flags, args });
  if (open?.value) return at(open.value);
  if (hasEnded) return at({ kind: "files" });
  if (typed.startsWith("-")) return at(optionWanted(optionsAt(commands, path), typed));
  const below = args.length === 0 ? followersOf(commands, path) : [];
  const own = commandAt(commands, path);
  const value = own ? argumentWanted(own, args.length) : words();
  if (below.length === 0) return at(value);
  return at(words(...below, ...(value.kind === "words" ? value.words : [])));
}

function optionWanted(options: readonly Option[], typed: string): Wanted {
  const [name = "", value] = typed.split(/=(.*)/s, 2);
  if (value === undefined) return words(...options.map(({ long }) => long));
  const wanted = options.find(({ long }) => long === name)?.value ?? words();
  return wanted.kind === "files" ? wanted : { ...wanted, before: `${name}=` };
}

export const pathOf = ({ usage }: Pick<Command, "usage">): string[] =>
  usage.split(" ").filter((word) => !/^[<[]/.test(word) && !word.startsWith("__"));

const startsWith = (whole: readonly string[], path: readonly string[]): boolean =>
  path.every((word, index) => whole[index] === word);

export const hasPath = (commands: readonly Command[], path: readonly string[]): boolean =>
  commands.some((command) => startsWith(pathOf(command), path));

export const followersOf = (commands: readonly Command[], path: readonly string[]): string[] => [
  ...new Set(commands.map(pathOf).flatMap((whole) => (startsWith(whole, path) ? (whole[path.length] ?? []) : []))),
];

const commandAt = (commands: readonly Command[], path: readonly string[]): Command | undefined =>
  path.length === 0 ? undefined : commands.find((it) => pathOf(it).join(" ") === path.join(" "));

function optionsAt(commands: readonly Command[], path: readonly string[]): readonly Option[] {
  const command = commandAt(commands, path);
  if (!command) return GLOBALS;
  const file = command.takesFile ? [taking("--file", { kind: "files" }, "-f")] : [];
  return [...command.fields.flatMap(optionsOf), ...file, ...GLOBALS];
}

export const optionNames = (commands: readonly Command[], path: readonly string[]): string[] =>
  optionsAt(commands, path).map(({ long }) => long);

function optionsOf(field: Field): readonly Option[] {
  const { from, kind } = field;
  if (!from.startsWith("-")) return [];
  if (kind === "secret") return [taking(`${from}-stdin`, null), taking(`${from}-file`, { kind: "files" })];
  const long = /--[\w-]+/.exec(from)?.[0];
  if (!long || GLOBALS.some((global) => global.long === long)) return [];
  return [taking(long, from.includes("<") ? valueWanted(field) : null, /^-\w\b/.exec(from)?.[0] ?? null)];
}

function argumentWanted(command: Command, index: number): Wanted {
  const places = command.usage.split(" ").filter((word) => /^[<[]/.test(word));
  const from = places[index] ?? (places.at(-1)?.includes("...") ? places.at(-1) : undefined);
  const field = command.fields.find((it) => it.from === from);
  if (field) return valueWanted(field);
  if (command.usage.startsWith("context ") && index === 0) return names("context");
  if (command.usage.startsWith("completion ")) return words("bash", "zsh", "fish");
  return words();
}

function valueWanted({ from, kind = "text", choices }: Field): Wanted {
  if (choices) return words(...choices);
  if (from.startsWith("--component ")) return names("component");
  if (from.startsWith("--on ")) return names("cluster");
  if (kind === "list" && from.startsWith("[clusters")) return names("cluster");
  if (kind === "file" || from.includes("<file>")) return { kind: "files" };
  return isReference(kind) ? names(kind) : words();
}

/** Names that a shell takes as they are: completing another one would change what was typed. */
const PLAIN = /^[\w./:@=+,-]+$/;

/** Whoever names an app `--yes` must not get it onto somebody else's command line, where it is an option. */
const isOption = (word: string) => word.startsWith("-");

/** The words that complete what is typed. */
export function matching({ wanted, typed }: Position, found: readonly string[]): string[] {
  const before = wanted.kind === "files" ? "" : (wanted.before ?? "");
  const offered = wanted.kind === "names" ? found.filter((word) => !isOption(word)) : found;
  return [...new Set(offered.map((word) => before + word))]
    .filter((word) => word.startsWith(typed) && PLAIN.test(word))
    .sort();
}

/** The words of a line as bash reads them, without quotes; the last one is being typed. */
export function wordsOf(line: string): string[] {
  const found: string[] = [];
  let word = "";
  let quote = "";
  let isOpen = false;
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? "";
    if (quote) {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      isOpen = true;
    } else if (char === "\\") {
      word += line[++index] ?? "";
    } else if (/\s/.test(char)) {
      if (word || isOpen) found.push(word);
      word = "";
      isOpen = false;
    } else word += char;
  }
  return [...found, word];
}

/** Bash completes what stands behind the last of its own separators, such as a colon. */
export function behindBreak(typed: string, candidates: readonly string[], breaks: string): string[] {
  const at = Math.max(...Array.from(breaks).map((char) => typed.lastIndexOf(char)));
  return candidates.map((word) => word.slice(at + 1));
}
