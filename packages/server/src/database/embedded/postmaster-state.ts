import { basename } from "node:path";

/** The lines of `postmaster.pid` with the process and the socket of the database. */
export interface PidFile {
  readonly pid: number;
  /** Undefined while the postmaster has locked the folder and not yet opened its socket. */
  readonly socket: { readonly folder: string; readonly port: number } | undefined;
}

export function parsePidFile(text: string): PidFile | undefined {
  const [pidLine, , , portLine, folder] = text.split("\n");
  // A stand-alone backend writes its pid negated.
  const pid = Math.abs(Number.parseInt(pidLine ?? "", 10));
  if (!Number.isSafeInteger(pid) || pid === 0) return undefined;
  const port = Number.parseInt(portLine ?? "", 10);
  return { pid, socket: folder && port > 0 ? { folder, port } : undefined };
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
  return basename(program ?? "") === "postgres" && args[0] === "-D" && args[1] === pgdata;
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

/** Returns the reason that PostgreSQL logged for its exit, without the "FATAL:". */
export function failureReason(logTail: string): string | undefined {
  const lines = logTail.split("\n").filter((line) => /\b(FATAL|PANIC):|error while loading|^initdb: error/.test(line));
  return lines
    .at(-1)
    ?.replace(/^.*?\b(?:FATAL|PANIC|initdb: error):\s*/, "")
    .trim();
}

/**
 * Returns whether a failure is transient: backends of a killed postmaster still use the shared memory, or two servers
 * that start together find each other's lock file, perhaps incomplete.
 */
export function isPassingFailure(logTail: string): boolean {
  return /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)|bogus data in lock file/.test(
    logTail,
  );
}
