import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { claim, enqueue, fail, type Hold, type NewJob, nextDueMs, release, renew, succeed } from "./job.store.ts";
import type { Job } from "./job.ts";
import { age, readJob, SOON } from "./jobs.fixture.ts";

const LEASE_MS = 60 * 60_000;

let fresh: FreshDatabase;
let db: Queries;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
});
afterAll(() => fresh.drop());
beforeEach(() => db.deleteFrom("jobs").execute());

const add = (job: Partial<NewJob> = {}) => enqueue(db, { kind: "ping", payload: {}, ...job });
const take = (workerId: string, limit = 10, maxAttemptsByKind: Record<string, number> = { ping: 3 }) =>
  claim(db, { workerId, maxAttemptsByKind, leaseMs: LEASE_MS, limit });
const idsOf = (jobs: readonly Job[]) => jobs.map(({ id }) => id);
const holdOf = (workerId: string, job: Job | undefined): Hold => ({
  id: job?.id ?? "",
  fence: job?.fence ?? 0,
  workerId,
});
const takeOne = async (workerId: string) => holdOf(workerId, (await take(workerId, 1)).at(0));

describe("enqueuing", () => {
  test("[JB4] a job exists if and only if the transaction that enqueued it was committed", async () => {
    const undone = inTransaction(db, async (tx) => {
      await enqueue(tx, { kind: "ping", payload: {} });
      throw new Error("changed my mind");
    });
    await expect(undone).rejects.toThrow("changed my mind");
    const id = await inTransaction(db, (tx) => enqueue(tx, { kind: "ping", payload: {} }));
    expect(idsOf(await take("a"))).toEqual([id]);
  });

  test("[JB5] a claimed job has the fields that it was enqueued with", async () => {
    const createdBy = newId();
    const id = newId();
    await add({ id, payload: { region: "eu", list: [1] }, lane: "cluster-1", maxAttempts: 9, createdBy });
    const [job] = await take("a");
    const carried = { id, kind: "ping", lane: "cluster-1", payload: { region: "eu", list: [1] }, createdBy };
    expect(job).toEqual({ ...carried, attempts: 1, maxAttempts: 9, fence: 1, createdAt: expect.any(Date) });
  });
});

describe("claiming", () => {
  test("[JB5] jobs are claimed in the order of their time and id, as many as requested and none that is not due", async () => {
    const later = await add({ runAt: new Date(Date.now() + LEASE_MS) });
    const [third, fourth] = [await add(), await add()];
    const second = await add({ runAt: new Date(Date.now() - LEASE_MS) });
    const first = await add({ runAt: new Date(Date.now() - 2 * LEASE_MS) });
    expect(idsOf(await take("a", 3))).toEqual([first, second, third]);
    expect(idsOf(await take("a"))).toEqual([fourth]);
    await age(db, LEASE_MS / 2);
    expect(await take("a")).toEqual([]);
    await age(db, LEASE_MS / 2);
    expect(idsOf(await take("b"))).toContain(later);
  });

  test("[JB6] a claim raises the fence and counts as an attempt", async () => {
    await add();
    const before = await takeOne("a");
    await age(db, LEASE_MS);
    const [job] = await take("b");
    expect(job).toMatchObject({ attempts: 2, fence: before.fence + 1 });
  });

  test("[JB7] a job whose lease has expired goes to the next worker, and not before", async () => {
    const id = await add();
    await take("a");
    await age(db, LEASE_MS - 60_000);
    expect(await take("b")).toEqual([]);
    await age(db, 60_000);
    expect(idsOf(await take("b"))).toEqual([id]);
  });

  test("[JB8] a job whose lease expires in its last attempt is failed with a message that its worker stopped", async () => {
    const id = await add({ maxAttempts: 1, lane: "l" });
    const next = await add({ lane: "l" });
    await take("a");
    await age(db, LEASE_MS);
    // Another kind: no handler is needed to end a job.
    expect(await take("b", 1, { other: 1 })).toEqual([]);
    const job = await readJob(db, id);
    expect(job).toMatchObject({ status: "failed", lease_until: null, finished_at: expect.any(Date) });
    expect(job.error_message).toContain("stopped without a word");
    expect(idsOf(await take("b"))).toEqual([next]);
  });

  test("[JB4404] the jobs of an organization that waits run before the hundred of one whose jobs run already", async () => {
    const [large, small, person] = [newId(), newId(), newId()];
    const mine = await Promise.all(Array.from({ length: 100 }, () => add({ tenantId: large })));
    expect(idsOf(await take("a", 4)).every((id) => mine.includes(id))).toBe(true);
    const theirs = [await add({ tenantId: small }), await add({ tenantId: small })];
    const own = await add({ createdBy: person });
    expect(idsOf(await take("b", 3))).toEqual([...theirs, own]);
    expect(idsOf(await take("b", 2)).every((id) => mine.includes(id))).toBe(true);
  });

  test("[JB4404] those that wait share what is free, also where one has more jobs than are read of it", async () => {
    const [large, small] = [newId(), newId()];
    await Promise.all(Array.from({ length: 200 }, () => add({ tenantId: large })));
    const late = new Set([await add({ tenantId: small }), await add({ tenantId: small })]);
    const claimed = await Promise.all(["a", "b", "c", "d"].map((worker) => take(worker, 2)));
    const ids = claimed.flat().map(({ id }) => id);
    expect([ids.length, new Set(ids).size, ids.filter((id) => late.has(id)).length]).toEqual([8, 8, 2]);
  });

  test("[JB14] a job has the attempts that it was enqueued with, or else those of its kind", async () => {
    const own = await add({ maxAttempts: 7 });
    const kinds = await add();
    const claimed = await take("a", 2, { ping: 2 });
    expect(claimed.map(({ id, maxAttempts }) => [id, maxAttempts])).toEqual([
      [own, 7],
      [kinds, 2],
    ]);
  });

  test("[JB21] a job of a kind that was not requested is not claimed", async () => {
    await add({ kind: "unheard of" });
    expect(await take("a")).toEqual([]);
  });
});

