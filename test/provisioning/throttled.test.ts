import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createMemoryBus } from "../../packages/server/src/bus/bus.adapter.ts";
import { CloudRefusal } from "../../packages/server/src/cloud/provider.ts";
import { inTransaction, type Queries } from "../../packages/server/src/database/transaction.ts";
import { startWorker, type Worker } from "../../packages/server/src/jobs/worker.runner.ts";
import { logLines, stopJobs } from "../../packages/server/src/provisioning/provisioning.store.ts";
import { type FreshDatabase, freshDatabase } from "../world/database.ts";
import { type LocalCloud, localCloud, localProvider } from "./local-provider.ts";
import { addJob, handlerFor, newCluster, recordOf, retryJob, settingsFor, silent } from "./stage.ts";

const SOON = { timeout: 20_000, interval: 20 };
const BUSY = new CloudRefusal({ code: "throttled", message: "AWS answers fewer calls of the account for now." });
const REFUSED = new CloudRefusal({ code: "permission_denied", message: "It may not be asked." });
const WAIT_MS = 10_000;

let fresh: FreshDatabase;
let db: Queries;
let cloud: LocalCloud;
let worker: Worker;
let calls = 0;
let answer = BUSY;
const bus = createMemoryBus(silent);

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.database.kysely;
  cloud = await localCloud();
});
afterAll(() => fresh?.drop());
afterEach(() => worker?.stop(0));

/** A worker with one slot, whose cloud refuses every call. Nothing is asked of OpenTofu but to be prepared. */
function start(): void {
  answer = BUSY;
  calls = 0;
  const existing = async () => {
    calls++;
    throw answer;
  };
  const provider = { ...localProvider({ folder: cloud.folder }), existing };
  const handler = handlerFor({ db, bus, provider, settings: settingsFor("/bin/true"), random: () => 0 });
  worker = startWorker({ db, bus, log: silent, handlers: { provisioning: handler }, pollMs: 20, concurrency: 1 });
}

const queuedOf = (cluster: string) =>
  db.selectFrom("jobs").selectAll().where("lane", "=", cluster).orderBy("id", "desc").executeTakeFirstOrThrow();

/** The job after the worker has put it back once more. */
const waiting = (job: string, throttles: number) =>
  vi.waitFor(async () => {
    const record = await recordOf(db, job);
    if (!record?.retry_at || record.throttles !== throttles) throw new Error("It does not wait yet.");
    const queued = await queuedOf(record.cluster_id);
    if (queued.status !== "pending") throw new Error("Its queued job is not put back yet.");
    return { record, queued };
  }, SOON);

const ended = (job: string) =>
  vi.waitFor(async () => {
    const record = await recordOf(db, job);
    if (record?.status !== "failed") throw new Error(`The job is ${record?.status}.`);
    return record;
  }, SOON);

const makeDue = (cluster: string) =>
  db
    .updateTable("jobs")
    .set({ run_at: new Date(0) })
    .where("lane", "=", cluster)
    .where("status", "=", "pending")
    .execute();

describe("a job whose cloud throttles it", () => {
  test("[PN173] it waits without a slot and without an attempt, says so, and goes on by itself", async () => {
    const cluster = await newCluster(db, 0);
    start();
    const before = Date.now();
    const job = await addJob(db, cluster, "create", 1);
    const first = await waiting(job, 1);
    expect(first.record).toMatchObject({ status: "pending", error_code: null, error_message: null, finished_at: null });
    expect(Number(first.record.retry_at)).toBeGreaterThanOrEqual(before + 15_000);
    expect(first.queued.attempts).toBe(0);
    expect(Number(first.queued.run_at)).toBeGreaterThan(before + WAIT_MS);
    expect((await logLines(db, job)).at(-1)).toBe(
      `AWS answers fewer calls of the account for now. The job goes on by itself at ${first.record.retry_at?.toISOString()}.`,
    );

    // The one slot of the worker is free for another cluster, and the job itself is not run before its time.
    answer = REFUSED;
    expect(await ended(await addJob(db, await newCluster(db, 0), "create", 1))).toMatchObject({
      error_code: "permission_denied",
    });
    expect(calls).toBe(2);
    answer = BUSY;
    await makeDue(cluster);
    expect((await waiting(job, 2)).queued.attempts).toBe(0);
    answer = REFUSED;
    await makeDue(cluster);
    expect(await ended(job)).toMatchObject({ error_code: "permission_denied", attempts: 3, retry_at: null });
  });

  test("[PN173] after ten waits it fails, and a retry counts anew", async () => {
    const cluster = await newCluster(db, 0);
    start();
    const job = await addJob(db, cluster, "create", 1);
    await waiting(job, 1);
    await db.updateTable("provisioning_jobs").set({ throttles: 10 }).where("id", "=", job).execute();
    await makeDue(cluster);
    expect(await ended(job)).toMatchObject({
      error_code: "throttled",
      error_message: expect.stringContaining("retry the job later"),
    });
    await retryJob(db, job);
    expect((await waiting(job, 1)).record.throttled_since).not.toBeNull();
  });

  test("[PN173] a job that waits is stopped at once by the deletion of its cluster, whose destroy does not wait for it", async () => {
    const cluster = await newCluster(db, 0);
    start();
    const job = await addJob(db, cluster, "create", 1);
    await waiting(job, 1);
    await inTransaction(db, (tx) => stopJobs(tx, cluster, "The cluster was deleted.", new Date()));
    expect(await recordOf(db, job)).toMatchObject({ status: "failed", error_code: "cancelled", retry_at: null });
    const destroy = await addJob(db, cluster, "destroy", null);
    await vi.waitFor(async () => expect(await recordOf(db, destroy)).toBeUndefined(), SOON);
  });
});
