import { flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ConfigProblems, type Env } from "./read-config.ts";

const OLDEST_NODE = 24;

/** Prints the sentence for the person who started the process, and exits with code 1. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

export function exitOnOldNode(program: string): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < OLDEST_NODE) {
    fail(`${program} needs Node.js ${OLDEST_NODE} or newer; this is ${node}.`);
  }
}

export function configOrExit<C>(parse: (env: Env) => C): C {
  try {
    return parse(process.env);
  } catch (error) {
    if (error instanceof ConfigProblems) fail(error.message);
    throw error;
  }
}

/**
 * Frees the memory of the start. Reading sources and compiling schemas takes three times the memory that the process
 * needs later, and V8 would keep it. What was compiled is stored first, where `NODE_COMPILE_CACHE` names a folder: Node
 * would do so at the exit, which a process that is killed does not have, and its next start is the one that has to be fast.
 */
export function releaseStartupMemory(): void {
  flushCompileCache();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: {
    type: "major";
    execution: "sync";
    flavor: "last-resort";
  }) => void;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

/**
 * Lets garbage take as much memory as what is in use. By default V8 waits for up to three times as much, so that somebody who
 * asks for long answers makes the process grow by 190 MB.
 */
export function limitGarbage(): void {
  setFlagsFromString("--heap-growing-percent=100");
}

const ECHO_MS = 1_000;

interface Log {
  info(fields: object, message: string): void;
}

/** On SIGINT and SIGTERM, ends the process with code 0 once `stop` is done. */
export function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let stoppingSince: number | null = null;
  async function onSignal(signal: string): Promise<void> {
    if (stoppingSince !== null) {
      // A second signal exits at once. Within the first second it is npm, which forwards the same Ctrl-C again.
      if (performance.now() - stoppingSince > ECHO_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping");
    await stop();
    log.info({}, "stopped");
    process.exit(0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void onSignal(signal));
}
