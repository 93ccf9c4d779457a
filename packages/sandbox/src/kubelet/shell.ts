/** A command in a container that is not there: a shell that knows next to nothing, and says so. */

export interface CommandOutput {
  write(channel: "stdout" | "stderr", text: string): void;
  /** Called once, and nothing is called afterwards. */
  exit(code: number): void;
}

export interface CommandInput {
  input(text: string): void;
  end(): void;
  resize(cols: number, rows: number): void;
}

export interface CommandOptions {
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly tty: boolean;
}

export type SimulatedCommand = (output: CommandOutput) => CommandInput;

const KNOWN = "echo, exit and stty size";
const SHELL = /(^|\/)(ba|da|a)?sh$/;
const LONGEST_LINE = 4_096;

/** The words of a line, with quotes, and without anything else that a shell does. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );

interface Size {
  readonly cols: number;
  readonly rows: number;
}

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  readonly isExit: boolean;
}

function run([name = "", ...words]: readonly string[], size: Size): Ran {
  const ran = (out: string, code = 0, err = "", isExit = false): Ran => ({ out, err, code, isExit });
  if (name === "") return ran("");
  if (/(^|\/)echo$/.test(name)) return ran(`${words.join(" ")}\n`);
  if (name === "exit") return ran("", Number(words[0] ?? 0) & 255, "", true);
  if (/(^|\/)stty$/.test(name) && words[0] === "size") return ran(`${size.rows} ${size.cols}\n`);
  return ran("", 127, `${name}: not found: this container is simulated and knows ${KNOWN}\n`);
}

/** Starts a command. A shell reads lines, or runs those that it is given with `-c`; anything else is run once. */
export const simulatedCommand =
  ({ pod, container, command, tty }: CommandOptions): SimulatedCommand =>
  (output) => {
    let size: Size = { cols: 80, rows: 24 };
    let line = "";
    let lastCode = 0;
    let isOver = false;

    const write = (channel: "stdout" | "stderr", text: string) => {
      if (text !== "") output.write(tty ? "stdout" : channel, tty ? text.replaceAll("\n", "\r\n") : text);
    };
    const exit = (code: number) => {
      if (isOver) return;
      isOver = true;
      output.exit(code);
    };
    const prompt = () => {
      if (tty && !isOver) write("stdout", "$ ");
    };
    const runLines = (text: string) => {
      for (const part of text.split(/[;\n]/)) {
        if (isOver) return;
        const { out, err, code, isExit } = run(wordsOf(part), size);
        write("stdout", out);
        write("stderr", err);
        lastCode = code;
        if (isExit) exit(code);
      }
    };
    const enter = () => {
      const entered = line;
      line = "";
      runLines(entered);
      prompt();
    };
    /** One character that was typed, as a terminal shows it. */
    const type = (character: string) => {
      if (character === "\r" || character === "\n") {
        if (tty) write("stdout", "\n");
        enter();
      } else if (tty && character === "\u0003") {
        line = "";
        write("stdout", "^C\n");
        prompt();
      } else if (tty && character === "\u0004") {
        if (line === "") exit(lastCode);
      } else if (tty && character === "\u007f") {
        if (line !== "") write("stdout", "\b \b");
        line = line.slice(0, -1);
      } else if (line.length < LONGEST_LINE && (character >= " " || character === "\t")) {
        line += character;
        if (tty) write("stdout", character);
      }
    };

    const [program = "", option, script] = command;
    const isShell = SHELL.test(program);
    if (isShell && option === undefined) {
      if (tty) {
        write(
          "stdout",
          `The container ${container} of the pod ${pod} is simulated: nothing runs in it. This shell knows ${KNOWN}.\n`,
        );
      }
      prompt();
    } else {
      runLines(isShell && option === "-c" ? (script ?? "") : "");
      if (!isShell) {
        const { out, err, code } = run(command, size);
        write("stdout", out);
        write("stderr", err);
        lastCode = code;
      }
      exit(lastCode);
    }
    return {
      input(text) {
        for (const character of text) if (!isOver) type(character);
      },
      end() {
        if (line !== "") enter();
        exit(lastCode);
      },
      resize(cols, rows) {
        size = { cols, rows };
      },
    };
  };
