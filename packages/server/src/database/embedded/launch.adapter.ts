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
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Binaries } from "./binaries.adapter.ts";
import { type Folders, isCluster, prepareSocketFolder, syncFolder, unfinishedSibling } from "./folders.adapter.ts";
import { giveTo, nobodyUid, prepareOwnership } from "./ownership.adapter.ts";
import { type Account, SOCKET_PORT, socketFile } from "./placement.ts";
import { failureReason, type PidFile, parsePidFile, withPid } from "./postmaster-state.ts";
import { isAlive, isPostmaster } from "./processes.adapter.ts";

export const ROLE = "binnacle";

const LOG_MAX_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_MAX_BYTES = 8 * 1024;
const INITDB_TIMEOUT_MS = 120_000;
const BROKEN_LOCK_AGE_MS = 5_000;

/**
 * The child gets no environment of the server: it may contain secrets, which the database user could read in /proc, and
 * PG* variables would change the behaviour of PostgreSQL. The working directory is "/", because the server's own may be
 * closed to that user.
 */
function spawnOptions(account: Account | undefined) {
  return {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  };
}

/** A killed initdb leaves a folder that is neither empty nor a database, so it never runs in the real one. */
export async function createCluster(folders: Folders, binaries: Binaries): Promise<void> {
  const unfinished = unfinishedSibling(folders.pgdata);
  try {
    await mkdir(unfinished, { mode: 0o700 });
    const made = join(unfinished, "data");
    await mkdir(made, { mode: 0o700 });
    const creator = folders.account && (await prepareCreator(unfinished, made, folders.account));
    await runInitdb(binaries.initdb, made, creator);
    if (folders.account) await giveTo(folders.account, made);
    await rename(made, folders.pgdata);
    await syncFolder(dirname(folders.pgdata));
  } catch (error) {
    // A server that started at the same time was faster; the lock decides between the two.
    if (await isCluster(folders.pgdata)) return;
    throw new Error(`The database in ${folders.pgdata} cannot be made: ${(error as Error).message}`, { cause: error });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/**
 * The user that runs initdb, who needs a name, in the group of the database's own account. Only that group can enter the folder around
 * the new database, so that no other process of the same user can change it.
 */
async function prepareCreator(around: string, made: string, { gid }: Account): Promise<Account> {
  const uid = await nobodyUid();
  if (uid === undefined) {
    throw new Error(
      "root cannot make one, and /etc/passwd has no user nobody to make it. Run the server as another user",
    );
  }
  await chown(made, uid, gid);
  await chown(around, 0, gid);
  await chmod(around, 0o710);
  return { uid, gid };
}

function runInitdb(initdb: string, pgdata: string, account: Account | undefined): Promise<void> {
  const args = [
    `--pgdata=${pgdata}`,
    `--username=${ROLE}`,
    "--auth=trust",
    "--encoding=UTF8",
    // The built-in provider sorts the same on every machine and does not change with the C library.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    // As durable as syncing each of a thousand files, which takes half of the time. Only Linux has it.
    ...(process.platform === "linux" ? ["--sync-method=syncfs"] : []),
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
  /** Returns what the postmaster has logged since its start. */
  said(): string;
}

export async function launch(folders: Folders, socketDir: string, binaries: Binaries): Promise<Launched> {
  await prepareOwnership(folders.pgdata, folders.account);
  await prepareSocketFolder(socketDir, folders.account);
  const access = folders.account ? await writeAccessRules(folders.home) : {};
  disarmStaleLock(join(folders.pgdata, "postmaster.pid"), folders.pgdata);
  disarmStaleLock(`${socketFile(socketDir)}.lock`, folders.pgdata);

  const log = openSync(folders.logFile, "a", 0o600);
  try {
    if (fstatSync(log).size > LOG_MAX_BYTES) ftruncateSync(log);
    const logStart = fstatSync(log).size;
    const child = spawn(binaries.postgres, postgresArgs(folders.pgdata, socketDir, access), {
      ...spawnOptions(folders.account),
      stdio: ["ignore", log, log],
      // The postmaster has its own process group: Ctrl-C must reach the server only, which needs its database to drain.
      detached: true,
    });
    await spawned(child);
    // A server that does not get the lock must be able to exit while another one uses this postmaster.
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

/**
 * Only root connects to a database that root has started. The files are root's, outside the database, whose own rules stay as they
 * are for a server that runs the same folder as another user.
 */
async function writeAccessRules(home: string): Promise<Readonly<Record<string, string>>> {
  const [hba_file, ident_file] = [join(home, "postgres.hba.conf"), join(home, "postgres.ident.conf")];
  await writeFile(hba_file, `local all ${ROLE} peer map=server\n`);
  await writeFile(ident_file, `server root ${ROLE}\n`);
  for (const file of [hba_file, ident_file]) await chmod(file, 0o644);
  return { hba_file, ident_file };
}

function postgresArgs(pgdata: string, socketDir: string, access: Readonly<Record<string, string>>): string[] {
  const settings = {
    listen_addresses: "",
    // The setting is a list; quotes keep a comma or space in the path from splitting it.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    port: String(SOCKET_PORT),
    max_connections: "100",
    // Statements and error details contain row values, and rows contain secrets, so neither is logged.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...access,
  };
  return ["-D", pgdata, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/**
 * PostgreSQL regards a lock file as valid while its pid exists, even if that is a zombie or, after a restart of a
 * container, another process with the same number. It ignores its own parent, so the stale file gets our pid. Removing
 * the file would lose the record of the shared memory that backends of a killed postmaster may still use. This is
 * synchronous, so that nothing happens between the check and the write.
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
    // The file is empty for a moment while a postmaster starts, and for longer only after a power failure.
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
