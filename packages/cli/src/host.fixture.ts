import { COMMANDS, GROUPS } from "./commands.ts";
import { CliError, EXIT, type Host, type ProgramEnd } from "./host.ts";
import { runCli } from "./program.ts";

export interface Machine {
  readonly files: Map<string, string>;
  state: string | null;
  env: Record<string, string>;
  /** The answers to questions, in their order. */
  answers: (boolean | string | null)[];
  readonly questions: string[];
  readonly pages: string[];
  fetch: typeof globalThis.fetch;
  /** What a person makes of a text in their editor. */
  edit: (text: string) => string | null;
  /** Answers for the cluster that the person's kubectl reaches. */
  kubectl: (args: readonly string[], input: string) => ProgramEnd | Promise<ProgramEnd>;
  /** Runs before each pause; time goes on by what is slept. */
  onSleep: (ms: number) => Promise<void> | void;
  isTerminal: boolean;
  /** Stderr is redirected to a file where it is false. */
  isErrTerminal: boolean;
  columns: number;
  /** Each time that the console was opened, whether raw, and that it was restored. */
  readonly rawModes: (boolean | "restored")[];
  run(...argv: string[]): Promise<Ran>;
  /** Runs it with this standard input. */
  piped(input: string, ...argv: string[]): Promise<Ran>;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const noKubectl = (): never => {
  throw new CliError("kubectl cannot be started.");
};

/** A machine without a terminal, on which `binnacle` runs in this process. */
export function machine(env: Record<string, string> = {}, commands = COMMANDS): Machine {
  let nowMs = Date.parse("2026-01-31T10:00:00Z");
  const made: Machine = {
    files: new Map(),
    state: null,
    env,
    answers: [],
    questions: [],
    pages: [],
    fetch: globalThis.fetch,
    kubectl: noKubectl,
    edit: (text) => text,
    onSleep: () => undefined,
    isTerminal: false,
    isErrTerminal: true,
    columns: 100,
    rawModes: [],
    run: (...argv) => made.piped("", ...argv),
    async piped(input, ...argv) {
      let out = "";
      let err = "";
      const sink = (isTerminal: boolean, write: (text: string) => void) => ({
        isTerminal,
        columns: made.columns,
        write,
      });
      const host: Host = {
        env: made.env,
        hostname: "laptop",
        out: sink(made.isTerminal, (text) => (out += text)),
        err: sink(made.isTerminal && made.isErrTerminal, (text) => (err += text)),
        console: {
          isTerminal: made.isTerminal,
          size: () => ({ cols: made.columns, rows: 24 }),
          open(isRaw, { onInput, onEnd }) {
            made.rawModes.push(isRaw);
            void onInput(Buffer.from(input)).then(onEnd);
            return () => void made.rawModes.push("restored");
          },
          write: (channel, data) => {
            if (channel === "stdout") out += Buffer.from(data).toString();
            else err += Buffer.from(data).toString();
          },
        },
        isInteractive: made.isTerminal,
        interrupted: new AbortController().signal,
        fetch: (...args) => made.fetch(...args),
        now: () => nowMs,
        async sleep(ms) {
          nowMs += ms;
          await made.onSleep(ms);
        },
        readInput: async () => input,
        async readFile(path) {
          const text = made.files.get(path);
          if (text === undefined) throw new CliError(`There is no file ${path}.`);
          return text;
        },
        async writeFile(path, text, replace) {
          if (made.files.has(path) && !replace) throw new CliError(`${path} exists already.`, EXIT.conflict);
          made.files.set(path, text);
        },
        readState: async () => made.state,
        async writeState(text) {
          made.state = text;
        },
        async confirm(question) {
          made.questions.push(question);
          return made.answers.shift() as boolean | null;
        },
        async password(question) {
          made.questions.push(question);
          return made.answers.shift() as string | null;
        },
        async openPage(url) {
          made.pages.push(url);
          return true;
        },
        edit: async (text) => made.edit(text),
        kubectl: async (args, given = "") => made.kubectl(args, given),
        draw(lines) {
          err += `${lines.join("\n")}\n`;
        },
      };
      const code = await runCli(argv, host, commands, GROUPS);
      return { code, out, err };
    },
  };
  return made;
}
