import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Folders, inspectHome, removeAbandoned, unfinishedSibling } from "./folders.adapter.ts";
import { readPidFile } from "./launch.adapter.ts";
import { probeSocket } from "./owner-session.adapter.ts";
import { classifyHome, DataDirectoryInUse, isHomeName } from "./placement.ts";
import { endStrandedBackends, isPostmaster, stopPostmaster } from "./processes.adapter.ts";
import type { Log } from "./supervisor.adapter.ts";

const REMOVED = "the data folder of a database is gone, so the database was removed";
const DOUBTFUL = "the data folder of a database is missing; remove the database too unless that folder was moved";

/**
 * Removes databases whose data folder was removed, and unfinished folders of killed servers. A failure is logged and
 * never prevents the start.
 */
export async function removeOrphans(systemFolder: string, log: Log): Promise<void> {
  await removeAbandoned(systemFolder);
  for (const name of (await readdir(systemFolder).catch(() => [])).filter(isHomeName)) {
    const home = join(systemFolder, name);
    const facts = await inspectHome(home);
    const fate = classifyHome(facts);
    const fields = { folder: home, dataDir: facts.record?.dataDir };
    try {
      if (fate === "gone" && (await remove(home)) === "removed") log(REMOVED, fields);
      if (fate === "doubtful") log(DOUBTFUL, fields);
    } catch (error) {
      log("a database that is no longer needed could not be removed", { ...fields, err: error });
    }
  }
}

/** A data folder that was removed and created again must not get the database of the first one. */
export async function removeStaleHome({ home, dataDir }: Folders, log: Log): Promise<void> {
  const outcome = await remove(home);
  if (outcome === "in use") throw new DataDirectoryInUse(dataDir);
  if (outcome === "removed") log(REMOVED, { folder: home, dataDir });
}

async function remove(home: string): Promise<"removed" | "in use" | "was gone"> {
  if (!(await isUnowned(join(home, "postgres")))) return "in use";
  const aside = unfinishedSibling(home);
  try {
    await rename(home, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "was gone";
    throw error;
  }
  // A server that starts at the same time on a data folder at the same path has taken the home.
  if ((await inspectHome(aside)).names > 1) {
    await rename(aside, home);
    return "in use";
  }
  await rm(aside, { recursive: true, force: true });
  return "removed";
}

/** Stops a database that a killed server left running. One that a running server owns is not touched. */
async function isUnowned(pgdata: string): Promise<boolean> {
  const running = await readPidFile(pgdata);
  if (!running || !isPostmaster(running.pid, pgdata)) {
    await endStrandedBackends(pgdata);
    return true;
  }
  const answer = running.socket && (await probeSocket(running.socket, pgdata));
  if (answer?.kind !== "ready") return false;
  try {
    if (!(await answer.session.tryLock())) return false;
    await stopPostmaster(running.pid, pgdata);
    return true;
  } finally {
    await answer.session.close();
  }
}
