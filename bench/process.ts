import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";

export interface Process {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const CLOCK_TICKS_PER_SECOND = 100;

/** Starts a server in a process of its own and waits for the line in which it says where it listens. */
export async function startNode(script: string, env: Record<string, string>): Promise<Process> {
  const child = spawn(process.execPath, ["--max-semi-space-size=8", script], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await announcedPort(child);
  // Read on and thrown away, as a log collector would: a full pipe would stop the server.
  child.stdout?.resume();
  return {
    pid: child.pid ?? 0,
    port,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

function announcedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = "";
    const look = (chunk: Buffer) => {
      printed += chunk.toString();
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
      if (!port) return;
      child.stdout?.off("data", look);
      resolve(Number(port));
    };
    child.stdout?.on("data", look);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${printed}`)));
  });
}

/** User and system time of all threads, from Linux's process table. */
export async function cpuSecondsOf({ pid }: Process): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) / CLOCK_TICKS_PER_SECOND;
}
