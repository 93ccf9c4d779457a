import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { databaseAccount, nobodyUid } from "./ownership.adapter.ts";
import {
  type Account,
  type Claimant,
  chooseCluster,
  chooseSocketFolder,
  claimOfHome,
  type Found,
  firstClosedFolder,
  folderHash,
  foldersTo,
  type HomeFacts,
  type HomeRecord,
  homeFolder,
  joinsHome,
  parseHomeRecord,
  socketFile,
  unfinishedCreator,
  unfinishedName,
} from "./placement.ts";
import { isAlive } from "./processes.adapter.ts";

export interface Folders {
  readonly dataDir: string;
  readonly pgdata: string;
  readonly socketDir: string;
  readonly logFile: string;
  /** The folder of everything that the database user must reach besides the database, such as copied binaries. */
  readonly home: string;
  readonly systemFolder: string;
  /** The folder that contains the database if that is in the system folder. */
  readonly systemHome: string | undefined;
  /** Whether the home still has the database of a removed data folder at the same path. */
  readonly isHomeStale: boolean;
  /**
   * Whether `<dataDir>/postgres` must become a link to `pgdata`, so that the database is found after the data folder is
   * moved.
   */
  readonly link: boolean;
  /** Undefined when the database runs as the server's own user. */
  readonly account: Account | undefined;
}

/** The file name of the record of a home, in the home and in the data folder. */
const HOME_RECORD = "data-folder.json";
const RECORD_IN_DATA_DIR = "postgres.home";

/** Creates the data folder and changes nothing else. */
export async function locateFolders(wantedDataDir: string, wantedSystemFolder: string): Promise<Folders> {
  const systemFolder = await realpath(wantedSystemFolder).catch(() => wantedSystemFolder);
  const account = await databaseAccount();
  // The database user must be able to enter the data folder, but not to list it.
  await mkdir(wantedDataDir, { recursive: true, mode: account ? 0o711 : 0o700 });
  const dataDir = await realpath(wantedDataDir);
  const found = await findCluster(join(dataDir, "postgres"), account);
  const isReachable = (await closedFolder(dataDir, account)) === undefined;
  const { home, isStale } = isReachable
    ? { home: dataDir, isStale: false }
    : await chooseHome(systemFolder, dataDir, found);
  const choice = chooseCluster(dataDir, home, found);
  if (choice.kind === "refuse") throw new Error(choice.reason);
  const socketDir = await locateSocketFolder(dataDir, home, systemFolder, account);
  const around = dirname(choice.pgdata);
  return {
    dataDir,
    home,
    account,
    systemFolder,
    systemHome: dirname(around) === systemFolder ? around : undefined,
    isHomeStale: isStale && choice.link,
    pgdata: choice.pgdata,
    link: choice.link,
    socketDir,
    logFile: join(dataDir, "postgres.log"),
  };
}

/** An existing database stays in its home, even if its data folder was moved or has lost the link. */
async function chooseHome(systemFolder: string, dataDir: string, found: Found) {
  const own = join(dataDir, RECORD_IN_DATA_DIR);
  const recorded = parseHomeRecord(await readFile(own, "utf8").catch(() => ""))?.home;
  const home = found.kind === "cluster" ? dirname(found.realPath) : recorded;
  const isHome = home !== undefined && dirname(home) === systemFolder;
  if (isHome && (found.kind === "cluster" || (await areOneFile(own, join(home, HOME_RECORD))))) {
    return { home, isStale: false };
  }
  for (let attempt = 1; ; attempt++) {
    const home = homeFolder(systemFolder, dataDir, attempt);
    const claim = claimOfHome(await inspectHome(home), await claimantOf(home, dataDir));
    if (claim !== "taken") return { home, isStale: claim === "stale" };
  }
}

export async function inspectHome(home: string): Promise<HomeFacts> {
  const file = join(home, HOME_RECORD);
  const record = parseHomeRecord(await readFile(file, "utf8").catch(() => ""));
  const names = await lstat(file).then(
    ({ nlink }) => nlink,
    () => 0,
  );
  if (!record) return { record, names, dataDir: "unknown" };
  const dataDir = await lstat(record.dataDir).then(
    () => "present" as const,
    ({ code }: NodeJS.ErrnoException) => (code === "ENOENT" || code === "ENOTDIR" ? "absent" : "unknown"),
  );
  return { record, names, dataDir };
}

async function claimantOf(home: string, dataDir: string): Promise<Claimant> {
  const own = join(dataDir, RECORD_IN_DATA_DIR);
  const identity = await identityOf(dataDir);
  if (await areOneFile(own, join(home, HOME_RECORD))) return { dataDir, identity, carries: "record" };
  const carried = parseHomeRecord(await readFile(own, "utf8").catch(() => ""));
  return { dataDir, identity, carries: carried ? "copy" : "nothing" };
}

