import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type FileHandle, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface Process {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const CLOCK_TICKS_PER_SECOND = 100;
/** As `npm start` has it. */
const COMPILED = new URL("../node_modules/.cache/compiled", import.meta.url).pathname;

/**
 * Starts a server in a process of its own and waits until it is ready, if it says so: the control plane listens before it has migrated the
 * database. What it prints goes to a file: read through a pipe, every line would cost the process that makes the load.
 */
export async function startNode(
  script: string,
  env: Record<string, string>,
  within: readonly string[] = [],
): Promise<Process> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-output-"));
  const output = await open(join(folder, "output"), "w+");
  const [program, ...args] = [...within, process.execPath, "--max-semi-space-size=8", script];
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ["ignore", output.fd, "inherit"],
  });
  const exited = once(child, "exit");
  const port = await announcedPort(output, child);
  while ((await fetch(`http://127.0.0.1:${port}/readyz`)).status === 503) await setTimeout(50);
  return {
    pid: child.pid ?? 0,
    port,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await output.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function announcedPort(output: FileHandle, child: ChildProcess): Promise<number> {
  for (;;) {
    const printed = await readFile(`/proc/self/fd/${output.fd}`, "utf8");
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
    if (port) return Number(port);
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${printed}`);
    await setTimeout(20);
  }
}

/** The most that was resident at once. */
export function peakMb({ pid }: Pick<Process, "pid">): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

export function residentMb({ pid }: Pick<Process, "pid">): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** User and system time of all threads, from Linux's process table. */
export async function cpuSecondsOf({ pid }: Pick<Process, "pid">): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) / CLOCK_TICKS_PER_SECOND;
}