describe("lanes", () => {
  test("[JB9] jobs of one lane run one at a time, in order, beside those of other lanes and without a lane", async () => {
    const [a1, a2, b1, free1, free2] = [
      await add({ lane: "a" }),
      await add({ lane: "a" }),
      await add({ lane: "b" }),
      await add(),
      await add(),
    ];
    const claimed = await take("w");
    expect(idsOf(claimed)).toEqual([a1, b1, free1, free2]);
    expect(await take("v")).toEqual([]);
    await succeed(db, holdOf("w", claimed.at(0)), null);
    expect(idsOf(await take("v"))).toEqual([a2]);
  });

  test("[JB9] a lane waits for its first job even when only other workers know its kind", async () => {
    const first = await add({ lane: "a", kind: "new" });
    const second = await add({ lane: "a" });
    expect(await take("old")).toEqual([]);
    const [job] = await take("new", 10, { ping: 3, new: 3 });
    expect(job?.id).toBe(first);
    await succeed(db, holdOf("new", job), null);
    expect(idsOf(await take("old"))).toEqual([second]);
  });

  test("[JB9] a job that waits for its next attempt does not hold up its lane", async () => {
    const first = await add({ lane: "a" });
    const second = await add({ lane: "a" });
    const hold = await takeOne("w");
    expect(hold.id).toBe(first);
    await fail(db, hold, { status: "pending", retryInMs: LEASE_MS, errorMessage: "later" });
    expect((await takeOne("w")).id).toBe(second);
  });

  test("[JB10] a worker that claims while another starts an earlier job of the lane gets nothing, and no error", async () => {
    const id = await add({ lane: "a" });
    const pid = Promise.withResolvers<number>();
    const commit = Promise.withResolvers<void>();
    const other = db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await enqueue(tx, { kind: "ping", lane: "a", payload: {}, runAt: new Date(0) });
      await claim(tx, { workerId: "other", maxAttemptsByKind: { ping: 1 }, leaseMs: LEASE_MS, limit: 1 });
      pid.resolve(rows.at(0)?.pid ?? 0);
      await commit.promise;
    });
    const holder = await pid.promise;
    const claimed = take("w");
    await vi.waitFor(async () => {
      const blocked = sql`select from pg_stat_activity where ${holder} = any(pg_blocking_pids(pid))`;
      expect((await blocked.execute(db)).rows).toHaveLength(1);
    }, SOON);
    commit.resolve();
    await other;
    expect(await claimed).toEqual([]);
    expect(await readJob(db, id)).toMatchObject({ status: "pending", fence: 0 });
  });

  test("[JB10] workers that claim at the same instant never get the same job, nor two of one lane", async () => {
    for (const index of Array(60).keys()) await add(index % 3 ? { lane: `lane ${index % 7}` } : {});
    const left = async () => db.selectFrom("jobs").select("id").where("status", "=", "pending").execute();
    const seen: string[] = [];
    while ((await left()).length > 0) {
      const workers = Array.from({ length: 6 }, (_, index) => `w${index}`);
      const claims = await Promise.all(workers.map((worker) => take(worker, 3)));
      const claimed = claims.flat();
      const lanes = claimed.flatMap(({ lane }) => lane ?? []);
      expect(new Set(lanes).size).toBe(lanes.length);
      seen.push(...idsOf(claimed));
      await Promise.all(
        claims.flatMap((jobs, index) => jobs.map((job) => succeed(db, holdOf(workers[index] ?? "", job), null))),
      );
    }
    expect(new Set(seen).size).toBe(60);
    expect(seen).toHaveLength(60);
  });
});

