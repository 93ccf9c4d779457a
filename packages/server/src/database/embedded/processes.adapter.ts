import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isBackendCommand, isPostmasterCommand, parentFromStat } from "./postmaster-state.ts";

const POLL_MS = 10;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Returns whether this process is a running postmaster of this folder, and not a zombie or another process with the
 * same number.
 */
export function isPostmaster(pid: number, pgdata: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== "linux") return isPostmasterByPs(pid, pgdata);
  try {
    // The command line is read because root without CAP_SYS_PTRACE, the default in containers, cannot read another
    // user's /proc/<pid>/cwd or /proc/<pid>/exe.
    return isPostmasterCommand(readFileSync(`/proc/${pid}/cmdline`, "utf8"), pgdata);
  } catch {
    // The process may be hidden (hidepid). Treating it as dead could lead to two postmasters on one folder.
    return isAlive(pid);
  }
}

function isPostmasterByPs(pid: number, pgdata: string): boolean {
  try {
    const command = execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });
    return command.includes(`postgres -D ${pgdata} -c`);
  } catch {
    return false;
  }
}

/**
 * Finds backends that have outlived a killed postmaster. One with a long query notices only at its end, and until then
 * keeps the shared memory that the next postmaster needs. It is best effort: it needs Linux and a readable /proc.
 */
function strandedBackends(pgdata: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isSafeInteger(pid)) return [];
    try {
      if (!isBackendCommand(readFileSync(`/proc/${entry}/cmdline`, "utf8"))) return [];
      if (readlinkSync(`/proc/${entry}/cwd`) !== pgdata) return [];
      const parent = parentFromStat(readFileSync(`/proc/${entry}/stat`, "utf8"));
      return parent !== undefined && isPostmaster(parent, pgdata) ? [] : [pid];
    } catch {
      return [];
    }
  });
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const POSTMASTER_STEPS = [
  // Fast shutdown: open transactions are rolled back and the files are left clean.
  { signal: "SIGINT", patienceMs: 10_000 },
  // Immediate shutdown: the next start replays the log, so committed rows stay.
  { signal: "SIGQUIT", patienceMs: 10_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
] as const;

export async function stopPostmaster(pid: number, pgdata: string): Promise<void> {
  for (const { signal, patienceMs } of POSTMASTER_STEPS) {
    if (!isPostmaster(pid, pgdata)) return;
    signalProcess(pid, signal);
    if (await waitUntil(() => !isPostmaster(pid, pgdata), patienceMs)) return;
  }
  throw new Error(`The database process ${pid} of ${pgdata} does not end.`);
}

/** Requires that the folder has no running postmaster. */
export async function endStrandedBackends(pgdata: string): Promise<void> {
  const none = () => strandedBackends(pgdata).length === 0;
  if (await waitUntil(none, 500)) return;
  for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
    for (const pid of strandedBackends(pgdata)) signalProcess(pid, signal);
    if (await waitUntil(none, 2_000)) return;
  }
}

async function waitUntil(condition: () => boolean, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while (!condition()) {
    if (Date.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
