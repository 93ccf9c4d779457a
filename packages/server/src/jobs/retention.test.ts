import { readFileSync } from "node:fs";
import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { deleteOldAudit } from "../audit/audit.store.ts";
import { parseConfig } from "../config.ts";
import { runTogether } from "../database/prepared.adapter.ts";
import { trimOf } from "../database/revision-limit.store.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import { turnedClock } from "../database/turned-clock.fixture.ts";
import { logEvents, pruneEventLog } from "../events/event-log.store.ts";
import { KEPT } from "../events/event-log.ts";
import { newId } from "../id.adapter.ts";
import { agedRows, insertOwner } from "./aged-rows.fixture.ts";
import { listeningLog, SOON } from "./jobs.fixture.ts";
import { startUpkeep } from "./upkeep.store.ts";

/** The lines of the table in the guide: what is kept, and how long. */
const LINES = [
  ...readFileSync(new URL("../../../../docs/operations/retention.md", import.meta.url), "utf8").matchAll(
    /^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm,
  ),
]
  .map(([, what = "", kept = ""]) => ({ what, kept }))
  .filter(({ what }) => !/^(what|---)$/.test(what));

const UNITS = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;

/** The time with which a line begins. */
function timeOf(kept: string): number {
  const [, count = "", unit] = /^(an?|\d+) (minute|hour|day|week)s?\b/.exec(kept) ?? [];
  if (!unit) throw new Error(`The guide names no time: ${kept}`);
  return (Number(count) || 1) * UNITS[unit as keyof typeof UNITS];
}

/** The tables of each line whose rows a worker deletes by their age. */
const BY_CLOCK: Readonly<Record<string, readonly (keyof ReturnType<typeof agedRows>)[]>> = {
  "Audit log": ["audit_log"],
  "Metric samples of a cluster without Prometheus": ["metric_samples"],
  "Lines of the logs of provisioning jobs": ["provisioning_log_lines"],
  "Background jobs that have ended": ["jobs"],
  "Upgrades of operators that have ended": ["operator_upgrades"],
  "Answers kept for an `Idempotency-Key`": ["idempotency_keys"],
  Sessions: ["sessions"],
  "CLI tokens": ["cli_tokens"],
  "Logins of devices, and counts of failed logins": ["device_logins", "login_tallies"],
};
const REVISIONS = "Revisions of an app or an addon instance";
const EVENTS = "Events for streams that resume";

let fresh: FreshDatabase;
let db: Queries;
let insert: ReturnType<typeof agedRows>;
/** Sets the clock of the database. */
let turn: (at: Date) => Promise<void>;
const clock = new TestClock();

beforeAll(async () => {
  fresh = await freshDatabase();
  turn = await turnedClock(fresh.url, clock.now());
  db = fresh.database.kysely;
  insert = agedRows(db, await insertOwner(db, clock.now()));
});
afterAll(() => fresh.drop());

const countOf = async (table: keyof Tables) =>
  (await db.selectFrom(table).select(sql<number>`count(*)`.as("rows")).executeTakeFirstOrThrow()).rows;

test("[JB600] each line of the guide about retention is proved here", () => {
  expect(LINES.map(({ what }) => what).sort()).toEqual([...Object.keys(BY_CLOCK), REVISIONS, EVENTS].sort());
});

const OF_TABLES = LINES.flatMap(({ what, kept }) => (BY_CLOCK[what] ?? []).map((table) => ({ what, kept, table })));

test.each(OF_TABLES)(
  "[JB600] [JB5401] rows of $table are deleted after the time in the guide, and not before, whatever the clock of the worker says: $kept",
  async ({ kept, table }) => {
    const keptMs = timeOf(kept);
    const aged = (ms: number) => insert[table](new Date(clock.now().getTime() - ms));
    const { auditRetentionDays } = parseConfig({});
    const chores = [{ name: "the audit log", run: () => deleteOldAudit(db, auditRetentionDays) }];
    await aged(keptMs + UNITS.minute);
    await aged(keptMs - UNITS.minute);
    // Nothing is deleted by the clock of the worker, which is ahead by years.
    vi.useFakeTimers({ toFake: ["Date"], now: clock.now().getTime() + 5_000 * UNITS.day });
    onTestFinished(() => void vi.useRealTimers());
    const upkeep = startUpkeep({ db, log: listeningLog(), everyMs: 10, chores });
    await vi.waitFor(async () => expect(await countOf(table)).toBe(1), SOON);
    // Rounds that come after have deleted everything that is to go.
    await aged(keptMs + UNITS.minute);
    await vi.waitFor(async () => expect(await countOf(table)).toBe(1), SOON);
    clock.advance(2 * UNITS.minute);
    await turn(clock.now());
    await vi.waitFor(async () => expect(await countOf(table)).toBe(0), SOON);
    await upkeep.stop();
  },
);

/** Their age is by the clock of the database. */
test("[JB600] events are deleted after the time in the guide, and not before", async () => {
  const { kept = "" } = LINES.find(({ what }) => what === EVENTS) ?? {};
  const event = { id: newId(), type: "app", org_id: newId(), at: clock.now().toISOString() };
  const age = (ms: number) =>
    sql`update event_log set created_at = clock_timestamp() - make_interval(secs => ${ms / 1_000})`.execute(db);
  await logEvents(db, [event as never]);
  await age(timeOf(kept) - UNITS.minute);
  await pruneEventLog(db);
  expect(await countOf("event_log")).toBe(1);
  await age(timeOf(kept) + UNITS.minute);
  await pruneEventLog(db);
  expect(await countOf("event_log")).toBe(0);
  expect(kept).toContain(
    `${KEPT.rowsOfOrg.toLocaleString("en")} and ${KEPT.bytesOfOrg / 2 ** 20} MiB of an organization`,
  );
});

test("[JB600] of revisions as many are kept as the guide says, and the newest ten whatever their size", async () => {
  const { kept = "" } = LINES.find(({ what }) => what === REVISIONS) ?? {};
  const [, count, megabytes] =
    /^the (\d+) newest, of large ones those that have (\d+) MB together, but at least ten$/.exec(kept) ?? [];
  await sql`create table revisions (owner uuid not null, number int not null, content text not null)`.execute(db);
  // Uncompressed, so that a text has the size that it seems to have.
  await sql`alter table revisions alter column content set storage external`.execute(db);
  const trim = trimOf({ table: "revisions", owner: "owner", number: "number", content: "content" });
  const left = async (bytes: number, revisions: number) => {
    const owner = newId();
    await sql`insert into revisions select ${owner}, n, repeat('x', ${bytes}) from generate_series(1, ${revisions}::int) n`.execute(
      db,
    );
    await runTogether(db, [trim(owner)]);
    const { rows } = await sql<{ oldest: number; newest: number }>`
      select min(number) as oldest, max(number) as newest from revisions where owner = ${owner}`.execute(db);
    return [rows[0]?.oldest, rows[0]?.newest];
  };
  const most = Number(count);
  expect(await left(100, most)).toEqual([1, most]);
  expect(await left(100, most + 5)).toEqual([6, most + 5]);
  const fitting = Number(megabytes);
  expect(await left(1_000_000, fitting + 3)).toEqual([4, fitting + 3]);
  expect(await left(2_500_000, 12)).toEqual([3, 12]);
});
