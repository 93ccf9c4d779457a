import { type Call, type Command, local } from "../command.ts";
import { behindBreak, matching, type Position, positionOf, wordsOf } from "../completion.ts";
import { SCRIPTS } from "../completion-scripts.ts";
import { CliError } from "../host.ts";

export const COMPLETION_COMMAND = local(
  "completion <shell>",
  "Print the script that completes commands in bash, zsh or fish",
  async (call, { args }) => {
    const shell = args["shell"] ?? "";
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (!script) throw new CliError(`There is no completion for "${shell}". There are: bash, zsh, fish.`);
    call.print(script);
  },
  {
    notes:
      'For bash, in ~/.bashrc: eval "$(binnacle completion bash)"\nFor zsh, in ~/.zshrc: eval "$(binnacle completion zsh)"\n' +
      "For fish: binnacle completion fish > ~/.config/fish/completions/binnacle.fish",
  },
);

/** Someone waits for it with a finger on the key. */
const PATIENCE_MS = 2_500;

/** What a shell has to complete, with the words before it. Bash gives the line as a whole, because it splits words in its own way. */
export function asked(argv: readonly string[], commands: readonly Command[]): Position & { readonly breaks: string } {
  const [shell, ...rest] = argv;
  const line = shell === "bash" ? wordsOf(rest[0] ?? "").slice(1) : rest;
  return { ...positionOf(commands, line), breaks: shell === "bash" ? (rest[1] ?? "") : "" };
}

/** The answer to a shell. Whatever cannot be found, such as the names of a control plane that does not answer, is left out. */
export async function answerTo(call: Call, position: ReturnType<typeof asked>): Promise<string> {
  const { wanted, typed, breaks } = position;
  if (wanted.kind === "files") return "files\n";
  const found = wanted.kind === "words" ? wanted.words : await namesOf(call, wanted.of, position).catch(() => []);
  const words = behindBreak(typed, matching(position, found), breaks);
  return ["words", ...words].map((word) => `${word}\n`).join("");
}

async function namesOf(call: Call, of: string, { args, typed }: Position): Promise<readonly string[]> {
  if (of === "context") return Object.keys(call.state.contexts);
  const signal = AbortSignal.timeout(PATIENCE_MS);
  if (of === "component") {
    const address = await call.find.app(args[0] ?? "");
    const app = await call.client.call("getApp", address, { signal });
    return app.components.map(({ name }) => name);
  }
  return call.find.names(of, typed, signal);
}
