import { type Call, durationMs, type Given, isTable, textOf } from "./command.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import { painted } from "./output.ts";
import type { Line } from "./progress.ts";
import { until } from "./waiting.ts";

const POLL_MS = 500;

/** How a change has ended. */
export type End =
  | { readonly done: string }
  | { readonly cause: string; readonly exitCode?: ExitCode; readonly fix?: string | null };

/** What a change has started, as it is seen while somebody waits for its end. */
export interface Started<T> {
  /** The command that comes back to it. */
  readonly comeBack: string;
  /** Said when the time has passed: what has not happened. */
  readonly notYet: string;
  /** Said after Ctrl-C: what goes on. */
  readonly goesOn: string;
  observe(): Promise<T>;
  /** A line for each component, with what it waits for. */
  lines(seen: T): readonly Line[];
  /** Null while it has not ended. */
  end(seen: T, nowMs: number): End | null;
}

/** The options of a command that waits for what it has started. */
export const WAIT_OPTIONS = [
  { from: "--no-wait", kind: "flag", help: "do not wait for the outcome" },
  { from: "--timeout <duration>", help: "how long to wait", preset: "10m" },
] as const;

/**
 * Waits for the outcome of a change, unless told not to, and returns what was last seen. A failure is an error with its cause. With
 * another format than a table `show` prints what there is at the end, however it ended.
 */
export async function settled<T>(
  call: Call,
  options: Given["options"],
  started: Started<T>,
  show: (seen: T) => void,
): Promise<ExitCode | undefined> {
  if (options["wait"] === false) {
    if (!isTable(call)) show(await started.observe());
    call.info(`Follow it with: ${started.comeBack}`);
    return undefined;
  }
  const timeoutMs = durationMs("--timeout", textOf(options["timeout"]) ?? "10m");
  const { host } = call;
  const draw = screenOf(call);
  let seen: { readonly it: T } | null = null;
  try {
    const end = await until(
      call,
      timeoutMs,
      async () => {
        seen = { it: await started.observe() };
        draw(started.lines(seen.it));
        return started.end(seen.it, host.now());
      },
      POLL_MS,
    );
    if (end && "done" in end) {
      call.info(end.done);
      return undefined;
    }
    if (end) throw new CliError(end.cause, end.exitCode ?? EXIT.failed, end.fix ?? null);
    const open = (seen ? started.lines((seen as { it: T }).it) : []).map(({ text }) => text.trim());
    throw new CliError(`${started.notYet}: ${open.join("; ")}`, EXIT.timedOut, started.comeBack);
  } catch (error) {
    if (!host.interrupted.aborted) throw error;
    call.info(`\n${started.goesOn} Come back with: ${started.comeBack}`);
    return EXIT.interrupted;
  } finally {
    if (seen && !isTable(call)) show((seen as { it: T }).it);
  }
}

/** On a terminal the lines are redrawn; elsewhere a line is printed when it has changed. */
function screenOf({ host, errColors }: Call): (lines: readonly Line[]) => void {
  const last = new Map<number, string>();
  let isNew = true;
  return (lines) => {
    if (host.err.isTerminal) {
      const width = host.err.columns - 1;
      const shortened = (text: string) =>
        Array.from(printable(text))
          .slice(0, width - 2)
          .join("");
      const drawn = lines.map(
        ({ mark, tone, text }) => `${painted(errColors, { text: mark, tone })} ${shortened(text)}`,
      );
      host.draw(drawn, isNew);
      isNew = false;
      return;
    }
    lines.forEach(({ mark, text }, index) => {
      if (last.get(index) !== text) host.err.write(`${mark} ${printable(text)}\n`);
      last.set(index, text);
    });
  };
}
