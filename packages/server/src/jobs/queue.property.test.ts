import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Queries } from "../database/transaction.ts";
import { claim, enqueue, fail, type Hold, release, renew, succeed } from "./job.store.ts";
import { age } from "./jobs.fixture.ts";

/** Each step lasts an hour of the queue's time; what the test itself takes is nothing beside it. */
const HOUR_MS = 60 * 60_000;
const LEASE_HOURS = 4;
const WORKERS = ["a", "b", "c"] as const;
const KINDS_OF = { a: ["x", "y"], b: ["x", "y"], c: ["x"] } as const;

type Step =
  | {
      readonly do: "enqueue";
      readonly kind: "x" | "y";
      readonly lane: string | null;
      readonly inHours: number;
      readonly maxAttempts: number;
    }
  | { readonly do: "claim"; readonly worker: (typeof WORKERS)[number]; readonly limit: number }
  | { readonly do: "renew" | "succeed" | "release" | "fail for good"; readonly hold: number }
  | { readonly do: "fail"; readonly hold: number; readonly inHours: number }
  | { readonly do: "wait"; readonly hours: number };

interface ModelJob {
  readonly id: string;
  readonly kind: string;
  readonly lane: string | null;
  readonly maxAttempts: number;
  status: "pending" | "running" | "succeeded" | "failed";
  attempts: number;
  fence: number;
  worker: string | null;
  /** Hours, and to tell equal hours apart the step that set them: real time passed between two steps. */
  runAt: readonly [hour: number, step: number];
  leaseUntil: readonly [hour: number, step: number];
}

/** The promises of the queue for a single reader and writer. */
class Model {
  readonly jobs: ModelJob[] = [];
  hour = 0;
  step = 0;

  claim(workerId: string, kinds: readonly string[], limit: number): ModelJob[] {
    const expired = this.jobs.filter((job) => job.status === "running" && job.leaseUntil[0] <= this.hour);
    for (const job of expired) if (job.attempts >= job.maxAttempts) job.status = "failed";
    const abandoned = expired
      .filter((job) => job.status === "running" && kinds.includes(job.kind))
      .sort((one, other) => compare(one.leaseUntil, other.leaseUntil) || compareIds(one, other))
      .slice(0, limit);
    const due = this.jobs
      .filter((job) => job.status === "pending" && job.runAt[0] <= this.hour && kinds.includes(job.kind))
      .filter((job) => job.lane === null || this.#isNextOfLane(job))
      .sort(inOrder)
      .slice(0, limit - abandoned.length);
    for (const job of [...abandoned, ...due]) {
      const leaseUntil = [this.hour + LEASE_HOURS, this.step] as const;
      Object.assign(job, {
        status: "running",
        attempts: job.attempts + 1,
        fence: job.fence + 1,
        worker: workerId,
        leaseUntil,
      });
    }
    return [...abandoned, ...due].sort(inOrder);
  }

  heldBy({ id, fence, workerId }: Hold): ModelJob | undefined {
    return this.jobs.find(
      (job) => job.id === id && job.fence === fence && job.worker === workerId && job.status === "running",
    );
  }

  #isNextOfLane(job: ModelJob): boolean {
    const lane = this.jobs.filter(({ lane }) => lane === job.lane);
    return (
      !lane.some(({ status }) => status === "running") &&
      lane.filter(({ status }) => status === "pending").sort(inOrder)[0] === job
    );
  }
}

const compare = (one: readonly [number, number], other: readonly [number, number]) =>
  one[0] - other[0] || one[1] - other[1];
const compareIds = (one: ModelJob, other: ModelJob) => (one.id < other.id ? -1 : 1);
const inOrder = (one: ModelJob, other: ModelJob) => compare(one.runAt, other.runAt) || compareIds(one, other);

/** Runs the steps on the queue and on the model, and holds one against the other after each. */
class Replay {
  readonly #db: Queries;
  readonly #model = new Model();
  readonly #holds: Hold[] = [];
  /** Until which hour a job is somebody's: kept apart from the model, from the answers alone. */
  readonly #leasedUntil = new Map<string, number>();

  constructor(db: Queries) {
    this.#db = db;
  }

