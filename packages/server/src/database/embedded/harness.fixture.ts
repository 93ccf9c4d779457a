import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.adapter.ts";
import { readPidFile } from "./launch.adapter.ts";
import { removeWithDatabases } from "./leftovers.fixture.ts";
import { isPostmaster, signalProcess } from "./processes.adapter.ts";

export interface Report {
  readonly connection?: EmbeddedPostgres["connection"];
  readonly tookOver?: boolean;
  readonly refused?: string;
  readonly message?: string;
}

const SERVER = `
  import { startEmbeddedPostgres } from ${JSON.stringify(new URL("./embedded.adapter.ts", import.meta.url).href)};
  const print = (report) => process.stdout.write(JSON.stringify(report) + "\\n");
  try {
    const { connection, tookOver } = await startEmbeddedPostgres({ dataDir: process.argv[1], log: () => undefined });
    print({ connection, tookOver });
  } catch (error) {
    print({ refused: error.name, message: error.message });
  }
`;

/** The folders and processes of one test, all of which go with it. */
export class Harness {
  readonly #folders: string[] = [];
  readonly #started: EmbeddedPostgres[] = [];
  readonly #servers: ChildProcess[] = [];
  readonly logged: string[] = [];
  /** The log entries of each message. */
  readonly fields = new Map<string, Record<string, unknown>>();

  readonly log = (message: string, fields: Record<string, unknown> = {}): void => {
    this.logged.push(message);
    this.fields.set(message, fields);
  };

  /** Only its owner can enter it, so the database user of a root server cannot. */
  async folder(): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "binnacle-db-")));
    this.#folders.push(folder);
    return folder;
  }

  async start(dataDir: string): Promise<EmbeddedPostgres> {
    const db = await startEmbeddedPostgres({ dataDir, log: this.log });
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
    for (const folder of this.#folders) await removeWithDatabases(folder);
  }
}

export async function killGroup(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  // It may have ended by itself an instant ago, before its exit event.
  signalProcess(-server.pid, "SIGKILL");
  await exited;
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
