/** The exit codes. Scripts rely on them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  timedOut: 6,
  unreachable: 7,
  different: 10,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** As `--help` and docs/cli.md print them. */
export const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "done",
  failed: "failed",
  usage: "wrong usage or invalid input",
  notFound: "not found, or not for you to see",
  refused: "refused: not signed in, or not allowed",
  conflict: "in conflict with what there is, or with somebody else's change",
  timedOut: "the time has passed",
  unreachable: "the control plane, or the cluster behind it, cannot be reached",
  different: "there are differences, with `apps deploy --dry-run` and `apps diff`",
  interrupted: "interrupted by Ctrl-C",
};

export interface Sink {
  readonly isTerminal: boolean;
  readonly columns: number;
  write(text: string): void;
}

/** Standard input and output as bytes, for a command that runs elsewhere. */
export interface Console {
  /** Whether both are a terminal. */
  readonly isTerminal: boolean;
  size(): { readonly cols: number; readonly rows: number };
  /**
   * Passes on every key as it is pressed, Ctrl-C too, where `isRaw`. No further input is read while `onInput` is not done. Returns the
   * function that stops it, after which the terminal is as it was.
   */
  open(isRaw: boolean, events: ConsoleEvents): () => void;
  write(channel: "stdout" | "stderr", data: Uint8Array): void;
}

export interface ConsoleEvents {
  onInput(data: Uint8Array): Promise<void>;
  onEnd(): void;
  onResize(): void;
}

/** All that a command reaches outside this program, except the control plane. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
  /** For data. */
  readonly out: Sink;
  /** For everything else. */
  readonly err: Sink;
  readonly console: Console;
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  readInput(): Promise<string>;
  readFile(path: string): Promise<string>;
  /** Refuses to replace a file unless told to. */
  writeFile(path: string, text: string, replace: boolean): Promise<void>;
  /** Null where there is none yet. */
  readState(): Promise<string | null>;
  writeState(text: string): Promise<void>;
  /** Null where the person has left the question with Ctrl-C. */
  confirm(question: string): Promise<boolean | null>;
  password(question: string): Promise<string | null>;
  /** Whether a program that shows the page could be started. */
  openPage(url: string): Promise<boolean>;
  /** The text as a person leaves it in their editor; null where they have left it without a text. */
  edit(text: string, name: string): Promise<string | null>;
  /** Runs the person's own kubectl, with their access to a cluster. */
  kubectl(args: readonly string[], input?: string): Promise<ProgramEnd>;
  /** Replaces the lines that were drawn before, or begins below what there is. Only for a terminal. */
  draw(lines: readonly string[], isNew: boolean): void;
}

/** How a program has ended, with what it has printed. */
export interface ProgramEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A failure that is not the API's: wrong usage, a missing file, an outcome of waiting. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** The next command, where there is one. */
  readonly fix: string | null;

  constructor(message: string, exitCode: ExitCode = EXIT.usage, fix: string | null = null) {
    super(message);
    this.exitCode = exitCode;
    this.fix = fix;
  }
}

/**
 * Text of others, such as names and log lines, must not move the cursor, retitle the window or hide lines. Control
 * characters are shown as their codes; with `colors` the sequences that only set colours stay.
 */
export function printable(text: string, { colors = false, lines = false } = {}): string {
  return text.replace(CONTROL, (found) => {
    if (found === "\t" || (lines && found === "\n") || (colors && found.length > 1)) return found;
    return found.replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
  });
}

/** A sequence that sets colours, or any control character. */
const CONTROL = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m|\\p{Cc}`, "gu");
