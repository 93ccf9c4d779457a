import { basename, join } from "node:path";

export const SOCKET_PORT = 5432;

/** `sun_path` has 108 bytes on Linux and 104 on macOS, including the terminating zero; the smaller limit is used. */
const SOCKET_PATH_MAX_BYTES = 103;

export function socketFile(folder: string): string {
  return join(folder, `.s.PGSQL.${SOCKET_PORT}`);
}

export function fitsSocketPath(folder: string): boolean {
  return Buffer.byteLength(socketFile(folder)) <= SOCKET_PATH_MAX_BYTES;
}

/**
 * The database of a root server gets its folder as its working directory, which the kernel enters before the user changes. This path
 * leads there although that user may not enter the folders above.
 */
export const WORKING_DIRECTORY = "/proc/self/cwd";

/** A setting of our own that tells whose database it is where `data_directory` is only the working directory. */
export const FOLDER_SETTING = "binnacle.data_directory";

/** The lines of `postmaster.pid` with the process and the socket of the database. */
export interface PidFile {
  readonly pid: number;
  /** Undefined while the postmaster has locked the folder and not yet opened its socket. */
  readonly socket: { readonly folder: string; readonly port: number } | undefined;
}

export function parsePidFile(text: string, pgdata: string): PidFile | undefined {
  const [pidLine, , , portLine, folder] = text.split("\n");
  // A stand-alone backend writes its pid negated.
  const pid = Math.abs(Number.parseInt(pidLine ?? "", 10));
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  const port = Number.parseInt(portLine ?? "", 10);
  if (!folder || !(port > 0)) return { pid, socket: undefined };
  return { pid, socket: { folder: folder === WORKING_DIRECTORY ? pgdata : folder, port } };
}

/** Returns the lock file with another pid. The other lines name the shared memory and must stay. */
export function withPid(text: string, pid: number): string {
  const firstBreak = text.indexOf("\n");
  return `${pid}${firstBreak === -1 ? "\n" : text.slice(firstBreak)}`;
}

/**
 * Returns whether a command line, with NUL between arguments as in /proc, is a postmaster of this folder. A pid alone
 * proves nothing, because pids are reused. A zombie has an empty command line.
 */
export function isPostmasterCommand(commandLine: string, pgdata: string): boolean {
  const [program, ...args] = commandLine.split("\0");
  if (basename(program ?? "") !== "postgres" || args[0] !== "-D") return false;
  return args[1] === pgdata || args.includes(`${FOLDER_SETTING}=${pgdata}`);
}

/** Children of a postmaster rewrite their command line to "postgres: role database …". */
export function isBackendCommand(commandLine: string): boolean {
  return commandLine.startsWith("postgres: ");
}

/**
 * Returns the parent from /proc/<pid>/stat. The command before it is in brackets and may contain spaces and brackets.
 */
export function parentFromStat(stat: string): number | undefined {
  const parent = Number(
    stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .at(1),
  );
  return Number.isSafeInteger(parent) && parent > 0 ? parent : undefined;
}

/** PostgreSQL tells everybody who connects meanwhile, in a line like that of the reason. */
const NOT_YET = /\bFATAL:\s+the database system is /;

/** Returns the reason that PostgreSQL logged for its exit, without the "FATAL:". */
export function failureReason(logTail: string): string | undefined {
  const lines = logTail
    .split("\n")
    .filter((line) => /\b(FATAL|PANIC):|error while loading|^initdb: error/.test(line) && !NOT_YET.test(line));
  return lines
    .at(-1)
    ?.replace(/^.*?\b(?:FATAL|PANIC|initdb: error):\s*/, "")
    .trim();
}

/** Returns whether the reason of a failure is a full disk, or a full quota. */
export const isFullDisk = (reason: string): boolean => /no space left on device|disk quota exceeded/i.test(reason);

/** The database of a folder was made by another major version of PostgreSQL, whose files this one cannot read. */
export function otherMajor(found: string, own: string, pgdata: string): string {
  const isNewer = Number(found) > Number(own);
  const way = isNewer
    ? "Start the version of Binnacle that ran before, or move that folder away and restore a backup that this version can read"
    : "Write a backup with the version of Binnacle that ran before (binnacle-server backup <file>), move that folder away, " +
      "restore the backup with this version (binnacle-server restore <file>), and start again";
  return `The database in ${pgdata} is one of PostgreSQL ${found}, and this version of Binnacle has PostgreSQL ${own}. Nothing was changed. ${way}.`;
}

/**
 * Returns whether a failure is transient: backends of a killed postmaster still use the shared memory, or two servers
 * that start together find each other's lock file, perhaps incomplete.
 */
export function isTransientFailure(logTail: string): boolean {
  return /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)|bogus data in lock file/.test(
    logTail,
  );
}
