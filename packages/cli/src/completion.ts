import type { Command } from "./command.ts";
import { CliError } from "./host.ts";

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_binnacle() {
  local IFS=$'\\n'
  COMPREPLY=($(binnacle __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _binnacle binnacle
`,
  zsh: `#compdef binnacle
_binnacle() {
  local -a candidates
  candidates=("\${(@f)$(binnacle __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $candidates
}
compdef _binnacle binnacle
`,
  fish: `complete -c binnacle -f -a '(binnacle __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** The words that can stand where the last one is being typed. */
export function candidates(
  commands: readonly Command[],
  words: readonly string[],
  globals: readonly string[],
): string[] {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => !word.startsWith("-"));
  const paths = commands.map(({ usage, fields, takesFile }) => ({
    path: usage.split(" ").filter((word) => !/^[<[]/.test(word)),
    flags: fields
      .flatMap(({ from, kind }) =>
        kind === "secret"
          ? [`${from}-stdin`, `${from}-file`]
          : from.startsWith("-")
            ? [
                from
                  .replace(/ [<[].*$/, "")
                  .split(", ")
                  .at(-1) ?? from,
              ]
            : [],
      )
      .concat(takesFile ? ["--file"] : []),
  }));
  const matching = paths.filter(({ path }) =>
    path.slice(0, before.length).every((word, index) => before[index] === undefined || word === before[index]),
  );
  if (typed.startsWith("-")) {
    const exact = paths.filter(({ path }) => path.every((word, index) => before[index] === word));
    return sorted([...exact.flatMap(({ flags }) => flags), ...globals], typed);
  }
  return sorted(
    matching.flatMap(({ path }) => path[before.length] ?? []),
    typed,
  );
}

const sorted = (words: readonly string[], typed: string) =>
  [...new Set(words)].filter((word) => word.startsWith(typed)).sort();

const GLOBALS = [
  "--cluster",
  "--color",
  "--context",
  "--debug",
  "--help",
  "--org",
  "--output",
  "--project",
  "--url",
  "--yes",
];

export const completionCommands = (all: () => readonly Command[]): Command[] => [
  {
    usage: "completion <shell>",
    about: "Print the script that completes commands in bash, zsh or fish",
    fields: [],
    uses: [],
    notes: "For bash: source <(binnacle completion bash)",
    async run(call, { args }) {
      const script = SCRIPTS[args["shell"] ?? ""];
      if (!script) throw new CliError(`There is no completion for "${args["shell"]}". There are: bash, zsh, fish.`);
      call.host.out.write(script);
      return undefined;
    },
  },
  {
    usage: "__complete [words...]",
    about: "",
    fields: [],
    uses: [],
    async run(call, { rest }) {
      call.host.out.write(
        candidates(all(), rest, GLOBALS)
          .map((word) => `${word}\n`)
          .join(""),
      );
      return undefined;
    },
  },
];