  async take(step: Step): Promise<void> {
    this.#model.step++;
    await this.#pass(step.do === "wait" ? step.hours : 1);
    if (step.do === "enqueue") await this.#enqueue(step);
    else if (step.do === "claim") await this.#claim(step.worker, step.limit);
    else if (step.do !== "wait" && this.#holds.length > 0) await this.#end(step);
    await this.#compare();
  }

  async #pass(hours: number): Promise<void> {
    this.#model.hour += hours;
    await age(this.#db, hours * HOUR_MS);
  }

  async #enqueue({ kind, lane, inHours, maxAttempts }: Step & { do: "enqueue" }): Promise<void> {
    // A quarter of an hour keeps appointments, which are whole milliseconds, from meeting times of the database.
    const delayHours = inHours && inHours + 0.25;
    const runAt = new Date(Date.now() + delayHours * HOUR_MS);
    const id = await enqueue(this.#db, {
      kind,
      payload: {},
      maxAttempts,
      ...(lane && { lane }),
      ...(inHours && { runAt }),
    });
    const unclaimed = { status: "pending", attempts: 0, fence: 0, worker: null, leaseUntil: [0, 0] } as const;
    this.#model.jobs.push({
      id,
      kind,
      lane,
      maxAttempts,
      ...unclaimed,
      runAt: [this.#model.hour + delayHours, this.#model.step],
    });
  }

  async #claim(workerId: (typeof WORKERS)[number], limit: number): Promise<void> {
    const kinds = KINDS_OF[workerId];
    const maxAttemptsByKind = Object.fromEntries(kinds.map((kind) => [kind, 1]));
    const claimed = await claim(this.#db, { workerId, maxAttemptsByKind, leaseMs: LEASE_HOURS * HOUR_MS, limit });
    const expected = this.#model.claim(workerId, kinds, limit);
    expect(claimed.map(({ id, fence, attempts }) => ({ id, fence, attempts }))).toEqual(
      expected.map(({ id, fence, attempts }) => ({ id, fence, attempts })),
    );
    for (const { id, fence } of claimed) {
      expect(this.#leasedUntil.get(id) ?? 0).toBeLessThanOrEqual(this.#model.hour);
      this.#leasedUntil.set(id, this.#model.hour + LEASE_HOURS);
      this.#holds.push({ id, fence, workerId });
    }
  }

  async #end(step: Step & { hold: number }): Promise<void> {
    const hold = this.#holds[step.hold % this.#holds.length];
    if (!hold) return;
    const job = this.#model.heldBy(hold);
    const [kept, after] = await this.#write(step, hold, job);
    expect(kept).toBe(job !== undefined);
    if (!job) return;
    Object.assign(job, after);
    if (step.do === "renew") this.#leasedUntil.set(hold.id, this.#model.hour + LEASE_HOURS);
    else this.#leasedUntil.delete(hold.id);
  }

  async #write(step: Step, hold: Hold, job: ModelJob | undefined): Promise<[boolean, Partial<ModelJob>]> {
    const { hour, step: number } = this.#model;
    switch (step.do) {
      case "renew":
        return [await renew(this.#db, hold, LEASE_HOURS * HOUR_MS), { leaseUntil: [hour + LEASE_HOURS, number] }];
      case "succeed":
        return [await succeed(this.#db, hold, null), { status: "succeeded" }];
      case "release":
        return [await release(this.#db, hold), { status: "pending", attempts: (job?.attempts ?? 0) - 1, worker: null }];
      case "fail": {
        const failure = {
          status: "pending",
          retryInMs: (step.inHours + 0.5) * HOUR_MS,
          errorMessage: "not yet",
        } as const;
        return [await fail(this.#db, hold, failure), { status: "pending", runAt: [hour + step.inHours + 0.5, number] }];
      }
      case "fail for good":
        return [await fail(this.#db, hold, { status: "failed", errorMessage: "no" }), { status: "failed" }];
      case "claim":
      case "enqueue":
      case "wait":
        throw new Error(`${step.do} writes nothing under a hold`);
    }
  }

  async #compare(): Promise<void> {
    const rows = await this.#db.selectFrom("jobs").selectAll().orderBy("id").execute();
    expect(
      rows.map(({ id, status, attempts, fence, worker_id: worker }) => ({ id, status, attempts, fence, worker })),
    ).toEqual(
      this.#model.jobs.map(({ id, status, attempts, fence, worker }) => ({ id, status, attempts, fence, worker })),
    );
    const busy = rows.flatMap(({ status, lane }) => (status === "running" && lane !== null ? [lane] : []));
    expect(new Set(busy).size).toBe(busy.length);
  }
}

const hold = fc.nat({ max: 1_000 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("enqueue" as const),
      kind: fc.constantFrom("x" as const, "y" as const),
      lane: fc.constantFrom(null, "l1", "l2"),
      inHours: fc.constantFrom(0, 0, 0, 1, 5),
      maxAttempts: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      worker: fc.constantFrom(...WORKERS),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("renew" as const, "succeed" as const, "release" as const, "fail for good" as const),
      hold,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("fail" as const), hold, inHours: fc.integer({ min: 0, max: 6 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: LEASE_HOURS + 1 }) }),
  },
);

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test("[JB12] no job is lost, held twice or run beside another of its lane, whatever workers do in whatever order", async () => {
  const db = fresh.database.kysely;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 60 }), async (steps) => {
      await db.deleteFrom("jobs").execute();
      const replay = new Replay(db);
      for (const step of steps) await replay.take(step);
    }),
    { numRuns: 60, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
  );
}, 120_000);
