import { type FreshDatabase, freshDatabase, restoredDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { appliedMigrations, MIGRATIONS, MigrationFailed, migrate } from "./migrate.ts";
import { type DeclaredMigration, type OnlineIndex, SchemaRefused } from "./migration.ts";
import { buildIndexes } from "./online-index.store.ts";
import { keepPartitions } from "./partitions.store.ts";
import { AUDIT_LOG } from "./partitions.ts";
import { turnedClock } from "./turned-clock.fixture.ts";

let fresh: FreshDatabase;
beforeEach(async () => {
  fresh = await freshDatabase();
});
afterEach(() => fresh.drop());

const run = async (text: string) => (await fresh.database.pool.query(text)).rows;

/** The locks that somebody waits for. Other databases of the same server have locks of their own. */
const waitingFor = async () =>
  (
    await run(`select locktype from pg_locks join pg_database on pg_database.oid = database
    where not granted and datname = current_database() order by locktype`)
  ).map(({ locktype }) => locktype);

/** A migration of the release after this one. */
const next = (oldestRelease: string, ...steps: string[]) => ({
  migrations: {
    ...MIGRATIONS,
    "9000_next": { oldestRelease, locks: {}, steps: steps.map((step) => sql.raw(step)) } satisfies DeclaredMigration,
  },
  release: "0.2.0",
});
const LABELS = "alter table apps add column labels jsonb";

test("[UG1] a server of the former release starts on the database of the next one, and leaves its schema as it is", async () => {
  const { kysely } = fresh.database;
  expect(await migrate(kysely, next("0.1.0", LABELS))).toEqual(["9000_next"]);
  expect(await migrate(kysely, { release: "0.1.0" })).toEqual([]);
  expect(await run("select labels from apps")).toEqual([]);
});

test("[UG1] a server of the former release that waits while the next one migrates starts afterwards", async () => {
  const { kysely } = fresh.database;
  const holder = await fresh.database.pool.connect();
  await holder.query("begin; lock table apps in access share mode");
  const blocked = vi.fn<(error: unknown) => void>();
  const migrating = migrate(kysely, { ...next("0.1.0", LABELS), lockTimeoutMs: 600_000, onBlocked: blocked });
  await vi.waitFor(async () => expect(await waitingFor()).toEqual(["relation"]));
  const starting = migrate(kysely, { release: "0.1.0" });
  await vi.waitFor(async () => expect(await waitingFor()).toEqual(["advisory", "relation"]));
  await holder.query("commit");
  holder.release();
  expect([await migrating, await starting]).toEqual([["9000_next"], []]);
  expect(blocked).not.toHaveBeenCalled();
});

test("[UG2] a server of a release that a migration does not allow is refused, and changes nothing", async () => {
  const { kysely } = fresh.database;
  await migrate(kysely, next("0.2.0", LABELS));
  const before = await appliedMigrations(kysely);
  const mine = { ...MIGRATIONS, "9001_mine": next("0.1.0", "create table mine ()").migrations["9000_next"] };
  await expect(migrate(kysely, { release: "0.1.0", migrations: mine })).rejects.toThrow(SchemaRefused);
  expect(await appliedMigrations(kysely)).toEqual(before);
  expect(await run("select to_regclass('mine') as mine")).toEqual([{ mine: null }]);
});

test("[UG3] a migration is recorded with the oldest release that works and the one that applied it, or neither is there", async () => {
  const { kysely } = fresh.database;
  const failing = migrate(kysely, next("0.1.0", LABELS, "select 1 / 0"));
  await expect(failing).rejects.toThrow(MigrationFailed);
  const recorded = "select oldest_release, applied_by from kysely_migration where name = '9000_next'";
  expect(await run(recorded)).toEqual([]);
  await migrate(kysely, next("0.1.0", LABELS));
  expect(await run(recorded)).toEqual([{ oldest_release: "0.1.0", applied_by: "0.2.0" }]);
});

test("[UG3] an empty database is migrated with the records of all migrations that declare something", async () => {
  const empty = await restoredDatabase("select 1");
  try {
    expect(await migrate(empty.database.kysely)).toEqual(Object.keys(MIGRATIONS).sort());
    const applied = await appliedMigrations(empty.database.kysely);
    expect(applied.find(({ name }) => name === "0038_migration_records")).toMatchObject({ oldest_release: "0.1.0" });
  } finally {
    await empty.drop();
  }
});

test("[UG5] a migration gives way to who uses its table, lets those behind it through, and is applied when the table is free", async () => {
  const { kysely, pool } = fresh.database;
  const holder = await pool.connect();
  await holder.query("begin; lock table apps in access share mode");
  const again = Promise.withResolvers<void>();
  const blocked = vi.fn(() => blocked.mock.calls.length > 1 && again.resolve());
  const steps = ["create table first ()", LABELS];
  const applied = migrate(kysely, { ...next("0.1.0", ...steps), lockTimeoutMs: 50, onBlocked: blocked });
  // Without giving way, this read would wait behind the migration for as long as the table is in use.
  await vi.waitFor(async () => expect(await waitingFor()).toEqual(["relation"]), { interval: 5 });
  expect(await run("select id from apps")).toEqual([]);
  await again.promise;
  expect(await run("select to_regclass('first') as first")).toEqual([{ first: null }]);
  await holder.query("commit");
  holder.release();
  expect(await applied).toEqual(["9000_next"]);
});

test("[UG601] the second in which a migration waits is one for all of its tables, which are locked before its first step", async () => {
  const { kysely, pool } = fresh.database;
  const holder = await pool.connect();
  await holder.query("begin; lock table projects in access share mode");
  const steps = ["create table waited as select current_setting('lock_timeout') as left_over", LABELS];
  const { migrations, release } = next("0.1.0", ...steps);
  const locks = { apps: "ACCESS EXCLUSIVE", projects: "ACCESS EXCLUSIVE" } as const;
  const declared = { ...migrations, "9000_next": { ...migrations["9000_next"], locks } };
  const applied = migrate(kysely, { migrations: declared, release, lockTimeoutMs: 60_000 });
  await vi.waitFor(async () => expect(await waitingFor()).toEqual(["relation"]), { interval: 5 });
  const held = "select from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = 'apps'::regclass";
  expect(await run(held)).toHaveLength(1);
  await holder.query("commit");
  holder.release();
  expect(await applied).toEqual(["9000_next"]);
  const [{ left_over } = { left_over: "" }] = (await run("select left_over from waited")) as { left_over: string }[];
  expect(left_over).toMatch(/^\d+ms$/);
  expect(Number.parseInt(left_over, 10)).toBeLessThan(60_000);
});

const SLOW_TO_BUILD = { name: "apps_by_description", definition: sql.raw("apps (description)") };
const withIndex = (index: OnlineIndex) => ({
  "9000_next": { oldestRelease: "0.1.0", locks: {}, steps: [], indexes: [index] },
});
const indexesNamed = (name: string) =>
  run(`select indisvalid as is_valid from pg_index where indexrelid = to_regclass('${name}')`);

test("[DB32] the indexes of a migration are built after it, and once", async () => {
  const { kysely } = fresh.database;
  expect(await buildIndexes(kysely, withIndex(SLOW_TO_BUILD))).toEqual(["apps_by_description"]);
  expect(await indexesNamed("apps_by_description")).toEqual([{ is_valid: true }]);
  expect(await buildIndexes(kysely, withIndex(SLOW_TO_BUILD))).toEqual([]);
});

test("[DB32] an index that was not finished is built anew", async () => {
  await run("create index apps_by_description on apps (description)");
  await run("update pg_index set indisvalid = false where indexrelid = 'apps_by_description'::regclass");
  expect(await buildIndexes(fresh.database.kysely, withIndex(SLOW_TO_BUILD))).toEqual(["apps_by_description"]);
  expect(await indexesNamed("apps_by_description")).toEqual([{ is_valid: true }]);
});

test("[DB32] an index that needs an extension is left out where the database does not have it", async () => {
  const index = { ...SLOW_TO_BUILD, extension: "not_installed" };
  expect(await buildIndexes(fresh.database.kysely, withIndex(index))).toEqual([]);
  expect(await indexesNamed("apps_by_description")).toEqual([]);
});

test("[DB5405] an index of a table with partitions is built on each of them, and on those that come later", async () => {
  const { kysely } = fresh.database;
  const index = {
    name: "audit_log_by_request",
    definition: sql.raw("audit_log (request_id) where request_id is not null"),
  };
  const turn = await turnedClock(fresh.url, new Date());
  await keepPartitions(kysely, AUDIT_LOG, null);
  expect(await buildIndexes(kysely, withIndex(index))).toEqual(["audit_log_by_request"]);
  expect(await indexesNamed("audit_log_by_request")).toEqual([{ is_valid: true }]);
  await turn(new Date(Date.now() + 300 * 86_400_000));
  await keepPartitions(kysely, AUDIT_LOG, null);
  const without = `select from pg_inherits p where inhparent = 'audit_log'::regclass and not exists (
    select from pg_inherits i join pg_index on indexrelid = i.inhrelid
    where i.inhparent = 'audit_log_by_request'::regclass and indrelid = p.inhrelid and indisvalid)`;
  expect(await run(without)).toEqual([]);
  expect(await buildIndexes(kysely, withIndex(index))).toEqual([]);
});
