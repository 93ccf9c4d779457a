import type { TerminalSize } from "@binnacle/contract";

/** Version 5 can end the input; API servers have it since Kubernetes 1.30. */
export const EXEC_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface ExecOptions {
  readonly container: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly size: TerminalSize;
}

export function execQuery({ container, command, tty }: ExecOptions): string {
  const query = new URLSearchParams({
    container,
    stdin: "true",
    stdout: "true",
    stderr: String(!tty),
    tty: String(tty),
  });
  for (const word of command) query.append("command", word);
  return query.toString();
}

export const stdinFrame = (data: Uint8Array): Buffer => Buffer.concat([Buffer.of(CHANNELS.stdin), data]);
export const stdinEndFrame = (): Buffer => Buffer.of(CHANNELS.close, CHANNELS.stdin);
export const resizeFrame = ({ cols, rows }: TerminalSize): Buffer =>
  Buffer.concat([Buffer.of(CHANNELS.resize), Buffer.from(JSON.stringify({ Width: cols, Height: rows }))]);

export type ExecEnding = { readonly exitCode: number } | { readonly error: string };
export type ExecFrame =
  | { readonly channel: "stdout" | "stderr"; readonly data: Buffer }
  | { readonly ending: ExecEnding };

export interface ExecOutput {
  output(channel: "stdout" | "stderr", data: Buffer): void;
  /** Called once, and nothing is called afterwards. An error is shown to people. */
  ended(ending: ExecEnding): void;
}

/** A command that runs, or is about to. */
export interface ExecProcess {
  /** `onTaken` once the cluster has it. */
  write(data: Buffer, onTaken: () => void): void;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** No output comes until it is resumed, apart from what is on its way. */
  pause(): void;
  resume(): void;
  /** Ends the connection, and with it the command if it reads its input or has a terminal. Nothing is called afterwards. */
  cancel(): void;
}

/** Reads a frame of the API server; null for one that says nothing. */
export function readExecFrame(bytes: Buffer): ExecFrame | null {
  const [channel] = bytes;
  const data = bytes.subarray(1);
  if (channel === CHANNELS.stdout) return { channel: "stdout", data };
  if (channel === CHANNELS.stderr) return { channel: "stderr", data };
  return channel === CHANNELS.error ? { ending: endingOf(data.toString("utf8")) } : null;
}

interface Status {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** The exit code of a command is the cause of a failed `Status`. Any other failure is that of starting it. */
function endingOf(text: string): ExecEnding {
  const status = statusIn(text);
  if (status?.status === "Success") return { exitCode: 0 };
  const cause = status?.details?.causes?.find(({ reason }) => reason === "ExitCode");
  const exitCode = Number(cause?.message);
  if (status?.reason === "NonZeroExitCode" && cause && Number.isInteger(exitCode)) return { exitCode };
  return { error: status?.message || "The command could not be run." };
}

function statusIn(text: string): Status | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
