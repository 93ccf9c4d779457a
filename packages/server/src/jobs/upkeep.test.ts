import { randomBytes } from "node:crypto";
import { TestClock } from "@binnacle/world/clock";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { listeningLog, SOON } from "./jobs.fixture.ts";
import { startUpkeep } from "./upkeep.store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let fresh: FreshDatabase;
let db: Queries;
const userId = newId();
let clusterId: string;
const clock = new TestClock();

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  const times = { created_at: clock.now(), updated_at: clock.now() };
  await db
    .insertInto("tiers")
    .values({ name: "free", ...times })
    .execute();
  const person = {
    name: "Ada",
    username: "ada",
    email: "ada@example.com",
    password_hash: "-",
    profile_image_url: null,
  };
  await db
    .insertInto("users")
    .values({ id: userId, ...person, tier_name: "free", ...times })
    .execute();
  const orgId = newId();
  await db
    .insertInto("orgs")
    .values({ id: orgId, name: "Demo", slug: "demo", description: null, settings: "{}", ...times })
    .execute();
  clusterId = await insertCluster(db, orgId);
});
afterAll(() => fresh.drop());

const ago = (ms: number) => new Date(clock.now().getTime() - ms);

/** One row that is this old, in the sense of its table. */
const rowOf: Partial<Record<keyof Tables, (at: Date) => Promise<unknown>>> = {
  sessions: (at) =>
    db
      .insertInto("sessions")
      .values({ id: newId(), user_id: userId, created_at: at, expires_at: at, last_used_at: at })
      .execute(),
  device_logins: (at) =>
    db
      .insertInto("device_logins")
      .values({
        id: newId(),
        device_code_digest: randomBytes(32),
        user_code: newId(),
        client_name: "cli",
        scopes: sql`'{}'`,
        status: "pending",
        user_id: null,
        interval_seconds: 5,
        last_asked_at: null,
        created_at: at,
        expires_at: at,
      })
      .execute(),
  cli_tokens: (at) =>
    db
      .insertInto("cli_tokens")
      .values({
        id: newId(),
        user_id: userId,
        name: "laptop",
        token_digest: randomBytes(32),
        scopes: sql`'{}'`,
        expires_at: at,
        created_at: at,
        updated_at: at,
      })
      .execute(),
  login_tallies: (at) => db.insertInto("login_tallies").values({ key: newId(), tally: "{}", updated_at: at }).execute(),
  idempotency_keys: (at) =>
    db
      .insertInto("idempotency_keys")
      .values({ user_id: userId, key: newId(), sealed_answer: null, created_at: at })
      .execute(),
  jobs: (at) =>
    db
      .insertInto("jobs")
      .values({
        id: newId(),
        kind: "ping",
        payload: "{}",
        status: "failed",
        run_at: at,
        created_at: at,
        updated_at: at,
        finished_at: at,
      })
      .execute(),
  metric_samples: (at) => db.insertInto("metric_samples").values({ cluster_id: clusterId, at, sample: "{}" }).execute(),
};

const countOf = async (table: keyof Tables) =>
  (await db.selectFrom(table).select(sql<number>`count(*)`.as("rows")).executeTakeFirstOrThrow()).rows;

test.each([
  ["[JB30]", "sessions", "expired more than a day ago", DAY_MS],
  ["[JB31]", "device_logins", "expired more than an hour ago", HOUR_MS],
  ["[JB32]", "login_tallies", "were not touched for an hour", HOUR_MS],
  ["[JB33]", "idempotency_keys", "are older than 25 hours", 25 * HOUR_MS],
  ["[JB34]", "jobs", "ended more than 30 days ago", 30 * DAY_MS],
  ["[JB38]", "cli_tokens", "expired more than a week ago", 7 * DAY_MS],
  ["[DS29]", "metric_samples", "are older than 24 hours", DAY_MS],
] as const)("%s upkeep deletes %s that %s, and no others", async (_, table, _when, keptMs) => {
  await rowOf[table]?.(ago(keptMs + MINUTE_MS));
  await rowOf[table]?.(ago(keptMs - MINUTE_MS));
  const log = listeningLog();
  const upkeep = startUpkeep({ db, clock: clock.now, log, everyMs: 10 });
  await vi.waitFor(async () => expect(await countOf(table)).toBe(1), SOON);
  clock.advance(2 * MINUTE_MS);
  await vi.waitFor(async () => expect(await countOf(table)).toBe(0), SOON);
  await upkeep.stop();
  expect(log.warn).not.toHaveBeenCalled();
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
  await rowOf.sessions?.(ago(2 * DAY_MS));
  await rowOf.jobs?.(old);
  const upkeep = startUpkeep({ db, clock: clock.now, log: listeningLog() });
  await vi.waitFor(async () => expect(await countOf("jobs")).toBe(2), SOON);
  await upkeep.stop();
});

test("[JB35] replicas that keep up at the same time clear more than one batch without getting in each other's way", async () => {
  const opened = ago(3 * DAY_MS);
  await sql`insert into sessions (id, user_id, created_at, last_used_at, expires_at)
    select gen_random_uuid(), ${userId}, ${opened}, ${opened}, ${ago(2 * DAY_MS)} from generate_series(1, 2500)`.execute(
    db,
  );
  const log = listeningLog();
  const replicas = Array.from({ length: 3 }, () => startUpkeep({ db, clock: clock.now, log }));
  await vi.waitFor(async () => expect(await countOf("sessions")).toBe(0), SOON);
  await Promise.all(replicas.map((replica) => replica.stop()));
  expect(log.warn).not.toHaveBeenCalled();
});

test("[JB36] upkeep folds the deltas of a total into one row", async () => {
  const count = { relation: "sheep", delta: 1 };
  await db.insertInto("row_counts").values(Array(50).fill(count)).execute();
  const upkeep = startUpkeep({ db, clock: clock.now, log: listeningLog() });
  const rows = () => db.selectFrom("row_counts").select("delta").where("relation", "=", "sheep").execute();
  await vi.waitFor(async () => expect(await rows()).toEqual([{ delta: 50 }]), SOON);
  await upkeep.stop();
});

test("[JB37] a step of upkeep that fails is reported once and does not keep the others from being done", async () => {
  await sql`alter table login_tallies rename to hidden`.execute(db);
  await rowOf.sessions?.(ago(2 * DAY_MS));
  await rowOf.idempotency_keys?.(ago(2 * DAY_MS));
  const log = listeningLog();
  const reports = () => log.warn.mock.calls.map(([, words]) => words);
  const upkeep = startUpkeep({ db, clock: clock.now, log, everyMs: 10 });
  await vi.waitFor(async () => expect(await countOf("idempotency_keys")).toBe(0), SOON);
  expect(await countOf("sessions")).toBe(0);
  await sql`alter table hidden rename to login_tallies`.execute(db);
  await vi.waitFor(() => expect(log.info).toHaveBeenCalledTimes(1), SOON);
  expect(reports()).toEqual([expect.stringContaining("login_tallies")]);
  await upkeep.stop();
});
