import type { Bus } from "../bus/bus.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { claim, nextDueMs, release } from "./job.store.ts";
import { DEFAULT_MAX_ATTEMPTS, idlePauseMs, JOBS_TOPIC } from "./job.ts";
import { ABORT_GRACE_MS, type JobHandler, type RunningJob, runJob } from "./running-job.runner.ts";

/** The interruptible pause of a loop. */
export interface Sleeper {
  /** Ends early when woken, and at once if it was woken since the last sleep. */
  sleep(ms: number): Promise<void>;
  /** Only `end` ends it early. */
  rest(ms: number): Promise<void>;
  readonly wake: () => void;
  /** Ends this and every later sleep and rest. */
  end(): void;
}

export function createSleeper(): Sleeper {
  let woken = false;
  let ended = false;
  let current: { readonly wakeable: boolean; wake(): void } | null = null;

  async function pause(ms: number, wakeable: boolean): Promise<void> {
    if (!ended && !(wakeable && woken)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      current = { wakeable, wake: resolve };
      await promise;
      clearTimeout(timer);
      current = null;
    }
    if (wakeable) woken = false;
  }

  return {
    sleep: (ms) => pause(ms, true),
    rest: (ms) => pause(ms, false),
    wake() {
      woken = true;
      if (current?.wakeable) current.wake();
    },
    end() {
      ended = true;
      current?.wake();
    },
  };
}

export interface WorkerOptions {
  /** For handlers. */
  readonly db: Queries;
  /** For claims, renewals and outcomes, which must not wait for the statements of others. */
  readonly queueDb?: Queries;
  readonly bus: Bus;
  readonly log: Log;
  /** Handlers by kind. Jobs of other kinds are left to other workers. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly concurrency?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

export interface Worker {
  readonly workerId: string;
  /** Claims nothing more, waits for running jobs, and releases those that run longer than `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

/** The time for releasing jobs after their handlers had time to react to the signal. Leases cover the rest. */
const RELEASE_MS = 2_000;

/**
 * Claims and runs jobs, at most `concurrency` at a time. The leases of a worker that dies expire within `leaseMs`, and
 * the next poll of any worker claims its jobs.
 */
export function startWorker(options: WorkerOptions): Worker {
  const { db, queueDb = db, bus, log, handlers, concurrency = 8, leaseMs = 10_000, pollMs = 1_000 } = options;
  const workerId = newId();
  const maxAttemptsByKind = Object.fromEntries(
    Object.entries(handlers).map(([kind, { maxAttempts = DEFAULT_MAX_ATTEMPTS }]) => [kind, maxAttempts]),
  );
  const outage = watchOutage(log, "the database of the job queue");
  const abandoned = new AbortController();
  const running = new Set<RunningJob>();
  const sleeper = createSleeper();
  let stopping = false;

  /** Returns how long it may be until the next claim. */
  async function claimFree(): Promise<number> {
    const limit = concurrency - running.size;
    if (limit === 0) return pollMs;
    const claimSentAtMs = performance.now();
    const jobs = await claim(queueDb, { workerId, maxAttemptsByKind, leaseMs, limit });
    outage.recovered();
    for (const job of jobs) {
      if (stopping) {
        // The worker was stopped during the claim.
        await release(queueDb, { ...job, workerId });
        continue;
      }
      const handler = handlers[job.kind];
      if (!handler) continue;
      const one = runJob(job, handler, claimSentAtMs, {
        db,
        queueDb,
        log,
        outage,
        workerId,
        leaseMs,
        abandoned: abandoned.signal,
      });
      running.add(one);
      void one.done.then(() => {
        running.delete(one);
        // A slot is free, and perhaps the job's lane.
        sleeper.wake();
      });
    }
    return jobs.length > 0 ? pollMs : idlePauseMs(pollMs, await nextDueMs(queueDb, Object.keys(handlers)));
  }

  async function work(): Promise<void> {
    let failures = 0;
    while (!stopping) {
      try {
        const pauseMs = await claimFree();
        failures = 0;
        if (!stopping) await sleeper.sleep(pauseMs);
      } catch (error) {
        outage.failed(error);
        failures++;
        // Hints do not end this pause early, so that a failing database gets no extra load.
        if (!stopping) await sleeper.rest(pauseMsAfter(failures));
      }
    }
  }

  const unsubscribes = [bus.subscribe(JOBS_TOPIC, sleeper.wake), bus.onMissed(sleeper.wake)];
  const working = work();

  async function drain(): Promise<void> {
    await working;
    while (running.size > 0) await Promise.all([...running].map(({ done }) => done));
  }

  return {
    workerId,
    async stop(drainMs) {
      stopping = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
      sleeper.end();
      const drained = drain();
      if (await within(drainMs, drained)) return;
      for (const job of running) job.giveBack();
      const graces = Object.values(handlers).map(({ graceMs = ABORT_GRACE_MS }) => graceMs);
      if (!(await within(Math.max(...graces, 0) + RELEASE_MS, drained)))
        log.warn("a worker stopped before it could release all of its jobs");
      abandoned.abort();
    },
  };
}

async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const tooLate = Promise.withResolvers<false>();
  const timer = setTimeout(tooLate.resolve, ms, false);
  const withTimeout = await Promise.race([work.then(() => true), tooLate.promise]);
  clearTimeout(timer);
  return withTimeout;
}
