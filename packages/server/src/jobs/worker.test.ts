import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { Kysely, PostgresDialect } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import type { Bus } from "../bus/bus.ts";
import { connect } from "../database/connection.adapter.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import { enqueue, type NewJob } from "./job.store.ts";
import { JOBS_TOPIC, type Job, PermanentJobError, WorkerStops } from "./job.ts";
import { listeningLog, readJob, SOON, statusOf } from "./jobs.fixture.ts";
import type { JobContext, JobHandler } from "./running-job.runner.ts";
import { startWorker, type Worker, type WorkerOptions } from "./worker.runner.ts";

const NEVER_MS = 10 * 60_000;

let fresh: FreshDatabase;
let db: Queries;
let bus: Bus;
const workers: Worker[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  bus = createMemoryBus(listeningLog());
  await db.deleteFrom("jobs").execute();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
  await bus.close();
});

const add = (job: Partial<NewJob> = {}) => enqueue(db, { kind: "ping", payload: {}, ...job });

function start(handlers: Record<string, JobHandler | JobHandler["run"]>, options: Partial<WorkerOptions> = {}) {
  const log = listeningLog();
  const all = Object.entries(handlers).map(
    ([kind, it]) => [kind, typeof it === "function" ? { run: it } : it] as const,
  );
  const worker = startWorker({ db, bus, log, pollMs: 20, ...options, handlers: Object.fromEntries(all) });
  workers.push(worker);
  return { worker, log };
}

/** A handler that tells of each call and goes on until the test says how it ends. */
function controlled() {
  const calls: { job: Job; context: JobContext; end: PromiseWithResolvers<object | undefined> }[] = [];
  const run = (job: Job, context: JobContext) => {
    const end = Promise.withResolvers<object | undefined>();
    calls.push({ job, context, end });
    return end.promise;
  };
  const call = (index = 0) => vi.waitFor(() => calls.at(index) ?? Promise.reject(new Error("not called yet")), SOON);
  return { calls, run, call };
}

const eventually = (id: string, row: object) =>
  vi.waitFor(async () => expect(await readJob(db, id)).toMatchObject(row), SOON);

describe("taking up jobs", () => {
  test("[JB15] a hint on the bus makes a worker poll long before its interval", async () => {
    const asked = vi.fn();
    const pool = fresh.database.pool;
    const watched = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => asked(query.sql),
    });
    start({ ping: async () => ({ pong: true }) }, { db: watched, pollMs: NEVER_MS });
    await vi.waitFor(
      () => expect(asked).toHaveBeenCalledWith(expect.stringContaining("skip locked\n    ), claimed as")),
      SOON,
    );
    const id = await add();
    bus.publish(JOBS_TOPIC, {});
    await eventually(id, { status: "succeeded", result: { pong: true }, attempts: 1, finished_at: expect.any(Date) });
  });

  test("[BU1534] a worker looks for jobs at once when hints may have been lost", async () => {
    let missed: () => void = () => undefined;
    const onMissed: Bus["onMissed"] = (handler) => {
      missed = handler;
      return () => undefined;
    };
    const { call, run } = controlled();
    start({ ping: run }, { bus: { ...bus, onMissed }, concurrency: 2, pollMs: NEVER_MS });
    await add();
    bus.publish(JOBS_TOPIC, {});
    const first = await call(0);
    const id = await add();
    missed();
    expect((await call(1)).job.id).toBe(id);
    for (const { end } of [first, await call(1)]) end.resolve(undefined);
  });

  test("[JB16] without a hint a worker finds jobs by polling", async () => {
    start({ ping: async () => undefined }, { pollMs: 20 });
    const id = await add();
    await eventually(id, { status: "succeeded", result: null });
  });

  test("[JB25] a worker runs as many jobs at a time as configured, and claims the next when one ends", async () => {
    const { calls, run, call } = controlled();
    start({ ping: run }, { concurrency: 2, pollMs: NEVER_MS });
    const ids = [await add(), await add(), await add({ lane: "a" })];
    bus.publish(JOBS_TOPIC, {});
    const [first] = [await call(0), await call(1)];
    expect(calls).toHaveLength(2);
    expect(await statusOf(db, ids[2] ?? "")).toBe("pending");
    first.end.resolve(undefined);
    expect((await call(2)).job.id).toBe(ids[2]);
    for (const { end } of calls) end.resolve(undefined);
    for (const id of ids) await eventually(id, { status: "succeeded" });
  });

  test("[JB21] a worker does not claim jobs of a kind that it has no handler for", async () => {
    start({ ping: async () => undefined });
    const unknown = await add({ kind: "unheard of" });
    await eventually(await add(), { status: "succeeded" });
    expect(await readJob(db, unknown)).toMatchObject({ status: "pending", attempts: 0 });
  });
});

