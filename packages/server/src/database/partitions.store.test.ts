import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { v7 } from "uuid";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { keepAuditLog } from "../audit/audit.store.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { withClient } from "./command.adapter.ts";
import { keepPartitions } from "./partitions.store.ts";
import { AUDIT_LOG, METRIC_SAMPLES, type PartitionedTable } from "./partitions.ts";
import { totalRows } from "./row-count.store.ts";
import { untilStopped } from "./stopped-statement.store.ts";
import { turnedClock } from "./turned-clock.fixture.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = DAY_MS / 24;
const NOW = new Date("2026-11-19T14:20:00Z");
const inDays = (days: number, from = NOW) => new Date(from.getTime() + days * DAY_MS);
/** The first day of the month that is so many months away. */
const month = (count: number) => new Date(Date.UTC(NOW.getUTCFullYear(), NOW.getUTCMonth() + count, 1));
const labelOf = (time: Date) => time.toISOString().slice(0, 7).replace("-", "_");

let fresh: FreshDatabase;
/** Sets the clock of the database. */
let turn: (at: Date) => Promise<void>;
const ORG = newId();
beforeEach(async () => {
  fresh = await freshDatabase();
  turn = await turnedClock(fresh.url, NOW);
});
afterEach(() => fresh.drop());

const run = async (text: string, ...values: unknown[]) => (await fresh.database.pool.query(text, values)).rows;
const round = (table: PartitionedTable, days: number | null) =>
  keepPartitions(fresh.database.kysely, table, days === null ? null : days * DAY_MS);
async function keepAt(table: PartitionedTable, now: Date, days: number | null): Promise<void> {
  await turn(now);
  await round(table, days);
}
const keep = (now = NOW, days: number | null = 30) => keepAt(AUDIT_LOG, now, days);
const keepSamples = (now: Date, days: number | null = 1) => keepAt(METRIC_SAMPLES, now, days);

async function enter(...times: Date[]): Promise<void> {
  await run(
    `insert into audit_log (id, at, org_id, via, action, resource_type, changes)
     select id, at, $1, 'user', 'org.update', 'org', '{}' from unnest($2::uuid[], $3::timestamptz[]) entry (id, at)`,
    ...[ORG, times.map((at) => v7({ msecs: at.getTime() })), times],
  );
}
/** How many entries each partition has that has some. */
const entries = async () => {
  const rows = await run("select tableoid::regclass::text as name, count(*)::int from audit_log group by 1");
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
};
const partitions = async () => {
  const rows = await run(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_log'::regclass",
  );
  return rows.map(({ name }) => name as string).sort();
};
const total = () => totalRows(fresh.database.kysely, "audit_log", ORG);

test("[DB5402] the rows from before there were partitions become one, stay where they are, and the next months have their own", async () => {
  await enter(inDays(-300), inDays(-1), NOW);
  // Ids of a process whose clock was ahead by years.
  await enter(inDays(2_000), inDays(2_000));
  expect(await entries()).toEqual({ audit_log_default: 5 });
  const [before] = await run("select pg_relation_filenode('audit_log_default') as file");
  await keep();
  const [first] = (await partitions()).filter((name) => name.includes("before"));
  expect(await entries()).toEqual({ [first ?? ""]: 3, audit_log_default: 2 });
  expect(await run(`select pg_relation_filenode('${first}') as file`)).toEqual([before]);
  expect(await total()).toBe(5);
  await enter(month(3), month(4));
  expect(await entries()).toMatchObject({
    [`audit_log_${labelOf(month(3))}`]: 1,
    [`audit_log_${labelOf(month(4))}`]: 1,
  });
  const invalid = await run("select from pg_index where not indisvalid");
  expect(invalid).toEqual([]);
});

test("[DB5402] entries are written while the rows so far become a partition, and one that is in use is left for later", async () => {
  await enter(inDays(-1));
  const reader = await fresh.database.pool.connect();
  await reader.query("begin; select from audit_log");
  await keep();
  await enter(NOW);
  expect(await partitions()).toEqual(["audit_log_default"]);
  await reader.query("commit");
  reader.release();
  await keep();
  expect(await partitions()).toHaveLength(5);
  expect(await total()).toBe(2);
});

test("[DB5408] the rows so far keep their name while a backup runs, because release 0.1.0 copies them by it after it has begun", async () => {
  await enter(inDays(-1));
  const backedUp = withClient({ url: fresh.url }, async (backup) => {
    await backup.query("begin isolation level repeatable read read only");
    await backup.query("select from orgs");
    await keep();
    return (await backup.query("select from audit_log_default")).rows;
  });
  expect(await backedUp).toHaveLength(1);
  expect(await partitions()).toEqual(["audit_log_default"]);
  // PostgreSQL lists the connection for a moment after it was closed.
  await vi.waitFor(async () => {
    await keep();
    expect(await partitions()).toHaveLength(5);
  }, SOON);
  expect(await total()).toBe(1);
});

