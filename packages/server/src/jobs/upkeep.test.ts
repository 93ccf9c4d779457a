import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { deleteOldAudit } from "../audit/audit.store.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import { turnedClock } from "../database/turned-clock.fixture.ts";
import { newId } from "../id.adapter.ts";
import { agedRows, insertOwner } from "./aged-rows.fixture.ts";
import { listeningLog, SOON } from "./jobs.fixture.ts";
import { startUpkeep } from "./upkeep.store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let fresh: FreshDatabase;
let db: Queries;
let userId: string;
let orgId: string;
let rowOf: ReturnType<typeof agedRows>;
/** Sets the clock of the database. */
let turn: (at: Date) => Promise<void>;
const clock = new TestClock();

beforeAll(async () => {
  fresh = await freshDatabase();
  turn = await turnedClock(fresh.url, clock.now());
  db = fresh.database.kysely;
  const owner = await insertOwner(db, clock.now());
  ({ userId, orgId } = owner);
  rowOf = agedRows(db, owner);
});
afterAll(() => fresh.drop());

const ago = (ms: number) => new Date(clock.now().getTime() - ms);

const countOf = async (table: keyof Tables) =>
  (await db.selectFrom(table).select(sql<number>`count(*)`.as("rows")).executeTakeFirstOrThrow()).rows;

test.each([
  ["[JB30]", "sessions", "expired more than a day ago", DAY_MS],
  ["[JB31]", "device_logins", "expired more than an hour ago", HOUR_MS],
  ["[JB32]", "login_tallies", "were not touched for an hour", HOUR_MS],
  ["[JB33]", "idempotency_keys", "are older than 25 hours", 25 * HOUR_MS],
  ["[JB34]", "jobs", "ended more than 30 days ago", 30 * DAY_MS],
  ["[JB38]", "cli_tokens", "expired more than a week ago", 7 * DAY_MS],
  ["[JB4402]", "provisioning_log_lines", "are older than 90 days", 90 * DAY_MS],
  ["[DS29]", "metric_samples", "are older than 24 hours", DAY_MS],
] as const)("%s upkeep deletes %s that %s, and no others", async (_, table, _when, keptMs) => {
  await rowOf[table](ago(keptMs + MINUTE_MS));
  await rowOf[table](ago(keptMs - MINUTE_MS));
  const log = listeningLog();
  const upkeep = startUpkeep({ db, log, everyMs: 10 });
  await vi.waitFor(async () => expect(await countOf(table)).toBe(1), SOON);
  clock.advance(2 * MINUTE_MS);
  await turn(clock.now());
  await vi.waitFor(async () => expect(await countOf(table)).toBe(0), SOON);
  await upkeep.stop();
  expect(log.warn).not.toHaveBeenCalled();
});

test("[AL4402] the worker deletes entries of the audit log that are older than the setting says, keeps the totals, and all of them at 0", async () => {
  const entry = (id: string, at: Date) =>
    sql`insert into audit_log (id, at, org_id, via, action, resource_type, changes)
      values (${id}, ${at}, ${orgId}, 'user', 'org.update', 'org', '{}')`.execute(db);
  const idOf = (at: Date) => v7({ msecs: at.getTime() });
  const [old, recent] = [ago(31 * DAY_MS), ago(29 * DAY_MS)];
  await entry(idOf(old), old);
  await entry(idOf(recent), recent);
  // Its process had a clock that was behind by months.
  await entry(idOf(old), recent);
  await sql`insert into audit_log (id, at, org_id, via, action, resource_type, changes)
    select id, ${old}, ${orgId}, 'user', 'org.update', 'org', '{}'
    from unnest(${Array.from({ length: 2_500 }, () => idOf(old))}::uuid[]) id`.execute(db);
  await deleteOldAudit(db, 0);
  expect(await totalRows(db, "audit_log", orgId)).toBe(2_503);
  await deleteOldAudit(db, 30);
  const left = await db.selectFrom("audit_log").select("at").execute();
  expect(left).toEqual([{ at: recent }, { at: recent }]);
  expect(await totalRows(db, "audit_log", orgId)).toBe(2);
});

