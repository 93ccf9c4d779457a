import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { installedPackage, prepareBinaries } from "./binaries.adapter.ts";
import { DatabaseRefused, DataDirectoryInUse } from "./embedded.adapter.ts";
import { Harness, killGroup, postmasterPid, query } from "./harness.fixture.ts";
import { processesIn, until } from "./leftovers.fixture.ts";

let harness: Harness;
let dataDir: string;
let pgdata: string;

beforeEach(async () => {
  harness = new Harness();
  dataDir = join(await harness.folder(), "data");
  pgdata = join(dataDir, "postgres");
});

afterEach(() => harness.clean());

describe("starting and stopping", () => {
  test("[DB1] the first start of the server makes a durable database that answers on a private socket only", async () => {
    const db = await harness.start(dataDir);
    expect(db.tookOver).toBe(false);
    const settings = "listen_addresses fsync synchronous_commit server_encoding max_connections".split(" ");
    const values = await Promise.all(settings.map((name) => query(db.connection, `show ${name}`)));
    expect(values.flat()).toEqual(["", "on", "on", "UTF8", "100"]);
    expect((await stat(db.connection.host)).mode & 0o777).toBe(0o700);
    expect((await stat(pgdata)).mode & 0o777).toBe(0o700);
  });

  test("[DB2] the next start of the server keeps every row of its database", async () => {
    const first = await harness.start(dataDir);
    await query(first.connection, "create table t as select 'kept' as word");
    await first.stop();
    const second = await harness.start(dataDir);
    expect(second.tookOver).toBe(false);
    expect(await query(second.connection, "select word from t")).toEqual(["kept"]);
  });

  test("[DB8] a stop leaves no process of the database, also with connections open, and may be asked for twice", async () => {
    const db = await harness.start(dataDir);
    const sleeper = query(db.connection, "select pg_sleep(60)").catch((error) => error.code);
    await until(
      async () =>
        (await query(db.connection, "select 1 from pg_stat_activity where query ~ '^select pg_sleep'")).length,
    );
    await Promise.all([db.stop(), db.stop()]);
    expect(processesIn(pgdata)).toEqual([]);
    expect(await sleeper).toBe("57P01");
  });

  test("[DB9] a first start that is killed halfway does not make the data folder unusable", async () => {
    const { child } = harness.spawnServer(dataDir);
    // A copy of the database program may be unfinished there too, where the checkout is closed to the database user.
    const begun = await until(async () => (await readdir(dataDir)).find((name) => /^postgres\.unfinished-/.test(name)));
    await until(() => existsSync(join(dataDir, begun, "data", "PG_VERSION")));
    await killGroup(child);
    expect(existsSync(pgdata)).toBe(false);

    const db = await harness.start(dataDir);
    expect(await query(db.connection, "select 1")).toEqual([1]);
    expect((await readdir(dataDir)).filter((name) => name.includes(".unfinished-"))).toEqual([]);
  });

  test("[DB14] a data folder with a long path gets a short socket folder of its own", async () => {
    const deep = join(await harness.folder(), "long".repeat(30));
    const db = await harness.start(join(deep, "data"));
    expect(dirname(db.connection.host)).toBe(tmpdir());
    expect((await stat(db.connection.host)).mode & 0o777).toBe(0o700);
    expect(await query(db.connection, "select 1")).toEqual([1]);
    await db.stop();
    expect(processesIn(join(deep, "data", "postgres"))).toEqual([]);
    await rm(db.connection.host, { recursive: true });
  });

  test("[DB15] a database that cannot start says why at once", async () => {
    await (await harness.start(dataDir)).stop();
    await writeFile(join(pgdata, "postgresql.conf"), "nonsense\n");
    const startedAt = Date.now();
    await expect(harness.start(dataDir)).rejects.toThrow("postgresql.conf");
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  test("[DB601] a database of another major version of PostgreSQL is left as it is", async () => {
    const first = await harness.start(dataDir);
    await query(first.connection, "create table t as select 'kept' as word");
    await first.stop();
    const version = join(pgdata, "PG_VERSION");
    const own = await readFile(version, "utf8");
    await writeFile(version, "17\n");
    const log = await readFile(join(dataDir, "postgres.log"), "utf8");
    await expect(harness.start(dataDir)).rejects.toThrow(DatabaseRefused);
    expect(await readFile(join(dataDir, "postgres.log"), "utf8")).toBe(log);
    expect(processesIn(pgdata)).toEqual([]);
    await writeFile(version, own);
    expect(await query((await harness.start(dataDir)).connection, "select word from t")).toEqual(["kept"]);
  });

  test("[DB17] the log of the database stays bounded and holds neither statements nor row values", async () => {
    const first = await harness.start(dataDir);
    await query(first.connection, "create table t (word text primary key check (word <> 'hidden-check'))");
    await query(first.connection, "insert into t values ('hidden-key')");
    await expect(query(first.connection, "insert into t values ('hidden-key')")).rejects.toThrow();
    await expect(query(first.connection, "insert into t values ('hidden-check')")).rejects.toThrow();
    await first.stop();
    const log = join(dataDir, "postgres.log");
    expect(await readFile(log, "utf8")).toContain("duplicate key");
    expect(await readFile(log, "utf8")).not.toContain("hidden");
    await truncate(log, 11 * 1024 * 1024);
    await harness.start(dataDir);
    expect((await stat(log)).size).toBeLessThan(100_000);
  });
});

describe("two servers and one folder", () => {
  test("[DB3] a second server on the data folder of a running one is refused with a sentence that names the folder", async () => {
    const db = await harness.start(dataDir);
    const { report } = harness.spawnServer(dataDir);
    expect(await report).toEqual({ refused: "DataDirectoryInUse", message: expect.stringContaining(dataDir) });
    await expect(harness.start(dataDir)).rejects.toThrow(DataDirectoryInUse);
    expect(await query(db.connection, "select 1")).toEqual([1]);
  });

  test("[DB4] of two servers that start on one data folder at the same instant exactly one wins", async () => {
    const reports = await Promise.all([1, 2].map(() => harness.spawnServer(dataDir).report));
    expect(reports.map(({ refused }) => refused ?? "won").sort()).toEqual(["DataDirectoryInUse", "won"]);
    const winner = reports.find(({ connection }) => connection)?.connection;
    expect(winner && (await query(winner, "select 1"))).toEqual([1]);
  });

  test("[DB5] the database of a killed server is taken over with its rows", async () => {
    const { child, report } = harness.spawnServer(dataDir);
    const { connection } = await report;
    if (!connection) throw new Error("the first server was refused");
    await query(connection, "create table t as select 'kept' as word");
    const orphan = await postmasterPid(pgdata);
    await killGroup(child);

    const db = await harness.start(dataDir);
    expect(db.tookOver).toBe(true);
    expect(await postmasterPid(pgdata)).toBe(orphan);
    expect(await query(db.connection, "select word from t")).toEqual(["kept"]);
    await db.stop();
    expect(processesIn(pgdata)).toEqual([]);
  });

  test("[DB18] a copy of a running data folder becomes a database of its own", async () => {
    const original = await harness.start(dataDir);
    await query(original.connection, "create table t as select 'original' as word");
    await query(original.connection, "checkpoint");
    const copyDir = join(dataDir, "..", "copy");
    await mkdir(copyDir);
    const filter = async (path: string) => !(await lstat(path)).isSocket();
    await cp(pgdata, join(copyDir, "postgres"), { recursive: true, preserveTimestamps: true, filter });

    const copy = await harness.start(copyDir);
    expect(copy.tookOver).toBe(false);
    await query(copy.connection, "update t set word = 'copy'");
    expect(await query(original.connection, "select word from t")).toEqual(["original"]);
  });
});

describe("a database and its data folder", () => {
  async function wordIn(folder: string): Promise<unknown> {
    const db = await harness.start(folder);
    const tables = await query(db.connection, "select count(*)::int from pg_tables where tablename = 't'");
    const word = tables[0] === 1 ? (await query(db.connection, "select word from t"))[0] : undefined;
    await db.stop();
    return word;
  }

  async function databaseWith(word: string): Promise<void> {
    const db = await harness.start(dataDir);
    await query(db.connection, `create table t as select '${word}' as word`);
    await db.stop();
  }

  test("[DB20] a database is moved with its data folder, and one at the old place begins empty", async () => {
    await databaseWith("moved");
    const moved = join(dataDir, "..", "moved");
    await rename(dataDir, moved);
    expect(await wordIn(dataDir)).toBeUndefined();
    expect(await wordIn(moved)).toBe("moved");
  });

  test("[DB21] a data folder that was removed and made again begins with an empty database", async () => {
    await databaseWith("old");
    await rm(dataDir, { recursive: true });
    expect(await wordIn(dataDir)).toBeUndefined();
  });

  test("[DB13] the database that a link in the data folder leads to is used, and a link to nothing is refused", async () => {
    await databaseWith("elsewhere");
    const elsewhere = join(dataDir, "..", "elsewhere");
    await rename(pgdata, elsewhere);
    await symlink(elsewhere, pgdata);
    expect(await wordIn(dataDir)).toBe("elsewhere");
    await rm(elsewhere, { recursive: true });
    await expect(harness.start(dataDir)).rejects.toThrow(
      `points at the database folder ${elsewhere}, which is missing`,
    );
  });
});

describe.runIf(process.getuid?.() === 0)("a server that runs as root", () => {
  const NOBODY = { uid: 65534, gid: 65534 };
  const uidOf = async (path: string) => (await stat(path)).uid;

  test("[DB11] a server that runs as root runs its database as a user without a name, and only root may connect", async () => {
    const db = await harness.start(dataDir);
    const uid = await uidOf(`/proc/${await postmasterPid(pgdata)}`);
    expect(await readFile("/etc/passwd", "utf8")).not.toContain(`:${uid}:`);
    expect(await Promise.all([pgdata, join(pgdata, "base"), join(pgdata, "PG_VERSION")].map(uidOf))).toEqual([
      uid,
      uid,
      uid,
    ]);
    for (const folder of [pgdata, db.connection.host]) expect(spawnSync("ls", [folder], NOBODY).status).not.toBe(0);
    const rules = await query(db.connection, "select auth_method, options from pg_hba_file_rules");
    expect(rules).toEqual(["peer", ["map=server"]]);
    expect(await query(db.connection, "select sys_name, pg_username from pg_ident_file_mappings")).toEqual([
      "root",
      "binnacle",
    ]);
  });

  /** As earlier versions left it: everything belongs to `nobody`. */
  async function former(): Promise<void> {
    const db = await harness.start(dataDir);
    await query(db.connection, "create table t as select 'kept' as word");
    await db.stop();
    spawnSync("chown", ["-R", "65534:65534", pgdata]);
  }

  test("[DB48] a server that runs as root takes over a folder of a database that ran as nobody, with every row", async () => {
    await former();
    const db = await harness.start(dataDir);
    expect(await query(db.connection, "select word from t")).toEqual(["kept"]);
    const owners = await Promise.all([pgdata, join(pgdata, "base"), db.connection.host].map(uidOf));
    expect(owners).not.toContain(NOBODY.uid);
  });

  test("[DB48] a server that runs as root restarts a database that still runs as nobody, with every row", async () => {
    await former();
    await chmod(join(dataDir, ".."), 0o755);
    const { postgres } = await prepareBinaries(installedPackage(), [dataDir], NOBODY);
    const socketDir = join(dataDir, "postgres-socket");
    await mkdir(socketDir);
    await chown(socketDir, NOBODY.uid, NOBODY.gid);
    const args = ["-D", pgdata, "-c", "listen_addresses=", "-c", `unix_socket_directories=${socketDir}`];
    const running = spawn(postgres, args, { ...NOBODY, cwd: "/", stdio: "ignore" });
    onTestFinished(() => void running.kill("SIGQUIT"));
    await until(() => existsSync(join(socketDir, ".s.PGSQL.5432")));
    const db = await harness.start(dataDir);
    expect(db.tookOver).toBe(false);
    expect(await query(db.connection, "select word from t")).toEqual(["kept"]);
    expect(await uidOf(`/proc/${await postmasterPid(pgdata)}`)).not.toBe(NOBODY.uid);
  });

  test("[DB12] a server that runs as root keeps its database in a data folder that the database user cannot enter", async () => {
    await mkdir(dataDir, { mode: 0o700 });
    const first = await harness.start(dataDir);
    await query(first.connection, "create table t as select 'kept' as word");
    expect(spawnSync("ls", [dataDir], { uid: await uidOf(pgdata) }).status).not.toBe(0);
    await first.stop();
    for (const folder of [dataDir, join(dataDir, "..")]) await chmod(folder, 0o755);
    const second = await harness.start(dataDir);
    expect(await query(second.connection, "select word from t")).toEqual(["kept"]);
  });

  test("[DB11] links that the database has put in the place of files in its folder are not followed by root", async () => {
    const db = await harness.start(dataDir);
    await db.stop();
    const victim = join(dataDir, "victim");
    await writeFile(victim, "1\nkept");
    for (const name of ["binnacle.hba.conf", "binnacle.ident.conf", "postmaster.pid"]) {
      await rm(join(pgdata, name), { force: true });
      await symlink(victim, join(pgdata, name));
    }
    await expect(harness.start(dataDir)).rejects.toThrow("ELOOP");
    await rm(join(pgdata, "postmaster.pid"));
    expect(await query((await harness.start(dataDir)).connection, "select 1")).toEqual([1]);
    expect(await readFile(victim, "utf8")).toBe("1\nkept");
  });
});