/** Inode numbers are reused at once, so the creation time is part of the identity. */
async function identityOf(folder: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(folder, { bigint: true });
  return `${ino}-${birthtimeNs}`;
}

async function areOneFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => lstat(path).catch(() => undefined)));
  return first !== undefined && second !== undefined && first.ino === second.ino && first.dev === second.dev;
}

/**
 * Records in the home which data folder it belongs to. It is written before the database is created, so that nothing is
 * left without an owner, and again by the holder of the lock, because two servers that start at once may leave each
 * other's records.
 */
export async function recordHome(home: string, dataDir: string): Promise<void> {
  const file = join(home, HOME_RECORD);
  const own = join(dataDir, RECORD_IN_DATA_DIR);
  const facts = await inspectHome(home);
  const shared = facts.record?.shared ?? false;
  const record: HomeRecord = { home, dataDir, identity: await identityOf(dataDir), linked: true, shared };
  if (await areOneFile(file, own)) {
    if ((await readFile(file, "utf8")) !== textOf(record)) await writeFile(file, textOf(record));
    return;
  }
  if (facts.record && joinsHome(facts, dataDir)) {
    if (!shared) await writeFile(file, textOf({ ...facts.record, shared: true }));
    return;
  }
  const unfinished = unfinishedSibling(file);
  await writeFile(unfinished, textOf({ ...record, linked: false }), { mode: 0o600 });
  await rm(own, { force: true });
  const isLinked = await link(unfinished, own).then(
    () => true,
    () => false,
  );
  await rename(unfinished, file);
  // The record is updated in place after the link exists: it must never claim a second name that it does not have.
  if (isLinked) await writeFile(file, textOf(record));
}

const textOf = (record: HomeRecord) => `${JSON.stringify(record)}\n`;

/** Creates a folder that every user can enter, whatever the umask is. */
export async function makePassable(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o711 });
  if (first === undefined) return;
  for (const made of foldersTo(folder)) if (made.length >= first.length) await chmod(made, 0o711);
}

/** Returns the first folder on the path, including the last one, that the account cannot enter. */
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

/**
 * initdb runs in a sibling folder that is renamed when it is complete, so a folder with this file is always a complete
 * database.
 */
export async function isCluster(pgdata: string): Promise<boolean> {
  return stat(join(pgdata, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

async function locateSocketFolder(
  dataDir: string,
  home: string,
  systemFolder: string,
  account: Account | undefined,
): Promise<string> {
  const hash = folderHash(dataDir);
  const candidates = [join(home, "postgres-socket")];
  // A TMPDIR that does not exist is treated as closed.
  const closed = await closedFolder(tmpdir(), account).catch(() => tmpdir());
  if (closed === undefined) candidates.push(join(tmpdir(), `binnacle-${hash}`));
  if (account) candidates.push(join(homeFolder(systemFolder, dataDir), "postgres-socket"));
  const chosen = chooseSocketFolder(candidates);
  if (!chosen) throw new Error(`The path of the data folder ${dataDir} is too long for the socket of its database.`);
  return chosen;
}

/**
 * The folder guards the socket: only its owner and root can enter it. The short folder is in a place where anybody may make
 * folders, so one that another user has made is refused instead of trusted.
 */
export async function prepareSocketFolder(folder: string, account: Account | undefined): Promise<void> {
  await makePassable(dirname(folder));
  if (account) await removeFormerSocketFolder(folder);
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

/** That of an earlier version belongs to `nobody`. It is made anew, since its owner may do with it whatever it likes. */
async function removeFormerSocketFolder(folder: string): Promise<void> {
  const owner = await lstat(folder).then(
    ({ uid }) => uid,
    () => undefined,
  );
  if (owner === undefined || owner !== (await nobodyUid())) return;
  for (const file of [socketFile(folder), `${socketFile(folder)}.lock`]) await rm(file, { force: true });
  await rmdir(folder);
}

export async function linkCluster(folders: Folders): Promise<void> {
  if (!folders.link) return;
  await symlink(folders.pgdata, join(folders.dataDir, "postgres")).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** The names that this process has used, because an earlier process may have had the same pid. */
const ownUnfinished = new Set<string>();

export function unfinishedSibling(path: string): string {
  const name = unfinishedName(path, process.pid, randomBytes(4).toString("hex"));
  ownUnfinished.add(name);
  return name;
}

/** Removes unfinished folders of killed servers. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const maker = unfinishedCreator(name);
    if (maker === undefined || (maker === process.pid ? ownUnfinished.has(path) : isAlive(maker))) continue;
    // An initdb that outlives its server may still write there; the next start removes the rest.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
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
