import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "./child-environment.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

/** The server as `npm start` runs it: a process of its own. */
export interface ServerProcess {
  readonly pid: number;
  readonly url: string;
  /** The time from the start of the process until it served. */
  readonly startedInMs: number;
  printed(): string;
  signal(signal: NodeJS.Signals): void;
  /** The exit code, or null where a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Sends a message to what was loaded beside the server. */
  tell(message: string): void;
  /** The next message that comes from there. */
  ask(message: string): Promise<unknown>;
}

export interface Loading {
  /** The file to run instead of the server's own. */
  readonly main?: string;
  /** For Node itself, before the server's own file; with them the server has a channel to this process. */
  readonly nodeArguments?: readonly string[];
}

export interface Refused {
  readonly exitCode: number | null;
  readonly printed: string;
}

function spawnServer(env: Record<string, string>, { main = MAIN, nodeArguments = [] }: Loading = {}) {
  const child: ChildProcess = spawn(process.execPath, [...nodeArguments, main], {
    env: { ...childEnvironment(), BINNACLE_PORT: "0", BINNACLE_SANDBOX: "off", ...env },
    stdio: ["ignore", "pipe", "pipe", ...(nodeArguments.length > 0 ? (["ipc"] as const) : [])],
  });
  let text = "";
  child.stdout?.on("data", (chunk) => (text += chunk));
  child.stderr?.on("data", (chunk) => (text += chunk));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return { child, printed: () => text, exited };
}

export async function startServer(env: Record<string, string>, loading?: Loading): Promise<ServerProcess> {
  const startedAt = performance.now();
  const { child, printed, exited } = spawnServer(env, loading);
  const { BINNACLE_ENVIRONMENT: environment = "local", BINNACLE_PORT: port } = env;
  const announced = new Promise<string>((resolve) => {
    const readUrl = () => {
      const url = /is serving at (\S+)/.exec(printed())?.[1];
      if (url) resolve(url);
    };
    child.stdout?.on("data", readUrl);
  });
  const served = environment === "local" ? announced : readyAt(`http://127.0.0.1:${port}`, child);
  const url = await Promise.race([served, exited.then(() => null)]);
  if (url === null) throw new Error(`the server ended instead of serving:\n${printed()}`);
  return {
    pid: child.pid ?? 0,
    url,
    startedInMs: performance.now() - startedAt,
    printed,
    signal: (signal) => child.kill(signal),
    exited,
    tell: (message) => void child.send(message),
    async ask(message) {
      const answer = once(child, "message");
      child.send(message);
      const [response] = await answer;
      return response;
    },
  };
}

/** Outside `local` a server announces itself to nobody, so it is given a port and asked there. */
async function readyAt(url: string, child: ChildProcess): Promise<string> {
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (child.exitCode === null && child.signalCode === null && !(await isReady())) await pause(20);
  return url;
}

/** For a server that is expected not to start. */
export async function refusedServer(env: Record<string, string>): Promise<Refused> {
  const { printed, exited } = spawnServer(env);
  return { exitCode: await exited, printed: printed() };
}

export async function dataFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "binnacle-data-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** The process id of the embedded database, from the file that PostgreSQL keeps. */
export async function postmasterPid(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8");
  return Number(text.split("\n")[0]);
}

/** A process that has ended but was not yet collected by its parent answers to signals; it is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}
