import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { basename, delimiter, isAbsolute, join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { lineSplitter } from "./tofu-output.ts";

export interface TofuCall {
  /** The path of the program. */
  readonly binary: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with what the program prints; it prints no more until the result is there. */
  onLines(lines: readonly string[]): Promise<void> | void;
  /** Keeps the standard output as one text, for what is not read by lines. */
  readonly collects?: boolean;
  /** Asks the program to end, which then saves its state; after `graceMs` it is killed. */
  readonly interrupt: AbortSignal;
  readonly graceMs: number;
  /** Kills the program and all that it has started, at once. */
  readonly kill: AbortSignal;
  /** How long the worker may be silent before the program is killed. */
  readonly silenceSeconds?: number;
}

export interface TofuEnd {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly output: string;
}

/**
 * A process whose event loop stands still cannot renew the lease of its job. The lease of 10 seconds was renewed at most
 * 3.4 seconds before that, so the program must be dead within 6.6: another worker may begin then.
 */
const SILENCE_SECONDS = 6;
const BEAT_MS = 1_000;
const LONGEST_OUTPUT = 64 * 1_048_576;

/**
 * The program takes the place of the shell, so its process id is that of the child and of its process group. Beside it a
 * watcher reads the beats of the worker. When they stop, or the pipe ends because the worker is dead, it kills the whole
 * group: plugins and shells of OpenTofu never outlive the worker. Without `timeout` only the end of the pipe counts.
 */
const GUARD = `
( if command -v timeout >/dev/null 2>&1
  then while timeout "$0" sh -c 'read -r beat' <&3; do :; done
  else while read -r beat <&3; do :; done
  fi
  kill -s KILL -- "-$$"
) </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-`;

/** Runs the program to its end. All that it has started is dead when this resolves. */
export async function runTofu(call: TofuCall): Promise<TofuEnd> {
  call.kill.throwIfAborted();
  const silence = String(call.silenceSeconds ?? SILENCE_SECONDS);
  const child = spawn("/bin/sh", ["-c", GUARD, silence, call.binary, ...call.args], {
    cwd: call.folder,
    env: { ...call.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error("The program has no output.");
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const exited = once(child, "exit");
  // A failure to start is reported by `ended`.
  exited.catch(() => undefined);
  const pipe = child.stdio[3] as Writable;
  // The watcher is dead where a beat cannot be written, and the program with it.
  pipe.on("error", () => undefined);
  const beat = setInterval(() => pipe.write("\n"), BEAT_MS);

  const killGroup = () => {
    // The group exists for as long as the watcher, so the id is not another's.
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  let grace: NodeJS.Timeout | undefined;
  const interrupt = () => {
    child.kill("SIGINT");
    grace = setTimeout(killGroup, call.graceMs);
  };
  call.kill.addEventListener("abort", killGroup);
  call.interrupt.addEventListener("abort", interrupt);
  if (call.interrupt.aborted) interrupt();

  const collected: string[] = [];
  try {
    const reading = [
      call.collects ? collect(stdout, collected) : readLines(stdout, call.onLines),
      readLines(stderr, call.onLines),
    ];
    // A reader that fails leaves a program that nobody listens to.
    for (const one of reading) one.catch(killGroup);
    await exited.finally(killGroup);
    // Left open, it would be noticed by the next beat only, and the child is closed when all its pipes are.
    pipe.destroy();
    await Promise.all(reading);
    const [code] = await ended;
    return { code, output: collected.join("") };
  } finally {
    clearInterval(beat);
    clearTimeout(grace);
    call.kill.removeEventListener("abort", killGroup);
    call.interrupt.removeEventListener("abort", interrupt);
    killGroup();
    pipe.destroy();
    ended.catch(() => undefined);
  }
}

async function readLines(stream: Readable, onLines: TofuCall["onLines"]): Promise<void> {
  const splitter = lineSplitter();
  stream.setEncoding("utf8");
  for await (const text of stream as AsyncIterable<string>) {
    const lines = splitter.push(text);
    if (lines.length > 0) await onLines(lines);
  }
  const rest = splitter.end();
  if (rest.length > 0) await onLines(rest);
}

async function collect(stream: Readable, into: string[]): Promise<void> {
  let length = 0;
  stream.setEncoding("utf8");
  for await (const text of stream as AsyncIterable<string>) {
    length += text.length;
    if (length > LONGEST_OUTPUT) throw new Error("OpenTofu printed more than 64 MiB.");
    into.push(text);
  }
}

const PROGRAMS = ["tofu", "terraform"];

/** Whether a program is Terraform, which uses another registry than OpenTofu. It is known by its name. */
export const isTerraform = (program: string): boolean => basename(program).startsWith("terraform");

/** Returns the path of the program, or null where there is none. A name without a slash is looked up on the search path. */
export async function findTofu(setting: string | null, searchPath: string): Promise<string | null> {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const candidates = (setting === null ? PROGRAMS : [setting]).flatMap((name) =>
    name.includes("/") ? [resolve(name)] : folders.map((folder) => join(folder, name)),
  );
  for (const path of candidates) {
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return path;
  }
  return null;
}
