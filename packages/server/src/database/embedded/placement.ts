import { createHash } from "node:crypto";
import { dirname, join } from "node:path";

/** The user a database runs as when the server itself is root, because PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** One folder on the way to a path, with the permission bits that decide who may pass through it. */
export interface FolderBits {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** The state of `<dataDir>/postgres` before a start. */
export type Found =
  | { readonly kind: "nothing" }
  | { readonly kind: "broken link"; readonly target: string }
  | { readonly kind: "cluster"; readonly realPath: string; readonly closedAt: string | undefined };

export type ClusterChoice =
  | { readonly kind: "use"; readonly pgdata: string; readonly link: boolean }
  | { readonly kind: "refuse"; readonly reason: string };

/**
 * A folder that root owns and every user can enter. The databases of closed data folders are here, each in its own
 * folder (its home), and copies of the database program, one for each version.
 */
export const SYSTEM_FOLDER = "/var/lib/binnacle";

export const SOCKET_PORT = 5432;

/** `sun_path` has 108 bytes on Linux and 104 on macOS, including the terminating zero; the smaller limit is used. */
const SOCKET_PATH_MAX_BYTES = 103;

export function uidFromPasswd(passwd: string, name: string): number | undefined {
  for (const line of passwd.split("\n")) {
    const [user, , uid] = line.split(":");
    // macOS writes nobody as -2, which the kernel reads as an unsigned number.
    if (user === name && uid) return Number(uid) >>> 0;
  }
  return undefined;
}

/** Debian reserves these and systemd leaves them unused. They exist in user namespaces of 65,536 ids too. */
const FIRST_OWN_ID = 65_520;
const LAST_OWN_ID = 65_533;

/** Returns an account that has no name and that nothing else runs as. In both files the id is the third field. */
export function unusedAccount(passwd: string, group: string): Account | undefined {
  const used = new Set([passwd, group].flatMap((text) => text.split("\n").map((line) => Number(line.split(":")[2]))));
  for (let id = FIRST_OWN_ID; id <= LAST_OWN_ID; id++) if (!used.has(id)) return { uid: id, gid: id };
  return undefined;
}

/** Every folder from the root down to and including `path`. */
export function foldersTo(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...foldersTo(parent), path];
}

/**
 * Returns the first folder that the account cannot enter. One closed folder on the path hides everything below it: a
 * checkout below /root (0700) is the common case.
 */
export function firstClosedFolder(folders: readonly FolderBits[], account: Account): string | undefined {
  return folders.find((folder) => !isSearchable(folder, account))?.path;
}

