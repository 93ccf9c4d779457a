import type { Command } from "./command.ts";
import { wordsOf } from "./completion.ts";
import { CliError } from "./host.ts";

/** The same command under a short name. The long one stands for its operations. */
function shortOf(command: Command, usage: string): Command {
  const { operations, also = [] } = command;
  const path = command.usage.split(" ").filter((word) => !/^[<[]/.test(word));
  return {
    ...command,
    usage,
    about: `Short for \`${path.join(" ")}\``,
    operations: [],
    also: [...operations, ...also],
  };
}

/** The commands of every day, without their noun. */
export function shortcuts(commands: readonly Command[]): Command[] {
  const at = (usage: string): Command => {
    const found = commands.find((command) => command.usage === usage);
    if (!found) throw new Error(`There is no command ${usage}.`);
    return found;
  };
  const [show, list] = [at("apps show <app>"), at("apps list")];
  return [
    shortOf(at("apps deploy"), "deploy"),
    shortOf(at("apps logs <app>"), "logs <app>"),
    {
      ...shortOf(show, "status [app]"),
      about: "Show how an app is, or all apps",
      fields: show.fields.map((field) => (field.from === "<app>" ? { ...field, from: "[app]" } : field)),
      run: (call, given) => (given.args["app"] === undefined ? list : show).run(call, given),
    },
    shortOf(at("apps open <app>"), "open <app>"),
  ];
}

/** `help apps deploy` is `apps deploy --help`. */
export const withoutHelp = (argv: readonly string[]): readonly string[] =>
  argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;

/** A person's own name for a beginning of a command line; `$1` stands for the first word after it, and the rest follows. */
export function expanded(argv: readonly string[], aliases: Readonly<Record<string, string>>): readonly string[] {
  const [name = "", ...rest] = argv;
  const text = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  if (text === undefined) return argv;
  const used = new Set<number>();
  const words = wordsOf(text)
    .filter(Boolean)
    .map((word) =>
      word.replace(/\$([1-9])/g, (_, digit: string) => {
        const index = Number(digit) - 1;
        used.add(index);
        const value = rest[index];
        if (value === undefined) throw new CliError(`The alias ${name} needs ${index + 1} words after it: ${text}`);
        return value;
      }),
    );
  return [...words, ...rest.filter((_, index) => !used.has(index))];
}
