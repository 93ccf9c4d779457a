import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.adapter.ts";
import { readPidFile } from "./launch.adapter.ts";
import { removeWithDatabases } from "./leftovers.fixture.ts";
import { SYSTEM_FOLDER } from "./placement.ts";
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
    const [, dataDir, systemFolder] = process.argv;
    const { connection, tookOver } = await startEmbeddedPostgres({ dataDir, systemFolder, log: () => undefined });
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
  readonly #systemFolder: string;
  readonly logged: string[] = [];
  /** The log entries of each message. */
  readonly fields = new Map<string, Record<string, unknown>>();

  constructor(systemFolder = SYSTEM_FOLDER) {
    this.#systemFolder = systemFolder;
  }

  readonly log = (message: string, fields: Record<string, unknown> = {}): void => {
    this.logged.push(message);
    this.fields.set(message, fields);
  };

  /** mkdtemp makes folders that only their owner can pass; a mode opens them for the database user of a root server. */
  async folder(mode = 0o755): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "binnacle-db-")));
    await chmod(folder, mode);
    this.#folders.push(folder);
    return folder;
  }

  async start(dataDir: string): Promise<EmbeddedPostgres> {
    const db = await startEmbeddedPostgres({ dataDir, log: this.log, systemFolder: this.#systemFolder });
    this.#started.push(db);
    return db;
  }

  /** A real server process, leader of its own group so that its initdb can be killed with it. */
  spawnServer(dataDir: string): { child: ChildProcess; report: Promise<Report> } {
    const child = spawn(process.execPath, ["--input-type=module", "-e", SERVER, dataDir, this.#systemFolder], {
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
    for (const folder of this.#folders) await removeWithDatabases(folder, this.#systemFolder);
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
