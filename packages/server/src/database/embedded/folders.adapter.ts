import { createHash } from "node:crypto";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  statfs,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { databaseAccount } from "./account.adapter.ts";
import type { Account } from "./account.ts";
import { fitsSocketPath } from "./postmaster-state.ts";

export interface Folders {
  readonly dataDir: string;
  readonly pgdata: string;
  /** The folder of the socket: that of the database, or a short one elsewhere. */
  readonly socketDir: string;
  readonly logFile: string;
  /** Undefined when the database runs as the server's own user. */
  readonly account: Account | undefined;
}

/** Creates the data folder and changes nothing else. */
export async function locateFolders(wantedDataDir: string): Promise<Folders> {
  const account = await databaseAccount();
  // The database user must be able to enter the data folder, but not to list it, where the program has to be copied there.
  await mkdir(wantedDataDir, { recursive: true, mode: account ? 0o711 : 0o700 });
  const dataDir = await realpath(wantedDataDir);
  const pgdata = await locateCluster(join(dataDir, "postgres"));
  const hash = createHash("sha256").update(pgdata).digest("hex").slice(0, 16);
  const socketDir = [pgdata, join(tmpdir(), `binnacle-postgres-${hash}`)].find(fitsSocketPath);
  if (!socketDir) throw new Error(`The path of the data folder ${dataDir} is too long for the socket of its database.`);
  return { dataDir, pgdata, socketDir, logFile: join(dataDir, "postgres.log"), account };
}

/** Earlier versions kept the database of some data folders elsewhere, with a link to it. */
async function locateCluster(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return path;
  return realpath(path).catch(() => {
    throw new Error(
      `${path} points at the database folder ${target}, which is missing. ` +
        "Restore that folder, or remove the link to begin with an empty database.",
    );
  });
}

/**
 * initdb runs in another folder that is renamed when it is complete, so a folder with this file is always a complete
 * database.
 */
export async function isCluster(pgdata: string): Promise<boolean> {
  return stat(join(pgdata, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

/** The major version of PostgreSQL that made the database. */
export const madeBy = async (pgdata: string): Promise<string> =>
  (await readFile(join(pgdata, "PG_VERSION"), "utf8")).trim();

/** PostgreSQL writes its log of changes in files of this size, and does not run where there is no room for the next one. */
const LOG_SEGMENT_BYTES = 16 * 1024 * 1024;

export async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= LOG_SEGMENT_BYTES;
}

/** Where anybody may make folders, one that another user has made is refused instead of trusted. */
export async function prepareSocketFolder(folder: string, account: Account | undefined): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const made = await lstat(folder);
  if (!made.isDirectory() || ![process.getuid?.(), account?.uid].includes(made.uid)) {
    throw new Error(
      `The socket folder ${folder} belongs to another user (uid ${made.uid}). Remove it and start again.`,
    );
  }
  await chmod(folder, 0o700);
  if (account) await chown(folder, account.uid, account.gid);
}

/** Gives the work a temporary folder beside the path, for what is renamed to the path when it is complete. */
export async function withUnfinished(path: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(`${path}.unfinished-`);
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the temporary folders that killed servers have left beside the path. */
export async function removeUnfinished(path: string, minAgeMs = 0): Promise<void> {
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(`${basename(path)}.unfinished-`)) continue;
    const folder = join(dirname(path), name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    // An initdb that outlives its server may still write there; the next start removes the rest.
    if (Date.now() - mtimeMs >= minAgeMs) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A rename is durable only after the folder that contains the name is synced. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