test("[DB5402] an end that a stopped server has left too near is replaced before it refuses entries", async () => {
  const near = labelOf(month(1));
  await run(
    `alter table audit_log_default add constraint audit_log_before_${near} check (id < '${v7({ msecs: month(1).getTime() })}') not valid`,
  );
  await keep(inDays(-1, month(1)));
  expect(await partitions()).not.toContain(`audit_log_before_${near}`);
  await enter(month(1));
  expect(await total()).toBe(1);
});

/** So many bytes that they are not read under a lock. */
async function enterMuch(): Promise<void> {
  await run("alter table audit_log_default alter changes set storage external");
  await run(
    `insert into audit_log (id, at, org_id, via, action, resource_type, changes)
     select gen_random_uuid(), $1, $2, 'user', 'org.update', 'org', to_jsonb(repeat('x', 5000000)) from generate_series(1, 8)`,
    ...[NOW, ORG],
  );
  await run("update audit_log_default set id = overlay(id::text placing '01900000-0000' from 1 for 13)::uuid");
}
const bounds = () =>
  run("select conname as name, convalidated as proved from pg_constraint where conname like 'audit_log_before%'");

test("[DB5406] the end of many rows so far is two years away, and once proved stays so while the table is in use", async () => {
  await enterMuch();
  const far = "audit_log_before_2028_12";
  await run(`alter table audit_log_default add constraint ${far}
    check (id < '${v7({ msecs: Date.UTC(2028, 11), random: new Uint8Array(16) })}') not valid`);
  const reader = await fresh.database.pool.connect();
  await reader.query("begin; select from audit_log");
  await keep();
  expect(await bounds()).toEqual([{ name: far, proved: true }]);
  await reader.query("commit");
  reader.release();
  await keep();
  expect(await partitions()).toContain(far);
  await enter(NOW, inDays(600));
  expect(await total()).toBe(10);
});

test("[DB5406] a worker that is asked to stop leaves no end that is not proved", async () => {
  await enterMuch();
  await keepPartitions(fresh.database.kysely, AUDIT_LOG, null, AbortSignal.abort());
  expect(await bounds()).toEqual([]);
  expect(await partitions()).toEqual(["audit_log_default"]);
  await keep();
  expect(await partitions()).toContain("audit_log_before_2028_12");
});

test("[DB5406] a statement that takes long is cancelled when its worker is asked to stop", async () => {
  const { kysely } = fresh.database;
  const stopping = new AbortController();
  const stopped = kysely.transaction().execute((tx) =>
    untilStopped(kysely, tx, stopping.signal, async () => {
      const sleeping = sql`select pg_sleep(600)`.execute(tx);
      stopping.abort();
      await sleeping;
    }),
  );
  await expect(stopped).rejects.toThrow(/canceling statement/);
});

test("[DB5401] an entry without a partition of its month goes into the default one, and moves when the month is made", async () => {
  await keep();
  await enter(month(9));
  expect(await entries()).toEqual({ audit_log_default: 1 });
  await keep(month(8), null);
  expect(await entries()).toEqual({ [`audit_log_${labelOf(month(9))}`]: 1 });
  expect(await total()).toBe(1);
});

test("[DB5401] replicas make and drop partitions at the same time without conflicts", async () => {
  await enter(inDays(-1));
  const ofReplicas = () => Promise.all(Array.from({ length: 3 }, () => round(AUDIT_LOG, 30)));
  await ofReplicas();
  await turn(month(20));
  await ofReplicas();
  expect(await entries()).toEqual({});
  expect(await total()).toBe(0);
});

async function keepLog(now: Date, days: number): Promise<void> {
  await turn(now);
  await keepAuditLog(fresh.database.kysely, days);
}

test("[DB5403] [AL4402] a month of the audit log is dropped whole when all of it is older, with its share of the totals", async () => {
  await keep();
  await enter(inDays(-1), month(3), month(3), month(4));
  const lastDay = inDays(30 - 0.001, month(4));
  await keepLog(lastDay, 30);
  // Of the rows so far each is deleted when it is old.
  expect(await entries()).toEqual({ [`audit_log_${labelOf(month(3))}`]: 2, [`audit_log_${labelOf(month(4))}`]: 1 });
  await keepLog(inDays(30, month(4)), 0);
  expect(await total()).toBe(3);
  await keepLog(inDays(30, month(4)), 30);
  expect(await entries()).toEqual({ [`audit_log_${labelOf(month(4))}`]: 1 });
  expect(await total()).toBe(1);
});

