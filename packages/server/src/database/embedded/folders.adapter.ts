import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type Account,
  accountFromPasswd,
  chooseCluster,
  chooseSocketFolder,
  type Found,
  firstClosedFolder,
  folderHash,
  foldersTo,
  homeFolder,
  SYSTEM_FOLDER,
  unfinishedMaker,
  unfinishedName,
} from "./placement.ts";
import { isAlive } from "./processes.adapter.ts";

export interface Folders {
  readonly dataDir: string;
  readonly pgdata: string;
  readonly socketDir: string;
  readonly logFile: string;
  /** Where copied binaries go: writable for the server and reachable for the database user. */
  readonly home: string;
  /** Whether `<dataDir>/postgres` has to become a link to `pgdata`, so that operators and moves of the folder find it. */
  readonly link: boolean;
  /** Undefined when the database runs as the server's own user. */
  readonly account: Account | undefined;
}

export async function locateFolders(wantedDataDir: string): Promise<Folders> {
  const account = await databaseAccount();
  // The database user only has to pass through a data folder that root makes, never to list it.
  await mkdir(wantedDataDir, { recursive: true, mode: account ? 0o711 : 0o700 });
  const dataDir = await realpath(wantedDataDir);
  const home = homeFolder(dataDir, (await closedFolder(dataDir, account)) === undefined);
  const choice = chooseCluster(dataDir, home, await findCluster(join(dataDir, "postgres"), account));
  if (choice.kind === "refuse") throw new Error(choice.reason);
  await mkdir(home, { recursive: true, mode: 0o711 });
  return {
    dataDir,
    home,
    account,
    pgdata: choice.pgdata,
    link: choice.link,
    socketDir: await locateSocketFolder(dataDir, home, account),
    logFile: join(dataDir, "postgres.log"),
  };
}

async function databaseAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const account = accountFromPasswd(await readFile("/etc/passwd", "utf8"), "nobody");
  if (!account) {
    throw new Error(
      "PostgreSQL does not run as root, and /etc/passwd has no user nobody to run it as. " +
        "Run the server as another user, or give it the address of a database.",
    );
  }
  return account;
}

/** The first folder on the way to `path`, itself included, that the account cannot pass through. */
export async function closedFolder(path: string, account: Account | undefined): Promise<string | undefined> {
  if (!account) return undefined;
  const folders = await Promise.all(
    foldersTo(path).map(async (folder) => {
      const { mode, uid, gid } = await stat(folder);
      return { path: folder, mode, uid, gid };
    }),
  );
  return firstClosedFolder(folders, account);
}

async function findCluster(path: string, account: Account | undefined): Promise<Found> {
  const target = await readlink(path).catch(() => undefined);
  const realPath = await realpath(path).catch(() => undefined);
  if (realPath === undefined) return target === undefined ? { kind: "nothing" } : { kind: "broken link", target };
  if (!(await isCluster(realPath))) return { kind: "nothing" };
  return { kind: "cluster", realPath, closedAt: await closedFolder(dirname(realPath), account) };
}

/** initdb runs in a sibling that is renamed when complete, so a folder with this file is always a whole database. */
export async function isCluster(pgdata: string): Promise<boolean> {
  return stat(join(pgdata, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

async function locateSocketFolder(dataDir: string, home: string, account: Account | undefined): Promise<string> {
  const hash = folderHash(dataDir);
  const candidates = [join(home, "postgres-socket")];
  // A TMPDIR that does not exist is as good as closed.
  const closed = await closedFolder(tmpdir(), account).catch(() => tmpdir());
  if (closed === undefined) candidates.push(join(tmpdir(), `binnacle-${hash}`));
  if (account) candidates.push(join(SYSTEM_FOLDER, hash, "postgres-socket"));
  const chosen = chooseSocketFolder(candidates);
  if (!chosen) throw new Error(`The path of the data folder ${dataDir} is too long for the socket of its database.`);
  return chosen;
}

/**
 * The socket accepts every connection without a password: the folder around it is the only guard. The short folder is
 * in a place where anybody may make folders, so one that another user has made is refused instead of trusted.
 */
export async function prepareSocketFolder(folder: string, account: Account | undefined): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o711 });
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const made = await lstat(folder);
  const owners = [process.getuid?.(), account?.uid];
  if (!made.isDirectory() || !owners.includes(made.uid)) {
    throw new Error(
      `The socket folder ${folder} belongs to another user (uid ${made.uid}). Remove it and start again.`,
    );
  }
  await chmod(folder, 0o700);
  if (account) await chown(folder, account.uid, account.gid);
}

export async function prepareOwnership(pgdata: string, account: Account | undefined): Promise<void> {
  const { uid } = await stat(pgdata);
  if (account) {
    if (uid !== account.uid) await chownTree(pgdata, account);
  } else if (uid !== process.getuid?.()) {
    throw new Error(
      `The database in ${pgdata} belongs to another user (uid ${uid}). Run the server as the user it ran as before, ` +
        "or give the folder to this one.",
    );
  }
}

/** The top comes last: its owner says that the whole tree is done, also after a kill in the middle. */
async function chownTree(path: string, account: Account): Promise<void> {
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await chownTree(join(path, name), account);
  }
  await lchown(path, account.uid, account.gid);
}

export async function linkCluster(folders: Folders): Promise<void> {
  if (!folders.link) return;
  await symlink(folders.pgdata, join(folders.dataDir, "postgres")).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

export function unfinishedSibling(path: string): string {
  return unfinishedName(path, process.pid, randomBytes(4).toString("hex"));
}

/** Only for the holder of the lock: then no living server can still need what it has not finished itself. */
export async function removeAbandonedSiblings(path: string): Promise<void> {
  for (const name of await readdir(dirname(path))) {
    const maker = unfinishedMaker(path, name);
    if (maker === undefined || (maker !== process.pid && isAlive(maker))) continue;
    // An initdb that outlives its server may still write there; what it leaves goes with the next start.
    await rm(join(dirname(path), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A rename survives a power failure only once the folder that holds the name is on the disk. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
