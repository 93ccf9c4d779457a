import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { chown, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { giveTo, nobodyUid, prepareOwnership, spawnOptions } from "./account.adapter.ts";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.adapter.ts";
import { type Folders, isCluster, prepareSocketFolder, syncFolder, withUnfinished } from "./folders.adapter.ts";
import {
  FOLDER_SETTING,
  failureReason,
  type PidFile,
  parsePidFile,
  SOCKET_PORT,
  socketFile,
  WORKING_DIRECTORY,
  withPid,
} from "./postmaster-state.ts";
import { isAlive, isPostmaster } from "./processes.adapter.ts";

export const ROLE = "binnacle";

const LOG_MAX_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_MAX_BYTES = 8 * 1024;
const INITDB_TIMEOUT_MS = 120_000;
const BROKEN_LOCK_AGE_MS = 5_000;

/** A killed initdb leaves a folder that is neither empty nor a database, so it never runs in the real one. */
export async function createCluster({ pgdata, account }: Folders, binaries: Binaries): Promise<void> {
  try {
    await withUnfinished(pgdata, async (unfinished) => {
      const made = join(unfinished, "data");
      await mkdir(made, { mode: 0o700 });
      const creator = account && (await prepareCreator(made, account));
      await runInitdb(binaries.initdb, made, creator);
      if (account) await giveTo(account, made);
      await rename(made, pgdata);
      await syncFolder(dirname(pgdata));
    });
  } catch (error) {
    // A server that started at the same time was faster; the lock decides between the two.
    if (await isCluster(pgdata)) return;
    throw new Error(`The database in ${pgdata} cannot be made: ${(error as Error).message}`, { cause: error });
  }
}

/** The user that runs initdb, who needs a name. Only root can enter the folder around, so no other process of that user gets in. */
async function prepareCreator(made: string, { gid }: Account): Promise<Account> {
  const uid = await nobodyUid();
  if (uid === undefined) {
    throw new Error(
      "root cannot make one, and /etc/passwd has no user nobody to make it. Run the server as another user",
    );
  }
  await chown(made, uid, gid);
  return { uid, gid };
}

/** The path of a database folder for a process that has it as its working directory. */
const seenBy = (account: Account | undefined, pgdata: string) => (account ? WORKING_DIRECTORY : pgdata);

function runInitdb(initdb: string, pgdata: string, account: Account | undefined): Promise<void> {
  const args = [
    `--pgdata=${seenBy(account, pgdata)}`,
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
      ...spawnOptions(account, pgdata),
      stdio: ["ignore", "ignore", "pipe"],
      timeout: INITDB_TIMEOUT_MS,
    });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-LOG_TAIL_MAX_BYTES);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else
        reject(new Error(failureReason(output) ?? (output.trim() || `initdb ended with ${signal ?? `code ${code}`}`)));
    });
  });
}

/** A postmaster started by this server. */
export interface Launched {
  readonly pid: number;
  readonly exited: Promise<void>;
  isRunning(): boolean;
  /** Returns what the postmaster has logged since its start. */
  output(): string;
}

export async function launch(folders: Folders, socketDir: string, binaries: Binaries): Promise<Launched> {
  const { pgdata, account, logFile } = folders;
  await prepareOwnership(pgdata, account);
  if (socketDir !== pgdata) await prepareSocketFolder(socketDir, account);
  if (account) await writeAccessRules(pgdata);
  disarmStaleLock(join(pgdata, "postmaster.pid"), pgdata);
  disarmStaleLock(`${socketFile(socketDir)}.lock`, pgdata);

  const log = openSync(logFile, "a", 0o600);
  try {
    if (fstatSync(log).size > LOG_MAX_BYTES) ftruncateSync(log);
    const logStart = fstatSync(log).size;
    const child = spawn(binaries.postgres, postgresArgs(folders, socketDir), {
      ...spawnOptions(account, pgdata),
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
      output: () => logSince(logFile, logStart),
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

const HBA_FILE = "binnacle.hba.conf";
const IDENT_FILE = "binnacle.ident.conf";

/**
 * Only root connects to a database that root has started. The rules of the database itself stay as they are for a server that runs the
 * same folder as another user. The files are always new: the database could have put links to files of root in their place.
 */
async function writeAccessRules(pgdata: string): Promise<void> {
  for (const [name, text] of [
    [HBA_FILE, `local all ${ROLE} peer map=server\n`],
    [IDENT_FILE, `server root ${ROLE}\n`],
  ] as const) {
    await rm(join(pgdata, name), { force: true });
    const file = await open(join(pgdata, name), "wx", 0o644);
    try {
      await file.writeFile(text);
      await file.chmod(0o644);
    } finally {
      await file.close();
    }
  }
}

function postgresArgs({ pgdata, account }: Folders, socketDir: string): string[] {
  const folder = seenBy(account, pgdata);
  const socket = socketDir === pgdata ? folder : socketDir;
  const settings = {
    listen_addresses: "",
    // The setting is a list; quotes keep a comma or space in the path from splitting it.
    unix_socket_directories: `"${socket.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    port: String(SOCKET_PORT),
    max_connections: "100",
    // Statements and error details contain row values, and rows contain secrets, so neither is logged.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(account ? { hba_file: join(folder, HBA_FILE), ident_file: join(folder, IDENT_FILE) } : {}),
    [FOLDER_SETTING]: pgdata,
  };
  return ["-D", folder, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
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
  const pid = parsePidFile(text, pgdata)?.pid;
  if (pid === undefined) {
    // The file is empty for a moment while a postmaster starts, and for longer only after a power failure.
    if (ageMs > BROKEN_LOCK_AGE_MS) rmSync(path, { force: true });
  } else if (isAlive(pid) && !isPostmaster(pid, pgdata)) {
    // The file is in a folder of the database, which could have put a link to a file of root in its place.
    const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
    try {
      writeFileSync(file, withPid(text, process.pid));
    } finally {
      closeSync(file);
    }
  }
}

export async function readPidFile(pgdata: string): Promise<PidFile | undefined> {
  const text = await readFile(join(pgdata, "postmaster.pid"), "utf8").catch(() => "");
  return parsePidFile(text, pgdata);
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