describe("outcomes", () => {
  test("[JB2] a job that fails is retried until its attempts are used up, and keeps the last error", async () => {
    const run = vi.fn<JobHandler["run"]>(async ({ attempts }) =>
      Promise.reject(new Error(`attempt ${attempts} failed`)),
    );
    start({ ping: { run, maxAttempts: 2 } });
    const id = await add();
    await eventually(id, { status: "failed", attempts: 2, error_message: "attempt 2 failed", lease_until: null });
    expect(run).toHaveBeenCalledTimes(2);
  });

  test("[JB2] a job whose handler throws a permanent error is not retried", async () => {
    start({ ping: async () => Promise.reject(new PermanentJobError("No such region.")) });
    const id = await add({ maxAttempts: 9 });
    await eventually(id, { status: "failed", attempts: 1, error_message: "No such region." });
  });

  test.each([
    ["is not JSON", { big: 1n }],
    ["holds what the database does not", { text: "\0" }],
  ])("[JB24] a job whose result %s is failed and not run again", async (_, result) => {
    const run = vi.fn(async () => result);
    start({ ping: run });
    const id = await add();
    await eventually(id, { status: "failed", attempts: 1, error_message: expect.stringContaining("cannot be stored") });
    expect(run).toHaveBeenCalledTimes(1);
  });
});

describe("leases", () => {
  test("[JB17] a job that takes longer than its lease stays with its worker", async () => {
    const { calls, run, call } = controlled();
    start({ ping: run }, { leaseMs: 600 });
    start({ ping: run }, { leaseMs: 600 });
    const id = await add();
    const { end } = await call();
    const claimedUntil = (await readJob(db, id)).lease_until?.getTime() ?? 0;
    await vi.waitFor(async () => {
      expect((await readJob(db, id)).lease_until?.getTime()).toBeGreaterThan(claimedUntil + 2 * 600);
    }, SOON);
    end.resolve({ pong: true });
    await eventually(id, { status: "succeeded", attempts: 1, fence: 1 });
    expect(calls).toHaveLength(1);
  });

  test("[DB31] a lease is renewed and an outcome stored while statements of others keep all other connections busy", async () => {
    const busy = connect({ url: fresh.url }, { poolSize: 2, onError: () => undefined });
    const lock = await fresh.database.pool.connect();
    await lock.query("select pg_advisory_lock(4405)");
    const lists = Array.from({ length: 12 }, () => busy.pool.query("select pg_advisory_xact_lock_shared(4405)"));
    const { run, call, calls } = controlled();
    const { log } = start({ ping: run }, { leaseMs: 600, db: busy.kysely, queueDb: db });
    const id = await add();
    const { end } = await call();
    const claimedUntil = (await readJob(db, id)).lease_until?.getTime() ?? 0;
    await vi.waitFor(async () => {
      expect((await readJob(db, id)).lease_until?.getTime()).toBeGreaterThan(claimedUntil + 2 * 600);
    }, SOON);
    end.resolve({ pong: true });
    await eventually(id, { status: "succeeded", attempts: 1 });
    expect([calls.length, log.warn.mock.calls]).toEqual([1, []]);
    await lock.query("select pg_advisory_unlock(4405)");
    lock.release();
    await Promise.all(lists);
    await busy.close();
  });

  test("[JB18] a handler whose job another worker has claimed is aborted, and its result is dropped", async () => {
    const { run, call } = controlled();
    const { log } = start({ ping: run }, { leaseMs: 3_000, pollMs: NEVER_MS });
    const id = await add();
    bus.publish(JOBS_TOPIC, {});
    const { context, end } = await call();
    const theft = { worker_id: "thief", fence: 2, lease_until: new Date(Date.now() + NEVER_MS) };
    await db.updateTable("jobs").set(theft).execute();
    await vi.waitFor(() => expect(context.signal.aborted).toBe(true), SOON);
    expect(log.warn.mock.lastCall?.[0]).toMatchObject({ jobId: id, reason: "another worker took it" });
    end.resolve({ mine: true });
    await workers.at(0)?.stop(1_000);
    expect(await readJob(db, id)).toMatchObject({ status: "running", worker_id: "thief", fence: 2, result: null });
    expect(context.fence).toBe(1);
  });
});

