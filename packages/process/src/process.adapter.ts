import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ConfigProblems, type Env } from "./read-config.ts";

const OLDEST_NODE = 24;

/** Ends the process with one sentence for the person who has started it. */
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
 * Gives back what the start has left behind. Reading sources and compiling schemas fills three times the memory that
 * the work needs, and V8 keeps it until something presses for it.
 */
export function releaseStartupMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: {
    type: "major";
    execution: "sync";
    flavor: "last-resort";
  }) => void;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
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
      // A person who does not want to wait; at once it is npm, which passes on the Ctrl-C that we have had already.
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
