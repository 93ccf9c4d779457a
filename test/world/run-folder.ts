import { chmod, mkdtemp, readdir, readFile, realpath, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcessesOf, removeWithDatabases } from "../../packages/server/src/database/embedded/leftovers.fixture.ts";
import { isAlive } from "../../packages/server/src/database/embedded/processes.adapter.ts";

const NAME = /^bt-([1-9]\d*)-/;

/** Sockets of databases below it need the rest of the length that the kernel allows. */
const PATH_MAX_LENGTH = 40;

/** The tests make some eighty databases, each of which takes up to four times as long on a slow disk. */
const IN_MEMORY = "/dev/shm";
/** A run has used 0.3 GiB at most. The rest is for what its processes take themselves. */
const ROOM_BYTES = 4 * 2 ** 30;

interface Run {
  readonly folder: string;
  readonly temporaryBefore: string | undefined;
  users: number;
}

/** The projects of a run share one process, but not the modules of their setups. */
const runs = globalThis as { binnacleTestRun?: Promise<Run> | undefined };

/**
 * Gives a run of the tests a folder of its own, below which all temporary files go, and removes it with everything that was
 * started there when the run ends: a test that failed or a worker that was killed cannot do it.
 */
export default async function setup(): Promise<() => Promise<void>> {
  runs.binnacleTestRun ??= begin();
  const run = await runs.binnacleTestRun;
  run.users++;
  return async () => {
    run.users--;
    if (run.users > 0) return;
    runs.binnacleTestRun = undefined;
    if (run.temporaryBefore === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = run.temporaryBefore;
    await removeRun(run.folder);
  };
}

async function begin(): Promise<Run> {
  const place = await choosePlace();
  await removeAbandonedRuns(place);
  const folder = await makeRunFolder(place);
  const temporaryBefore = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  return { folder, temporaryBefore, users: 0 };
}

/** The first place whose path is short enough: memory, unless `TMPDIR` names a place, then the temporary folder. */
async function choosePlace(): Promise<string> {
  const inMemory = process.env["TMPDIR"] === undefined && (await hasRoomInMemory()) ? [IN_MEMORY] : [];
  for (const place of [...inMemory, tmpdir(), "/tmp"]) {
    const path = await realpath(place);
    if (path.length <= PATH_MAX_LENGTH) return path;
  }
  return tmpdir();
}

/** Programs must be allowed to run there, because tests make and copy some. */
async function hasRoomInMemory(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const mounts = (await readFile("/proc/mounts", "utf8")).split("\n").map((line) => line.split(" "));
  const [, , type, options = ""] = mounts.findLast(([, path]) => path === IN_MEMORY) ?? [];
  if (type !== "tmpfs" || options.split(",").some((option) => option === "noexec" || option === "ro")) return false;
  const { bavail, bsize } = await statfs(IN_MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) >= ROOM_BYTES;
}

export async function makeRunFolder(place: string): Promise<string> {
  const folder = await mkdtemp(join(place, `bt-${process.pid}-`));
  await chmod(folder, 0o755);
  return folder;
}

/** Removes the remains of runs whose process was killed. A run that is in progress is not touched. */
export async function removeAbandonedRuns(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const maker = Number(NAME.exec(name)?.[1]);
    if (maker > 0 && !isAlive(maker)) await removeRun(join(place, name));
  }
}

export async function removeRun(folder: string): Promise<void> {
  // Workers that still wait for work have the folder in their environment too.
  await endProcessesOf(folder, (command) => command.includes("/node_modules/vitest/"));
  await removeWithDatabases(folder);
}