test("[JB34] upkeep leaves jobs that have not ended, however old they are", async () => {
  const old = ago(90 * DAY_MS);
  const job = { kind: "ping", payload: "{}", run_at: old, created_at: old, updated_at: old };
  await db
    .insertInto("jobs")
    .values({ id: newId(), ...job, status: "pending" })
    .execute();
  await db
    .insertInto("jobs")
    .values({ id: newId(), ...job, status: "running", max_attempts: 1, lease_until: old })
    .execute();
  await rowOf.sessions(ago(2 * DAY_MS));
  await rowOf.jobs(old);
  const upkeep = startUpkeep({ db, log: listeningLog() });
  await vi.waitFor(async () => expect(await countOf("jobs")).toBe(2), SOON);
  await upkeep.stop();
});

test("[JB35] replicas run the upkeep at the same time without conflicts, also for more than one batch", async () => {
  const opened = ago(3 * DAY_MS);
  await sql`insert into sessions (id, user_id, created_at, last_used_at, expires_at)
    select gen_random_uuid(), ${userId}, ${opened}, ${opened}, ${ago(2 * DAY_MS)} from generate_series(1, 2500)`.execute(
    db,
  );
  const log = listeningLog();
  const replicas = Array.from({ length: 3 }, () => startUpkeep({ db, log }));
  await vi.waitFor(async () => expect(await countOf("sessions")).toBe(0), SOON);
  await Promise.all(replicas.map((replica) => replica.stop()));
  expect(log.warn).not.toHaveBeenCalled();
});

test("[JB36] the upkeep folds the deltas of a total into one row", async () => {
  const count = { relation: "sheep", delta: 1 };
  await db.insertInto("row_counts").values(Array(50).fill(count)).execute();
  const upkeep = startUpkeep({ db, log: listeningLog() });
  const rows = () => db.selectFrom("row_counts").select("delta").where("relation", "=", "sheep").execute();
  await vi.waitFor(async () => expect(await rows()).toEqual([{ delta: 50 }]), SOON);
  await upkeep.stop();
});

test("[JB37] a step of the upkeep that fails is logged once and does not prevent the others", async () => {
  await sql`alter table login_tallies rename to hidden`.execute(db);
  await rowOf.sessions(ago(2 * DAY_MS));
  await rowOf.idempotency_keys(ago(2 * DAY_MS));
  const log = listeningLog();
  const reports = () => log.warn.mock.calls.map(([, words]) => words);
  const upkeep = startUpkeep({ db, log, everyMs: 10 });
  await vi.waitFor(async () => expect(await countOf("idempotency_keys")).toBe(0), SOON);
  expect(await countOf("sessions")).toBe(0);
  await sql`alter table hidden rename to login_tallies`.execute(db);
  await vi.waitFor(() => expect(log.info).toHaveBeenCalledTimes(1), SOON);
  expect(reports()).toEqual([expect.stringContaining("login_tallies")]);
  await upkeep.stop();
});

test("[JB39] a long chore does not hold up the others, and ends when the upkeep is stopped", async () => {
  await rowOf.sessions(ago(2 * DAY_MS));
  const long = (stop: AbortSignal) =>
    new Promise<void>((resolve) => {
      stop.addEventListener("abort", () => resolve());
    });
  const short = vi.fn(async () => undefined);
  const chores = [
    { name: "long", isLong: true, run: long },
    { name: "short", run: short },
  ];
  const upkeep = startUpkeep({ db, log: listeningLog(), everyMs: 10, chores });
  await vi.waitFor(() => expect(short.mock.calls.length).toBeGreaterThan(1), SOON);
  await upkeep.stop();
});
