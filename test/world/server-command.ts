import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childEnvironment } from "./child-environment.ts";

const COMMAND = fileURLToPath(new URL("../../packages/server/src/binnacle-server.command.ts", import.meta.url));

/** Runs `binnacle-server` as a process of its own. A failure has what it printed in its message. */
export const runServerCommand = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [COMMAND, ...args], { env: { ...childEnvironment(), ...env } });

/** Runs a line of a shell that knows the program as `binnacle_server`. */
export function runServerLine(env: Readonly<Record<string, string>>, line: string) {
  const script = `binnacle_server() { "$NODE" "$COMMAND" "$@"; }\n${line}`;
  const named = { NODE: process.execPath, COMMAND };
  return promisify(execFile)("sh", ["-c", script], { env: { ...childEnvironment(), ...named, ...env } });
}