describe("stopping", () => {
  test("[JB19] a worker that stops claims no more jobs and waits for those that run", async () => {
    const { calls, run, call } = controlled();
    const { worker } = start({ ping: run }, { concurrency: 1 });
    const id = await add();
    const { context, end } = await call();
    const next = await add();
    const stopped = worker.stop(NEVER_MS);
    bus.publish(JOBS_TOPIC, {});
    end.resolve({ pong: true });
    await stopped;
    expect(context.signal.aborted).toBe(false);
    expect(await readJob(db, id)).toMatchObject({ status: "succeeded" });
    expect(await readJob(db, next)).toMatchObject({ status: "pending", attempts: 0 });
    expect(calls).toHaveLength(1);
  });

  test("[JB19] a job that is claimed just when the worker stops is given back and not started", async () => {
    const open = Promise.withResolvers<void>();
    const connect = vi.fn(() => open.promise.then(() => fresh.database.pool.connect()));
    const pool = { connect, end: async () => undefined, options: {} };
    const slow = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    const id = await add();
    const run = vi.fn(async () => undefined);
    const { worker } = start({ ping: run }, { db: slow });
    await vi.waitFor(() => expect(connect).toHaveBeenCalled(), SOON);
    const stopped = worker.stop(NEVER_MS);
    open.resolve();
    await stopped;
    expect(await readJob(db, id)).toMatchObject({ status: "pending", attempts: 0, fence: 1 });
    expect(run).not.toHaveBeenCalled();
  });

  test.each([
    ["heeds its signal", (_: Job, { signal }: JobContext) => rejectOnAbort(signal)],
    ["does not heed its signal", () => new Promise<undefined>(() => undefined)],
  ])("[JB20] a job that outlasts the drain and %s is given back, without losing an attempt", async (_, run) => {
    const { worker } = start({ ping: run });
    const id = await add({ maxAttempts: 1 });
    await eventually(id, { status: "running" });
    await worker.stop(0);
    expect(await readJob(db, id)).toMatchObject({
      status: "pending",
      attempts: 0,
      lease_until: null,
      error_message: null,
    });
    start({ ping: async () => undefined });
    await eventually(id, { status: "succeeded", attempts: 1 });
  });

  test("[JB26] a handler gets the grace that it asks for when its worker stops", async () => {
    const { run, call } = controlled();
    const { worker } = start({ ping: { run, graceMs: 30_000 } });
    const id = await add({ maxAttempts: 1 });
    const { context, end } = await call();
    const statusWhenSaved = Promise.withResolvers<string>();
    context.signal.addEventListener("abort", () => {
      // It saves for longer than the second after which other jobs are given back.
      setTimeout(() => statusWhenSaved.resolve(statusOf(db, id)), 1_200);
    });
    void statusWhenSaved.promise.then(() => end.reject(new Error("The worker stops.")));
    await worker.stop(0);
    expect([context.signal.reason, await statusWhenSaved.promise]).toEqual([expect.any(WorkerStops), "running"]);
    expect(await readJob(db, id)).toMatchObject({ status: "pending", attempts: 0 });
  });

  test("[JB20] a job that ends well although it was aborted has succeeded", async () => {
    const { run, call } = controlled();
    const { worker } = start({ ping: run });
    const id = await add();
    const { context, end } = await call();
    context.signal.addEventListener("abort", () => end.resolve({ pong: true }));
    await worker.stop(0);
    expect(await readJob(db, id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });
});

describe("without the database", () => {
  let away = false;
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const connect = vi.fn(() => (away ? Promise.reject(refused) : fresh.database.pool.connect()));
  const pool = { connect, end: async () => undefined, options: {} };
  const flaky = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  afterEach(() => {
    away = false;
  });

  test("[JB22] a worker keeps retrying without the database, logs it once, and stores the outcome when it is back", async () => {
    const { run, call } = controlled();
    const { log } = start({ ping: run }, { db: flaky });
    const id = await add();
    const { end } = await call();
    away = true;
    connect.mockClear();
    end.resolve({ pong: true });
    await vi.waitFor(() => expect(connect.mock.calls.length).toBeGreaterThan(3), SOON);
    expect(log.warn).toHaveBeenCalledExactlyOnceWith(
      { err: refused },
      expect.stringContaining("failed; it is retried"),
    );
    away = false;
    await eventually(id, { status: "succeeded", attempts: 1, result: { pong: true } });
    const again = expect.stringContaining("works again");
    await vi.waitFor(() => expect(log.info).toHaveBeenCalledWith(again), SOON);
  });

  test("[JB18] a worker that cannot renew for a whole lease aborts the handler and drops its result", async () => {
    const { calls, run, call } = controlled();
    start({ ping: run }, { db: flaky, leaseMs: 300 });
    const id = await add();
    const { context, end } = await call();
    away = true;
    await vi.waitFor(() => expect(context.signal.aborted).toBe(true), SOON);
    expect(context.signal.reason.message).toContain("could not be renewed in time");
    end.resolve({ late: true });
    away = false;
    (await call(1)).end.resolve({ again: true });
    await eventually(id, { status: "succeeded", result: { again: true } });
    expect(calls.at(1)?.job.attempts).toBe(2);
  });
});

function rejectOnAbort(signal: AbortSignal): Promise<undefined> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

test("[OP30] a job that is done is logged with its kind and who asked for it, and one that failed with the cause", async () => {
  const { log } = start({
    ping: async () => ({ pong: true }),
    boom: () => Promise.reject(new PermanentJobError("no such cluster")),
  });
  const done = await add();
  const failed = await add({ kind: "boom" });
  const named = (jobId: string, kind: string) => expect.objectContaining({ jobId, kind, attempt: 1, createdBy: null });
  await vi.waitFor(() => expect(log.info).toHaveBeenCalledExactlyOnceWith(named(done, "ping"), "a job is done"), SOON);
  await vi.waitFor(
    () => expect(log.warn).toHaveBeenCalledExactlyOnceWith(named(failed, "boom"), expect.any(String)),
    SOON,
  );
  expect(log.warn.mock.lastCall?.[0]).toMatchObject({
    status: "failed",
    err: new PermanentJobError("no such cluster"),
  });
});
