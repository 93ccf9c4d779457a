import { existsSync, statSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readlink, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { DataDirectoryInUse } from "./embedded.adapter.ts";
import { Harness, killGroup, postmasterPid, query } from "./harness.fixture.ts";
import { processesIn } from "./leftovers.fixture.ts";
import { removeOrphans } from "./orphans.adapter.ts";
import { isHomeName } from "./placement.ts";

const REMOVED = "the data folder of a database is gone, so the database was removed";
const MISSING = "the data folder of a database is missing; remove the database too unless that folder was moved";

/** A file system other than that of the system folder, as an unmounted disk would be. */
const OTHER_FILE_SYSTEM = "/dev/shm";

// Most of these make databases, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let systemFolder: string;
let harness: Harness;
/** Only root can enter it. */
let closed: string;
let dataDir: string;

beforeAll(async () => {
  systemFolder = await mkdtemp(join(tmpdir(), "binnacle-system-"));
  await chmod(systemFolder, 0o711);
});
afterAll(() => rm(systemFolder, { recursive: true, force: true }));

beforeEach(async () => {
  harness = new Harness(systemFolder);
  closed = await harness.folder(0o700);
  dataDir = join(closed, "data");
});
afterEach(() => harness.clean());

/** The part of a start on any other data folder that concerns this one. */
const startElsewhere = () => removeOrphans(systemFolder, harness.log);

async function homes(): Promise<string[]> {
  return (await readdir(systemFolder)).filter(isHomeName).map((name) => join(systemFolder, name));
}

async function databaseWith(word: string, folder = dataDir): Promise<string> {
  const db = await harness.start(folder);
  await query(db.connection, `create table t as select '${word}' as word`);
  await db.stop();
  return join(await readlink(join(folder, "postgres")), "..");
}

async function wordIn(folder: string): Promise<unknown> {
  const db = await harness.start(folder);
  const tables = await query(db.connection, "select count(*)::int from pg_tables where tablename = 't'");
  const word = tables[0] === 1 ? (await query(db.connection, "select word from t"))[0] : undefined;
  await db.stop();
  return word;
}

describe.runIf(process.getuid?.() === 0)("databases on system ground", () => {
  test("[DB20] a data folder that is gone takes its database with it at the next start, and a line says so", async () => {
    const home = await databaseWith("left");
    await rm(closed, { recursive: true });
    await harness.start(join(await harness.folder(), "data"));
    expect(await homes()).toEqual([]);
    expect(harness.fields.get(REMOVED)).toEqual({ folder: home, dataDir });
  });

  test("[DB20] the database of a data folder that was moved is kept, and goes with the folder at its new place", async () => {
    const home = await databaseWith("kept");
    const moved = join(closed, "moved");
    await rename(dataDir, moved);
    await startElsewhere();
    expect(existsSync(home)).toBe(true);
    await rm(join(moved, "postgres"));
    expect(await wordIn(moved)).toBe("kept");
    expect(harness.logged).not.toContain(REMOVED);

    await rm(moved, { recursive: true });
    await startElsewhere();
    expect(await homes()).toEqual([]);
    expect(harness.fields.get(REMOVED)).toEqual({ folder: home, dataDir: moved });
  });

  test("[DB20] a database in use by a living server is kept, also when its data folder was removed under it", async () => {
    const db = await harness.start(dataDir);
    const [home = ""] = await homes();
    await rm(closed, { recursive: true });
    await startElsewhere();
    expect(await query(db.connection, "select 1")).toEqual([1]);
    await db.stop();
    expect(existsSync(home)).toBe(true);
    await startElsewhere();
    expect(existsSync(home)).toBe(false);
  });

  test("[DB20] a database that a killed server left running is ended when its data folder is gone", async () => {
    const { child, report } = harness.spawnServer(dataDir);
    await report;
    const [home = ""] = await homes();
    const pgdata = join(home, "postgres");
    expect(await postmasterPid(pgdata)).toBeGreaterThan(0);
    await killGroup(child);
    await rm(closed, { recursive: true });
    await startElsewhere();
    expect(processesIn(pgdata)).toEqual([]);
    expect(existsSync(home)).toBe(false);
  });

  test("[DB21] a data folder that was removed and made again begins with an empty database, and a line says so", async () => {
    const home = await databaseWith("old");
    await rm(dataDir, { recursive: true });
    await mkdir(dataDir);
    expect(await wordIn(dataDir)).toBeUndefined();
    expect(harness.fields.get(REMOVED)).toEqual({ folder: home, dataDir });
    expect(await homes()).toEqual([home]);
  });

  test("[DB21] a data folder made again is refused while a server still uses the database of the first one", async () => {
    const db = await harness.start(dataDir);
    await query(db.connection, "create table t as select 'kept' as word");
    await rm(dataDir, { recursive: true });
    await mkdir(dataDir);
    await expect(harness.start(dataDir)).rejects.toThrow(DataDirectoryInUse);
    expect(await query(db.connection, "select word from t")).toEqual(["kept"]);
  });

  test("[DB21] a new data folder where another was moved away has a database of its own", async () => {
    await databaseWith("moved");
    await rename(dataDir, join(closed, "moved"));
    await databaseWith("new");
    expect(await wordIn(join(closed, "moved"))).toBe("moved");
    expect(await wordIn(dataDir)).toBe("new");
  });

  test("[DB13] a data folder that has lost its link, or everything, finds its database again", async () => {
    await databaseWith("kept");
    await rm(join(dataDir, "postgres"));
    expect(await wordIn(dataDir)).toBe("kept");
    for (const name of await readdir(dataDir)) await rm(join(dataDir, name), { recursive: true });
    expect(await wordIn(dataDir)).toBe("kept");
  });

  test("[DB20] a database that a copy of its data folder has used outlives both of them, and a line says what to do", async () => {
    const home = await databaseWith("kept");
    const copy = join(closed, "copy");
    await cp(dataDir, copy, { recursive: true, verbatimSymlinks: true });
    expect(await wordIn(copy)).toBe("kept");
    await rm(copy, { recursive: true });
    await startElsewhere();
    expect(await wordIn(dataDir)).toBe("kept");
    await rm(dataDir, { recursive: true });
    await startElsewhere();
    expect(harness.fields.get(MISSING)).toEqual({ folder: home, dataDir });
    expect(harness.logged).not.toContain(REMOVED);
    await rm(home, { recursive: true });
  });

  test.runIf(isOther(OTHER_FILE_SYSTEM))(
    "[DB20] a database whose data folder may be on an unmounted disk is kept, and a line says what to do",
    async () => {
      const disk = await mkdtemp(join(OTHER_FILE_SYSTEM, "binnacle-db-"));
      try {
        const home = await databaseWith("kept", join(disk, "data"));
        await rename(join(disk, "data"), join(disk, "unmounted"));
        await startElsewhere();
        expect(harness.fields.get(MISSING)).toEqual({ folder: home, dataDir: join(disk, "data") });
        expect(harness.logged).not.toContain(REMOVED);
        await rename(join(disk, "unmounted"), join(disk, "data"));
        expect(await wordIn(join(disk, "data"))).toBe("kept");
        await rm(home, { recursive: true });
      } finally {
        await rm(disk, { recursive: true });
      }
    },
  );

  test("[DB12] the folders of the system folder can be passed by the database user under any umask", async () => {
    const before = process.umask(0o077);
    try {
      const home = await databaseWith("made");
      expect((await stat(home)).mode & 0o777).toBe(0o711);
    } finally {
      process.umask(before);
    }
  });
});

function isOther(path: string): boolean {
  try {
    return statSync(path).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
}