test("[DB5407] a month stays while one of its entries is not old, as that of a process whose clock was behind by years", async () => {
  await keep();
  await enter(month(3));
  await run("update audit_log set at = $1", inDays(-1, month(20)));
  await keep(month(20));
  expect(await total()).toBe(1);
  await keep(inDays(29.1, month(20)));
  expect([await total(), await entries()]).toEqual([0, {}]);
});

test("[DB5407] a worker whose clock is years ahead makes and drops no other partitions", async () => {
  await keep();
  await enter(inDays(-1), month(3));
  const [made, entered] = [await partitions(), await entries()];
  vi.useFakeTimers({ toFake: ["Date"], now: inDays(5_000) });
  onTestFinished(() => void vi.useRealTimers());
  await keepAuditLog(fresh.database.kysely, 30);
  await round(AUDIT_LOG, 30);
  expect([await partitions(), await entries(), await total()]).toEqual([made, entered, 2]);
});

test("[DB5403] a partition that is in use is dropped later, and whoever writes meanwhile waits for less than a second", async () => {
  await keep();
  await enter(month(3));
  const reader = await fresh.database.pool.connect();
  await reader.query("begin; select from audit_log");
  const writer = await fresh.database.pool.connect();
  await writer.query("set lock_timeout = '1s'");
  await turn(month(20));
  const dropping = round(AUDIT_LOG, 30);
  for (let count = 0; count < 5; count += 1) await writer.query("select from audit_log");
  await dropping;
  expect(await total()).toBe(1);
  await reader.query("commit");
  reader.release();
  writer.release();
  await keep(month(20));
  expect(await total()).toBe(0);
});

test("[DB5404] what release 0.1.0 deletes of the samples is what is old, though others are at the same place of other partitions", async () => {
  const { kysely } = fresh.database;
  const [{ now }] = (await run("select pg_catalog.now()")) as [{ now: Date }];
  const at = (hours: number) => new Date(now.getTime() + hours * HOUR_MS);
  for (const hours of [-72, -30, 0]) await keepSamples(at(hours), null);
  for (const hours of [-29, 0, 1]) await run("insert into metric_samples values ($1, $2, '{}')", newId(), at(hours));
  const places =
    "select count(distinct tableoid)::int as tables, count(distinct ctid)::int as places from metric_samples";
  expect(await run(places)).toEqual([{ tables: 3, places: 1 }]);
  await sql`delete from metric_samples where ctid = any (array(
    select ctid from metric_samples where at < ${at(-24)} order by at limit 1000 for update skip locked))`.execute(
    kysely,
  );
  expect(await run("select at from metric_samples order by at")).toEqual([{ at: at(0) }, { at: at(1) }]);
});

test("[DB5401] samples that came before the partition of their hour move into it, however recent they are", async () => {
  const [{ now }] = (await run("select pg_catalog.now()")) as [{ now: Date }];
  await keepSamples(inDays(-60, now), null);
  await run("insert into metric_samples values ($1, $2, '{}')", newId(), now);
  await keepSamples(now);
  const [found] = await run("select tableoid::regclass::text as name from metric_samples");
  expect(found?.name).toMatch(/^metric_samples_\d/);
});

test("[DB5401] a partition that cannot be made is reported, and the others are made and dropped all the same", async () => {
  await keep();
  await run(`create table audit_log_${labelOf(month(20))} ()`);
  await expect(keep(month(20))).rejects.toThrow(/already exists/);
  expect(await partitions()).toContain(`audit_log_${labelOf(month(24))}`);
  expect(await partitions()).not.toContain(`audit_log_${labelOf(month(3))}`);
});

test("[DB5403] hours of samples are dropped whole when all of their samples are a day old", async () => {
  const hour = new Date(Math.floor(NOW.getTime() / HOUR_MS) * HOUR_MS);
  const at = (hours: number) => new Date(hour.getTime() + hours * HOUR_MS);
  await keepSamples(at(0));
  await keepSamples(at(25));
  for (const hours of [30, 30.99, 31])
    await run("insert into metric_samples values ($1, $2, '{}')", newId(), at(hours));
  await keepSamples(at(31 + 24 - 0.01));
  expect(await run("select from metric_samples")).toHaveLength(3);
  await keepSamples(at(31 + 24));
  expect(await run("select at from metric_samples")).toEqual([{ at: at(31) }]);
});
