import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";

/** After which a program that was asked to end is ended. */
const INSPECTION_TIMEOUT_MS = 10_000;

export interface Daemon {
  /** Fails with the end of its log when it has ended by itself. */
  readonly check: () => void;
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/** Starts a program that runs until it is stopped and writes its output to a file. */
export function startDaemon(
  program: string,
  flags: Readonly<Record<string, string | number | boolean>>,
  logFile: string,
): Daemon {
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const output = openSync(logFile, "a");
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", output, output] });
  const failed = new Promise<Error>((resolve) => child.once("error", resolve));
  let failure: Error | null = null;
  void failed.then((error) => {
    failure = error;
  });
  const isRunning = () => failure === null && child.exitCode === null && child.signalCode === null;
  return {
    check() {
      if (isRunning()) return;
      const lastLines = readFileSync(logFile, "utf8").split("\n").slice(-6).join("\n");
      throw new Error(
        `${program} has ended (${failure?.message ?? child.signalCode ?? child.exitCode}):\n${lastLines}`,
      );
    },
    async stop(signal = "SIGTERM") {
      if (!isRunning()) return;
      const ended = once(child, "exit");
      child.kill(signal);
      const killer = setTimeout(() => child.kill("SIGKILL"), INSPECTION_TIMEOUT_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}

/** Asks until the answer is yes. What is asked may throw to give up. */
export async function until(what: string, isSo: () => Promise<boolean>, patienceMs = 90_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Waited ${patienceMs / 1000} s in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