describe("holding", () => {
  test("[JB11] a worker that does not hold a job changes nothing and is told so", async () => {
    const id = await add();
    const stale = await takeOne("a");
    await age(db, LEASE_MS);
    const hold = await takeOne("b");
    const before = await readJob(db, id);
    for (const wrong of [stale, { ...hold, workerId: "a" }, { ...hold, fence: 3 }, { ...hold, id: newId() }]) {
      expect(await renew(db, wrong, LEASE_MS)).toBe(false);
      expect(await succeed(db, wrong, "{}")).toBe(false);
      expect(await fail(db, wrong, { status: "failed", errorMessage: "no" })).toBe(false);
      expect(await fail(db, wrong, { status: "pending", retryInMs: 0, errorMessage: "no" })).toBe(false);
      expect(await release(db, wrong)).toBe(false);
    }
    expect(await readJob(db, id)).toEqual(before);
    expect(await succeed(db, hold, '{"pong":true}')).toBe(true);
    expect(await succeed(db, hold, null)).toBe(false);
    expect(await readJob(db, id)).toMatchObject({ status: "succeeded", result: { pong: true } });
  });

  test("[JB11] the holder may renew an expired lease until another worker claims the job", async () => {
    await add();
    const hold = await takeOne("a");
    await age(db, 2 * LEASE_MS);
    expect(await renew(db, hold, LEASE_MS)).toBe(true);
    expect(await take("b")).toEqual([]);
  });

  test("[JB2] a job that is retried shows its last error, and none once it has succeeded", async () => {
    const id = await add();
    await fail(db, await takeOne("a"), { status: "pending", retryInMs: 5_000, errorMessage: "not yet" });
    expect(await take("a")).toEqual([]);
    expect(await readJob(db, id)).toMatchObject({ status: "pending", attempts: 1, error_message: "not yet" });
    await age(db, 5_000);
    await succeed(db, await takeOne("a"), null);
    expect(await readJob(db, id)).toMatchObject({ status: "succeeded", attempts: 2, error_message: null });
  });

  test("[JB13] a job that is given back keeps its place in its lane, and the attempt is not counted", async () => {
    const first = await add({ lane: "a" });
    await add({ lane: "a" });
    expect(await release(db, await takeOne("a"))).toBe(true);
    expect(await readJob(db, first)).toMatchObject({ status: "pending", attempts: 0, worker_id: null, fence: 1 });
    expect((await takeOne("b")).id).toBe(first);
  });

  test("[JB27] a job that is put back for a while is not due before, counts no attempt, and does not hold up its lane", async () => {
    const [first, second] = [await add({ lane: "a" }), await add({ lane: "a" })];
    const held = await takeOne("a");
    const later = { status: "pending", retryInMs: 60_000, errorMessage: "Later.", isFree: true } as const;
    expect(await fail(db, held, later)).toBe(true);
    expect(await readJob(db, first)).toMatchObject({ status: "pending", attempts: 0, error_message: "Later." });
    expect((await takeOne("b")).id).toBe(second);
    expect(await nextDueMs(db, ["ping"])).toBeGreaterThan(0);
  });
});

describe("the next poll", () => {
  test("[JB16] a worker is told how long it is until a job of its kinds is due or a lease ends", async () => {
    const due = () => nextDueMs(db, ["ping"]);
    expect(await due()).toBeNull();
    await add({ kind: "other" });
    expect(await due()).toBeNull();
    await add({ delayMs: 100_000 });
    const later = (await due()) ?? Number.NaN;
    expect([later > 90_000, later <= 100_000]).toEqual([true, true]);
    await add();
    expect(await due()).toBeLessThanOrEqual(0);
    await claim(db, { workerId: "a", maxAttemptsByKind: { ping: 3 }, leaseMs: 50_000, limit: 1 });
    const lease = (await due()) ?? Number.NaN;
    expect([lease > 40_000, lease <= 50_000]).toEqual([true, true]);
  });
});
