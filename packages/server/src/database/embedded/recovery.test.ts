import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { rename, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DataDirectoryInUse } from "./embedded.adapter.ts";
import { locateFolders } from "./folders.adapter.ts";
import { Harness, killGroup, postmasterPid, query } from "./harness.fixture.ts";
import { processesIn, until } from "./leftovers.fixture.ts";
import { Supervisor } from "./supervisor.adapter.ts";

let harness: Harness;
let dataDir: string;
let pgdata: string;

beforeEach(async () => {
  harness = new Harness();
  dataDir = join(await harness.folder(), "data");
  pgdata = join(dataDir, "postgres");
});

afterEach(() => harness.clean());

describe("a database that dies", () => {
  test("[DB6] a killed database is restarted on the same address with its committed rows and its lock", async () => {
    const db = await harness.start(dataDir);
    await query(db.connection, "create table t as select 'kept' as word");
    const killed = await postmasterPid(pgdata);
    process.kill(killed, "SIGKILL");
    expect(await until(() => query(db.connection, "select word from t"))).toEqual(["kept"]);
    await until(() => harness.logged.includes("the database is back"));
    expect(await postmasterPid(pgdata)).not.toBe(killed);
    expect((await harness.spawnServer(dataDir).report).refused).toBe("DataDirectoryInUse");
    await db.stop();
    expect(processesIn(pgdata)).toEqual([]);
  });

  test("[DB6] a killed database is restarted although a backend is busy and does not notice", async () => {
    const db = await harness.start(dataDir);
    const busy = query(db.connection, "select count(*) from generate_series(1, 1e10::bigint)").catch(() => "ended");
    await until(
      async () => (await query(db.connection, "select 1 from pg_stat_activity where query ~ '^select count'")).length,
    );
    process.kill(await postmasterPid(pgdata), "SIGKILL");
    await until(() => harness.logged.includes("the database is back"));
    expect(await busy).toBe("ended");
    expect(await query(db.connection, "select 1")).toEqual([1]);
  });

  test("[DB7] a database that was taken over is restarted too when it dies", async () => {
    const { child, report } = harness.spawnServer(dataDir);
    await report;
    await killGroup(child);
    const db = await harness.start(dataDir);
    await query(db.connection, "create table t as select 'kept' as word");
    process.kill(await postmasterPid(pgdata), "SIGKILL");
    await until(() => harness.logged.includes("the database is back"));
    expect(await query(db.connection, "select word from t")).toEqual(["kept"]);
  });

  test("[DB6] the server takes its lock again when only the session of the lock is ended", async () => {
    const db = await harness.start(dataDir);
    const pid = await postmasterPid(pgdata);
    await query(
      db.connection,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'binnacle owner'",
    );
    await until(() => harness.logged.includes("the database is back"));
    expect(await postmasterPid(pgdata)).toBe(pid);
    await expect(harness.start(dataDir)).rejects.toThrow(DataDirectoryInUse);
  });

  test.each(["at once", "after the loss is noticed"])(
    "[DB8] a stop during a restart of the database leaves no process (%s)",
    async (when) => {
      const db = await harness.start(dataDir);
      process.kill(await postmasterPid(pgdata), "SIGKILL");
      if (when !== "at once") await until(() => harness.logged.some((message) => message.includes("unexpectedly")));
      await db.stop();
      expect(processesIn(pgdata)).toEqual([]);
      expect((await harness.start(dataDir)).tookOver).toBe(false);
    },
  );

  test("[DB19] a database that cannot be restarted is reported, and never replaced by an empty one", async () => {
    const lost = Promise.withResolvers<Error>();
    const supervisor = new Supervisor(await locateFolders(dataDir), () => undefined, lost.resolve, 2_000);
    await supervisor.start();
    const pid = await postmasterPid(pgdata);
    await rename(pgdata, `${pgdata}-moved`);
    process.kill(pid, "SIGKILL");
    expect((await lost.promise).message).toContain(pgdata);
    expect(existsSync(pgdata)).toBe(false);
    await supervisor.stop();
    expect(processesIn(`${pgdata}-moved`)).toEqual([]);
  });
});

describe("traces of a killed database", () => {
  test.each([
    ["some other living process", "echo $$; exec sleep 60"],
    // A child that its parent never collects, as below a server that is the first process of a container. It ends when its
    // input does, so that the shell, which would collect it, is gone by then.
    ["a process that has ended but is still listed", "cat <&3 & echo $!; exec sleep 60"],
  ])("[DB10] a lock file with the number of %s does not stop a start of the database", async (_, script) => {
    await (await harness.start(dataDir)).stop();
    const { uid, gid } = await stat(pgdata);
    // The same user as the database, because PostgreSQL already disregards processes of other users.
    const other = spawn("sh", ["-c", script], { uid, gid, stdio: ["ignore", "pipe", "ignore", "pipe"] });
    const exited = once(other, "exit");
    try {
      const pid = Number(String((await once(other.stdio[1] as Readable, "data"))[0]));
      await until(() => readFileSync(`/proc/${other.pid}/cmdline`, "utf8").startsWith("sleep"));
      (other.stdio[3] as Writable).end();
      await until(() => /^sleep|^$/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8")));
      const lock = `${pid}\n${pgdata}\n1790000000\n5432\n${pgdata}\n\n  1048577   3\nready   \n`;
      await writeFile(join(pgdata, "postmaster.pid"), lock);
      await writeFile(join(pgdata, ".s.PGSQL.5432.lock"), lock);
      const db = await harness.start(dataDir);
      expect(db.tookOver).toBe(false);
      expect(await query(db.connection, "select 1")).toEqual([1]);
      expect(other.exitCode).toBe(null);
    } finally {
      other.kill("SIGKILL");
      await exited;
    }
  });

  test("[DB10] an empty lock file left by a power failure does not stop a start of the database", async () => {
    await (await harness.start(dataDir)).stop();
    const lock = join(pgdata, "postmaster.pid");
    await writeFile(lock, "");
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);
    const db = await harness.start(dataDir);
    expect(await query(db.connection, "select 1")).toEqual([1]);
  });
});
