import { basename } from "node:path";

/** The lines of `postmaster.pid` that say who runs the database and where it answers. */
export interface PidFile {
  readonly pid: number;
  /** Missing while the postmaster has locked the folder but not yet opened its socket. */
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

/** The same lock file in the name of another process; the other lines name the shared memory and have to stay. */
export function withPid(text: string, pid: number): string {
  const firstBreak = text.indexOf("\n");
  return `${pid}${firstBreak === -1 ? "\n" : text.slice(firstBreak)}`;
}

/**
 * Whether a command line (arguments separated by NUL, as in /proc) is a postmaster of this very folder. A pid alone
 * proves nothing: it may have been given to another process since. A zombie has an empty command line.
 */
export function isPostmasterCommand(commandLine: string, pgdata: string): boolean {
  const [program, ...args] = commandLine.split("\0");
  return basename(program ?? "") === "postgres" && args[0] === "-D" && args[1] === pgdata;
}

/** Children of a postmaster rewrite their command line to "postgres: role database …". */
export function isBackendCommand(commandLine: string): boolean {
  return commandLine.startsWith("postgres: ");
}

/** The parent in /proc/<pid>/stat; the command before it is in brackets and may itself hold spaces and brackets. */
export function parentFromStat(stat: string): number | undefined {
  const parent = Number(
    stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .at(1),
  );
  return Number.isSafeInteger(parent) && parent > 0 ? parent : undefined;
}

/** What PostgreSQL wrote as the cause of its exit, without the "FATAL:" the operator cannot use. */
export function failureReason(logTail: string): string | undefined {
  const lines = logTail.split("\n").filter((line) => /\b(FATAL|PANIC):|error while loading|^initdb: error/.test(line));
  return lines
    .at(-1)
    ?.replace(/^.*?\b(?:FATAL|PANIC|initdb: error):\s*/, "")
    .trim();
}

/**
 * Failures that pass by themselves: backends of a killed postmaster still hold the shared memory for a moment, and of
 * two servers starting together one finds the other's lock file, perhaps half written.
 */
export function isPassingFailure(logTail: string): boolean {
  return /pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)|bogus data in lock file/.test(
    logTail,
  );
}
