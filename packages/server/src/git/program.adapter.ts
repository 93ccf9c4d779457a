import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { GitProblem } from "./git-problem.ts";

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Buffer | string;
  /** More output than this ends the program. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** No file that the program writes becomes larger. */
  readonly maxFileBytes?: number;
  /** More memory than this is not given to it. */
  readonly maxMemoryBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ProgramEnd {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly output: Buffer;
  /** What it said on its other stream, as far as it is of use. */
  readonly errors: string;
}

const MOST_ERROR_BYTES = 16 * 1024;
const BLOCK_BYTES = 512;
const KIBIBYTE = 1024;

/** The shell sets limits that hold for the program and for all that it starts. */
function limitedBy({ maxFileBytes, maxMemoryBytes }: ProgramCall): readonly string[] {
  const limits = [
    ...(maxFileBytes === undefined ? [] : [`ulimit -f ${Math.ceil(maxFileBytes / BLOCK_BYTES)}`]),
    ...(maxMemoryBytes === undefined ? [] : [`ulimit -d ${Math.ceil(maxMemoryBytes / KIBIBYTE)}`]),
  ];
  return limits.length === 0 ? [] : ["/bin/sh", "-c", `${limits.join(" && ")} && exec "$@"`, "limited"];
}

/** Runs a program to its end. What it has started is dead when this resolves. Throws GitProblem. */
export async function runProgram(call: ProgramCall): Promise<ProgramEnd> {
  const limited = limitedBy(call);
  const [program = "", ...args] = [...limited, call.program, ...call.args];
  const timeout = AbortSignal.timeout(call.timeoutMs);
  const signal = call.signal ? AbortSignal.any([timeout, call.signal]) : timeout;
  if (call.signal?.aborted) throw stopped(call.signal);
  const child = spawn(program, args, { cwd: "/", env: { ...call.env }, detached: true, stdio: "pipe" });
  const ended = once(child, "close") as Promise<[number | null]>;
  // Git starts ssh and others, which would outlive it.
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  signal.addEventListener("abort", killGroup);
  // A program that ends early does not read all of its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(call.input ?? "");
  try {
    const output = bounded(child.stdout, call.maxBytes, killGroup);
    const errors = bounded(child.stderr, MOST_ERROR_BYTES, null);
    const [code] = await ended;
    if (timeout.aborted) throw new GitProblem("unreachable", "The Git host did not answer in time.");
    if (call.signal?.aborted) throw stopped(call.signal);
    if (output.isFull()) throw new GitProblem("too_large", "The Git repository has more than is accepted.");
    const said = errors.content().toString("utf8");
    // The shell says so by its code.
    if (code === NOT_FOUND && limited.length > 0) throw missing();
    return { code, output: output.content(), errors: said };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ENOENT" ? missing() : error;
  } finally {
    signal.removeEventListener("abort", killGroup);
  }
}

/** A deadline of the caller is one of the host as well. A caller that gives up is something else. */
export function stopped({ reason }: AbortSignal): unknown {
  const isLate = reason instanceof DOMException && reason.name === "TimeoutError";
  return isLate ? new GitProblem("unreachable", "The Git host did not answer in time.") : reason;
}

const NOT_FOUND = 127;
const missing = () =>
  new GitProblem(
    "git_missing",
    "The program git is missing on the server of Binnacle. Install git and openssh-client.",
  );

interface Bounded {
  readonly content: () => Buffer;
  readonly isFull: () => boolean;
}

function bounded(stream: Readable, maxBytes: number, whenFull: (() => void) | null): Bounded {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else whenFull?.();
  });
  return { content: () => Buffer.concat(chunks), isFull: () => size > maxBytes };
}
