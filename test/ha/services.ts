import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../world/free-port.ts";

const run = promisify(execFile);
const NOBODY = 65_534;
/** PostgreSQL does not run as root. */
export const DATABASE_USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const BINARIES = "/usr/lib/postgresql";

export interface Postgres {
  readonly port: number;
  readonly folder: string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Debian's, because the embedded one comes without the programs that make replicas. */
async function program(name: string): Promise<string> {
  const versions = (await readdir(BINARIES)).sort((one, other) => Number(other) - Number(one));
  return join(BINARIES, versions[0] ?? "", "bin", name);
}

async function launch(folder: string, settings: Record<string, string | number>): Promise<Postgres> {
  const port = await freePort();
  const given = {
    listen_addresses: "127.0.0.1",
    port,
    max_connections: 100,
    unix_socket_directories: folder,
    ...settings,
  };
  const options = Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(await program("postgres"), ["-D", join(folder, "data"), ...options], {
    ...DATABASE_USER,
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const isReady = await program("pg_isready");
  for (;;) {
    const ready = run(isReady, ["-q", "-h", "127.0.0.1", "-p", String(port)]).then(
      () => true,
      () => false,
    );
    if (await ready) break;
    if (child.exitCode !== null) throw new Error(`PostgreSQL has ended with code ${child.exitCode}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    port,
    folder,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited;
    },
  };
}

async function ownFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  if (DATABASE_USER.uid !== undefined) await chown(folder, DATABASE_USER.uid, DATABASE_USER.gid);
  return folder;
}

/** A server of its own, in the folder if one is given. */
export async function startPostgres(given?: string, settings: Record<string, string | number> = {}): Promise<Postgres> {
  const folder = given ?? (await ownFolder("pg"));
  const options = ["-D", join(folder, "data"), "-U", "binnacle", "--auth=trust", "-E", "UTF8", "--locale=C"];
  await run(await program("initdb"), options, DATABASE_USER);
  return launch(folder, { wal_level: "replica", ...settings });
}

/** A replica that has every commit before it is acknowledged. */
export async function startReplica(primary: Postgres): Promise<Postgres> {
  const folder = await ownFolder("replica");
  const source = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "binnacle"];
  await run(await program("pg_basebackup"), ["-D", join(folder, "data"), "-R", "-c", "fast", ...source], DATABASE_USER);
  const replica = await launch(folder, { hot_standby: "on" });
  const query = async (port: number, text: string) =>
    (
      await run(await program("psql"), [
        "-h",
        "127.0.0.1",
        "-p",
        String(port),
        "-U",
        "binnacle",
        "-tAc",
        text,
        "postgres",
      ])
    ).stdout;
  while (!(await query(primary.port, "select state from pg_stat_replication")).includes("streaming"))
    await new Promise((resolve) => setTimeout(resolve, 50));
  await query(primary.port, "alter system set synchronous_standby_names = '*'");
  await query(primary.port, "select pg_reload_conf()");
  return replica;
}

/** The replica becomes the server that takes writes. */
export async function promote(replica: Postgres): Promise<void> {
  await run(await program("pg_ctl"), ["promote", "-w", "-D", join(replica.folder, "data")], DATABASE_USER);
}

export interface Redis {
  readonly url: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<Redis> {
  const port = await freePort();
  let child: ChildProcess;
  const start = async () => {
    child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", tmpdir()], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    for await (const text of child.stdout ?? []) if (String(text).includes("Ready to accept connections")) break;
  };
  const stop = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await stop();
      await start();
    },
    stop,
  };
}

export interface PgBouncer {
  readonly url: string;
  stop(): Promise<void>;
}

const PGBOUNCER = "/usr/sbin/pgbouncer";

/** In front of a PostgreSQL, with further settings. It waits for nobody to sign in. */
export async function startPgBouncer(postgres: Postgres, settings: Record<string, string>): Promise<PgBouncer> {
  const folder = await ownFolder("pgbouncer");
  const port = await freePort();
  const given = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    default_pool_size: 40,
    ...settings,
  };
  const lines = Object.entries(given).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, "pgbouncer.ini");
  const database = `* = host=127.0.0.1 port=${postgres.port} user=binnacle`;
  await writeFile(file, ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n"));
  const child = spawn(PGBOUNCER, [file], { ...DATABASE_USER, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const isUp = new Promise<void>((resolve, reject) => {
    let printed = "";
    child.stderr.on("data", (text) => {
      printed += text;
      if (printed.includes("process up")) resolve();
    });
    void exited.then(() => reject(new Error(`PgBouncer has ended:\n${printed}`)));
  });
  await isUp;
  return {
    url: `postgres://binnacle@127.0.0.1:${port}/postgres`,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether it keeps prepared statements where connections are shared. Debian 12 has 1.18. */
export async function keepsPreparedStatements(): Promise<boolean> {
  const { stdout } = await run(PGBOUNCER, ["--version"]);
  const [, major = "0", minor = "0"] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}
