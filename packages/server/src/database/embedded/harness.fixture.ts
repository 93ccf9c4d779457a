import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.adapter.ts";
import { readPidFile } from "./launch.adapter.ts";
import { folderHash, SYSTEM_FOLDER } from "./placement.ts";
import { isPostmaster, signalProcess } from "./processes.adapter.ts";

export interface Report {
  readonly connection?: EmbeddedPostgres["connection"];
  readonly tookOver?: boolean;
  readonly refused?: string;
  readonly message?: string;
}

const SERVER = `
  import { startEmbeddedPostgres } from ${JSON.stringify(new URL("./embedded.adapter.ts", import.meta.url).href)};
  const say = (report) => process.stdout.write(JSON.stringify(report) + "\\n");
  try {
    const { connection, tookOver } = await startEmbeddedPostgres({ dataDir: process.argv[1], log: () => undefined });
    say({ connection, tookOver });
  } catch (error) {
    say({ refused: error.name, message: error.message });
  }
`;

/** The folders and processes of one test, all of which go with it. */
export class Harness {
  readonly #folders: string[] = [];
  readonly #started: EmbeddedPostgres[] = [];
  readonly #servers: ChildProcess[] = [];
  readonly logged: string[] = [];

  /** mkdtemp makes folders that only their owner can pass; a mode opens them for the database user of a root server. */
  async folder(mode = 0o755): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "binnacle-db-")));
    await chmod(folder, mode);
    this.#folders.push(folder);
    return folder;
  }

  async start(dataDir: string): Promise<EmbeddedPostgres> {
    const db = await startEmbeddedPostgres({ dataDir, log: (message) => this.logged.push(message) });
    this.#started.push(db);
    return db;
  }

  /** A real server process, leader of its own group so that its initdb can be killed with it. */
  spawnServer(dataDir: string): { child: ChildProcess; report: Promise<Report> } {
    const child = spawn(process.execPath, ["--input-type=module", "-e", SERVER, dataDir], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    this.#servers.push(child);
    const lines = createInterface({ input: child.stdout });
    return { child, report: once(lines, "line").then(([line]) => JSON.parse(String(line)) as Report) };
  }

  async clean(): Promise<void> {
    for (const server of this.#servers) await killGroup(server);
    for (const db of this.#started) await db.stop();
    for (const folder of this.#folders) {
      const system = join(SYSTEM_FOLDER, folderHash(join(folder, "data")));
      for (const home of [...(await subfolders(folder)), system]) {
        const pgdata = join(home, "postgres");
        const pid = (await readPidFile(pgdata))?.pid;
        if (pid !== undefined && isPostmaster(pid, pgdata)) signalProcess(pid, "SIGQUIT");
        await until(() => processesIn(pgdata).length === 0);
      }
      for (const path of [folder, system]) await rm(path, { recursive: true, force: true });
    }
  }
}

async function subfolders(folder: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name));
}

export async function killGroup(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  // It may have ended by itself an instant ago, before its exit event.
  signalProcess(-server.pid, "SIGKILL");
  await exited;
}

/** Every process of the database in this folder (Linux). */
export function processesIn(pgdata: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((entry) => {
    try {
      const isPostgres = readFileSync(`/proc/${entry}/cmdline`, "utf8").includes("postgres");
      return isPostgres && readlinkSync(`/proc/${entry}/cwd`) === pgdata ? [Number(entry)] : [];
    } catch {
      return [];
    }
  });
}

export async function postmasterPid(pgdata: string): Promise<number> {
  const pid = (await readPidFile(pgdata))?.pid;
  if (pid === undefined || !isPostmaster(pid, pgdata)) throw new Error(`no database runs in ${pgdata}`);
  return pid;
}

export async function query(connection: EmbeddedPostgres["connection"], sql: string): Promise<unknown[]> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

export async function until<T>(attempt: () => T | Promise<T>, patienceMs = 15_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    let failure: unknown = new Error("the condition was not met in time");
    try {
      const result = await attempt();
      if (result) return result;
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadline) throw failure;
    await delay(15);
  }
}
