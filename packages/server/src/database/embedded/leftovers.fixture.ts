import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readPidFile } from "./launch.adapter.ts";
import { isPostmaster, signalProcess } from "./processes.adapter.ts";

/** Every process of the database in this folder (Linux). */
export function processesIn(pgdata: string): number[] {
  return processes().flatMap(({ pid, command }) => {
    try {
      return command.includes("postgres") && readlinkSync(`/proc/${pid}/cwd`) === pgdata ? [pid] : [];
    } catch {
      return [];
    }
  });
}

/** Removes a folder with the data folders in it, and ends their databases. */
export async function removeWithDatabases(folder: string): Promise<void> {
  const around = (await readdir(folder).catch(() => [])).map((name) => join(folder, name));
  for (const pgdata of [folder, ...around].map((dataDir) => join(dataDir, "postgres"))) {
    const pid = (await readPidFile(pgdata))?.pid;
    if (pid !== undefined && isPostmaster(pid, pgdata)) signalProcess(pid, "SIGQUIT");
    await until(() => processesIn(pgdata).length === 0);
  }
  await rm(folder, { recursive: true, force: true });
}

/**
 * Ends every process that was given a path below this folder, except those that are excluded: what tests have started and
 * could not end, because they failed or their worker was killed (Linux).
 */
export async function endProcessesOf(folder: string, isExcluded: (command: string) => boolean): Promise<void> {
  const isMentioned = (text: string) => text.includes(`${folder}/`);
  const found = () =>
    processes().filter(
      ({ pid, command }) =>
        pid !== process.pid && !isExcluded(command) && (isMentioned(command) || isMentioned(environmentOf(pid))),
    );
  for (const { pid, command } of found()) signalProcess(pid, command.includes("postgres") ? "SIGQUIT" : "SIGKILL");
  await until(() => found().length === 0).catch(() => {
    for (const { pid } of found()) signalProcess(pid, "SIGKILL");
  });
}

function processes(): { pid: number; command: string }[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => ({ pid: Number(entry), command: readProcess(entry, "cmdline") }));
}

const environmentOf = (pid: number) => readProcess(String(pid), "environ");

/** Empty for a process that has ended meanwhile, or that may not be looked at. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

export async function until<T>(attempt: () => T | Promise<T>, patienceMs = 15_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    let failure: unknown = new Error("the condition was not met in time");
    try {
      const result = await attempt();
      if (result) return result;
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadline) throw failure;
    await delay(15);
  }
}