function isSearchable(folder: FolderBits, account: Account): boolean {
  // The kernel checks only the most specific class: an owner without the bit is refused even if "others" have it.
  if (folder.uid === account.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === account.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

/** The record in a home of the data folder that it belongs to. */
export interface HomeRecord {
  readonly home: string;
  readonly dataDir: string;
  /** Distinguishes that folder from a later one at the same path. */
  readonly identity: string;
  /**
   * Whether the record is hard-linked into the data folder. Its link count then falls when that folder is removed, but
   * not when it is moved or its disk is unmounted. Links are impossible across file systems.
   */
  readonly linked: boolean;
  /** Whether a copy of that data folder uses the database too, so that removing one folder does not remove it. */
  readonly shared: boolean;
}

export interface HomeFacts {
  /** Undefined where there is no readable record. */
  readonly record: HomeRecord | undefined;
  /** The link count of the record. */
  readonly names: number;
  /** Whether the data folder exists; unknown if the check failed. */
  readonly dataDir: "present" | "absent" | "unknown";
}

/** The data folder of a starting server, compared with a record. */
export interface Claimant {
  readonly dataDir: string;
  readonly identity: string;
  /** The record in the data folder: the same file as in the home, a copy as after a restore from a backup, or none. */
  readonly carries: "record" | "copy" | "nothing";
}

export function parseHomeRecord(text: string): HomeRecord | undefined {
  try {
    const { home, dataDir, identity, linked, shared } = JSON.parse(text);
    const isRecord =
      [home, dataDir, identity].every((value) => typeof value === "string") &&
      [linked, shared].every((value) => typeof value === "boolean");
    return isRecord ? { home, dataDir, identity, linked, shared } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Decides whether a home has lost its data folder. Only a record that has lost its second link proves it; a missing
 * path may also belong to a folder that was moved or to a disk that is not mounted.
 */
export function classifyHome({ record, names, dataDir }: HomeFacts): "keep" | "doubtful" | "gone" {
  if (!record || dataDir !== "absent" || names > 1) return "keep";
  return record.linked && !record.shared ? "gone" : "doubtful";
}

/**
 * Returns whether a data folder without the record shares the home, because the one with the record may still exist.
 */
export function joinsHome({ record, names, dataDir }: HomeFacts, ownDataDir: string): boolean {
  if (!record?.linked) return false;
  return record.shared || names > 1 || (dataDir !== "absent" && record.dataDir !== ownDataDir);
}

/** Decides whether a data folder without a database may use this home as it is, after it is emptied, or not at all. */
export function claimOfHome({ record, names, dataDir }: HomeFacts, claimant: Claimant): "ours" | "stale" | "taken" {
  if (!record || claimant.carries === "record") return "ours";
  const isSamePath = record.dataDir === claimant.dataDir;
  if (!record.linked) return isSamePath ? "ours" : "taken";
  // The data folder of this home was moved and still exists, or another one uses it too.
  if (names > 1 || record.shared) return "taken";
  if (isSamePath) return claimant.carries === "copy" || record.identity === claimant.identity ? "ours" : "stale";
  return dataDir === "absent" ? "stale" : "taken";
}

export function folderHash(realDataDir: string): string {
  return createHash("sha256").update(realDataDir).digest("hex").slice(0, 16);
}

/**
 * Returns the candidate homes of a closed data folder in order. A later one is used only where an earlier one belongs
 * to a moved folder.
 */
export function homeFolder(systemFolder: string, realDataDir: string, attempt = 1): string {
  const suffix = attempt === 1 ? "" : `-${attempt}`;
  return join(systemFolder, `${folderHash(realDataDir)}${suffix}`);
}

export function isHomeName(name: string): boolean {
  return /^[0-9a-f]{16}(-\d+)?$/.test(name);
}

/**
 * An existing database takes precedence over the place of a new one: a change of permissions must never lead to an
 * empty database.
 */
export function chooseCluster(realDataDir: string, home: string, found: Found): ClusterChoice {
  const own = join(realDataDir, "postgres");
  if (found.kind === "nothing") return { kind: "use", pgdata: join(home, "postgres"), link: home !== realDataDir };
  if (found.kind === "broken link") {
    return {
      kind: "refuse",
      reason:
        `${own} points at the database folder ${found.target}, which is missing. ` +
        "Restore that folder, or remove the link to begin with an empty database.",
    };
  }
  if (found.closedAt !== undefined) {
    return {
      kind: "refuse",
      reason:
        `The database in ${found.realPath} runs as a user of its own, who cannot pass through ${found.closedAt}. ` +
        `Open that folder with "chmod o+x ${found.closedAt}", or run the server as a user other than root.`,
    };
  }
  return { kind: "use", pgdata: found.realPath, link: false };
}

export function socketFile(socketDir: string): string {
  return join(socketDir, `.s.PGSQL.${SOCKET_PORT}`);
}

/** Returns the first folder whose socket path is short enough for the kernel. */
export function chooseSocketFolder(candidates: readonly string[]): string | undefined {
  return candidates.find((folder) => Buffer.byteLength(socketFile(folder)) <= SOCKET_PATH_MAX_BYTES);
}

/** Unfinished folders have the pid of their creator in their name, so that a later start recognizes abandoned ones. */
export function unfinishedName(path: string, pid: number, nonce: string): string {
  return `${path}.unfinished-${pid}-${nonce}`;
}

/** Returns the creator's pid from the name of an unfinished file or folder. */
export function unfinishedCreator(name: string): number | undefined {
  const [, pid] = /.\.unfinished-([1-9]\d{0,9})-/.exec(name) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another running Binnacle server. ` +
        "Stop that server first, or give this one a data folder of its own.",
    );
  }
}
