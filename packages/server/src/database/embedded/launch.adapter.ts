import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { chown, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Binaries } from "./binaries.adapter.ts";
import {
  type Folders,
  isCluster,
  prepareOwnership,
  prepareSocketFolder,
  syncFolder,
  unfinishedSibling,
} from "./folders.adapter.ts";
import { type Account, SOCKET_PORT, socketFile } from "./placement.ts";
import { failureReason, type PidFile, parsePidFile, withPid } from "./postmaster-state.ts";
import { isAlive, isPostmaster } from "./processes.adapter.ts";

export const ROLE = "binnacle";

const LOG_MAX_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_MAX_BYTES = 8 * 1024;
const INITDB_TIMEOUT_MS = 120_000;
const BROKEN_LOCK_AGE_MS = 5_000;

/**
 * The server's own environment stays with the server: it may hold secrets, which the database user could read in /proc,
 * and PG* variables would change what PostgreSQL does. The folder "/" because the server's own may be closed.
 */
function spawnOptions(account: Account | undefined) {
  return {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  };
}

/** initdb killed in the middle leaves a folder that is neither empty nor a database, so it never runs in the real one. */
export async function createCluster(folders: Folders, binaries: Binaries): Promise<void> {
  const unfinished = unfinishedSibling(folders.pgdata);
  try {
    await mkdir(unfinished, { mode: 0o700 });
    if (folders.account) await chown(unfinished, folders.account.uid, folders.account.gid);
    await runInitdb(binaries.initdb, unfinished, folders.account);
    await rename(unfinished, folders.pgdata);
    await syncFolder(dirname(folders.pgdata));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // A server starting at the same instant has finished first; the lock decides between the two.
    if (await isCluster(folders.pgdata)) return;
    throw new Error(`The database in ${folders.pgdata} cannot be made: ${(error as Error).message}`, { cause: error });
  }
}

function runInitdb(initdb: string, pgdata: string, account: Account | undefined): Promise<void> {
  const args = [
    `--pgdata=${pgdata}`,
    `--username=${ROLE}`,
    "--auth=trust",
    "--encoding=UTF8",
    // The built-in provider sorts alike on every machine and does not change with the system's C library.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(initdb, args, {
      ...spawnOptions(account),
      stdio: ["ignore", "ignore", "pipe"],
      timeout: INITDB_TIMEOUT_MS,
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-LOG_TAIL_MAX_BYTES);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(failureReason(said) ?? (said.trim() || `initdb ended with ${signal ?? `code ${code}`}`)));
    });
  });
}

/** A postmaster started by this server. */
export interface Launched {
  readonly pid: number;
  readonly exited: Promise<void>;
  isRunning(): boolean;
  /** What it wrote to the log since its start. */
  said(): string;
}

export async function launch(folders: Folders, socketDir: string, binaries: Binaries): Promise<Launched> {
  await prepareOwnership(folders.pgdata, folders.account);
  await prepareSocketFolder(socketDir, folders.account);
  disarmStaleLock(join(folders.pgdata, "postmaster.pid"), folders.pgdata);
  disarmStaleLock(`${socketFile(socketDir)}.lock`, folders.pgdata);

  const log = openSync(folders.logFile, "a", 0o600);
  try {
    if (fstatSync(log).size > LOG_MAX_BYTES) ftruncateSync(log);
    const logStart = fstatSync(log).size;
    const child = spawn(binaries.postgres, postgresArgs(folders.pgdata, socketDir), {
      ...spawnOptions(folders.account),
      stdio: ["ignore", log, log],
      // Its own process group: the terminal's Ctrl-C must reach the server first, which still needs its database to drain.
      detached: true,
    });
    await spawned(child);
    // A server that is refused the lock must be able to end while another one uses this postmaster.
    child.unref();
    return {
      pid: child.pid as number,
      exited: new Promise((resolve) => child.once("exit", () => resolve())),
      isRunning: () => child.exitCode === null && child.signalCode === null,
      said: () => logSince(folders.logFile, logStart),
    };
  } finally {
    closeSync(log);
  }
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

function postgresArgs(pgdata: string, socketDir: string): string[] {
  const settings = {
    listen_addresses: "",
    // A list of folders: quotes keep a comma or space in the path from splitting it.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    port: String(SOCKET_PORT),
    max_connections: "100",
    // Statements and the details of errors carry row values, and rows carry secrets: neither goes to the log.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
  };
  return ["-D", pgdata, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/**
 * PostgreSQL takes a lock file for valid when its pid exists, also when that is a zombie or, as after every restart of a
 * container, a process that got the same number. It never counts its own parent, so the stale file gets our pid. Removing
 * the file instead would drop the record of the shared memory that backends of a killed postmaster may still use.
 * Synchronous, so that nothing of this process comes between the check and the write.
 */
function disarmStaleLock(path: string, pgdata: string): void {
  let text: string;
  let ageMs: number;
  try {
    text = readFileSync(path, "utf8");
    ageMs = Date.now() - statSync(path).mtimeMs;
  } catch {
    return;
  }
  const pid = parsePidFile(text)?.pid;
  if (pid === undefined) {
    // Empty for an instant while a postmaster starts; for longer only after a power failure.
    if (ageMs > BROKEN_LOCK_AGE_MS) rmSync(path, { force: true });
  } else if (isAlive(pid) && !isPostmaster(pid, pgdata)) {
    writeFileSync(path, withPid(text, process.pid));
  }
}

export async function readPidFile(pgdata: string): Promise<PidFile | undefined> {
  const text = await readFile(join(pgdata, "postmaster.pid"), "utf8").catch(() => "");
  return parsePidFile(text);
}

function logSince(path: string, start: number): string {
  const log = openSync(path, "r");
  try {
    const end = fstatSync(log).size;
    const from = Math.max(start, end - LOG_TAIL_MAX_BYTES);
    const bytes = Buffer.alloc(Math.max(0, end - from));
    return bytes.toString("utf8", 0, readSync(log, bytes, 0, bytes.length, from));
  } finally {
    closeSync(log);
  }
}
