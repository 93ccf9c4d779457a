import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

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

/** What stands at `<dataDir>/postgres` before a start. */
export type Found =
  | { readonly kind: "nothing" }
  | { readonly kind: "broken link"; readonly target: string }
  | { readonly kind: "cluster"; readonly realPath: string; readonly closedAt: string | undefined };

export type ClusterChoice =
  | { readonly kind: "use"; readonly pgdata: string; readonly link: boolean }
  | { readonly kind: "refuse"; readonly reason: string };

/** Root-only ground that every user may pass through: where a database goes when its data folder is closed. */
export const SYSTEM_FOLDER = "/var/lib/binnacle";

export const SOCKET_PORT = 5432;

/** `sun_path` holds 108 bytes on Linux and 104 on macOS, each with its closing zero; the smaller one serves both. */
const SOCKET_PATH_MAX_BYTES = 103;

export function accountFromPasswd(passwd: string, name: string): Account | undefined {
  for (const line of passwd.split("\n")) {
    const [user, , uid, gid] = line.split(":");
    if (user !== name || !uid || !gid) continue;
    // macOS writes nobody as -2, which the kernel reads as an unsigned number.
    return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
  }
  return undefined;
}

/** Every folder from the root down to and including `path`. */
export function foldersTo(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...foldersTo(parent), path];
}

/**
 * The first folder the account cannot pass through. One closed folder anywhere on the way hides everything below it,
 * however open that is: a checkout below /root (0700) is the common case.
 */
export function firstClosedFolder(folders: readonly FolderBits[], account: Account): string | undefined {
  return folders.find((folder) => !isSearchable(folder, account))?.path;
}

function isSearchable(folder: FolderBits, account: Account): boolean {
  // The kernel asks only the most specific class: an owner without the bit is refused even when "others" have it.
  if (folder.uid === account.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === account.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

export function folderHash(realDataDir: string): string {
  return createHash("sha256").update(realDataDir).digest("hex").slice(0, 16);
}

/** The folder for everything the database user must reach: the data folder itself unless it is closed to that user. */
export function homeFolder(realDataDir: string, dataDirIsReachable: boolean): string {
  return dataDirIsReachable ? realDataDir : join(SYSTEM_FOLDER, folderHash(realDataDir));
}

/**
 * An existing database always wins over where a new one would go: permissions that change between two starts must
 * never show the operator an empty database.
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
        `The database in ${found.realPath} runs as the user nobody, who cannot pass through ${found.closedAt}. ` +
        `Open that folder with "chmod o+x ${found.closedAt}", or run the server as a user other than root.`,
    };
  }
  return { kind: "use", pgdata: found.realPath, link: false };
}

export function socketFile(socketDir: string): string {
  return join(socketDir, `.s.PGSQL.${SOCKET_PORT}`);
}

/** The first folder whose socket path the kernel can hold. */
export function chooseSocketFolder(candidates: readonly string[]): string | undefined {
  return candidates.find((folder) => Buffer.byteLength(socketFile(folder)) <= SOCKET_PATH_MAX_BYTES);
}

/** Unfinished folders carry the pid of their maker, so that a later start knows which of them are abandoned. */
export function unfinishedName(path: string, pid: number, nonce: string): string {
  return `${path}.unfinished-${pid}-${nonce}`;
}

/** The maker's pid when `name` is an unfinished sibling of `path`. */
export function unfinishedMaker(path: string, name: string): number | undefined {
  const prefix = `${basename(path)}.unfinished-`;
  if (!name.startsWith(prefix)) return undefined;
  const pid = Number.parseInt(name.slice(prefix.length), 10);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}
