import { ConfigProblems, type Env } from "./config/read-config.ts";

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
