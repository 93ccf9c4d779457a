import type { Bus } from "../bus/bus.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { claim, release } from "./job.store.ts";
import { DEFAULT_MAX_ATTEMPTS, JOBS_TOPIC } from "./job.ts";
import { type JobHandler, type RunningJob, runJob } from "./running-job.runner.ts";

/** The pause of a loop that can be woken. */
export interface Sleeper {
  /** Ends early when woken; at once when woken since the last sleep, so that no call is missed between two. */
  sleep(ms: number): Promise<void>;
  /** Ends early only with `end`. */
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
  readonly db: Queries;
  readonly bus: Bus;
  readonly log: Log;
  /** By kind. Jobs of another kind are left to workers that know it. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  readonly concurrency?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

export interface Worker {
  readonly workerId: string;
  /** Claims nothing more, waits for the jobs that run, and gives back those that run longer than `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

/** For handlers to heed their signal and for the writes that give jobs back; leases take care of what remains. */
const GIVE_BACK_MS = 3_000;

/**
 * Claims jobs and runs them, as many at a time as `concurrency` says. A worker that dies leaves its leases: they end
 * within `leaseMs`, and the next poll of any worker takes the jobs up, so a job resumes within both together.
 */
export function startWorker(options: WorkerOptions): Worker {
  const { db, bus, log, handlers, concurrency = 8, leaseMs = 10_000, pollMs = 1_000 } = options;
  const workerId = newId();
  const maxAttemptsByKind = Object.fromEntries(
    Object.entries(handlers).map(([kind, { maxAttempts = DEFAULT_MAX_ATTEMPTS }]) => [kind, maxAttempts]),
  );
  const outage = watchOutage(log, "the database of the job queue");
  const abandoned = new AbortController();
  const running = new Set<RunningJob>();
  const sleeper = createSleeper();
  let stopping = false;

  async function claimFree(): Promise<void> {
    const limit = concurrency - running.size;
    if (limit === 0) return;
    const claimSentAtMs = performance.now();
    const jobs = await claim(db, { workerId, maxAttemptsByKind, leaseMs, limit });
    outage.recovered();
    for (const job of jobs) {
      if (stopping) {
        // The stop came while the claim was under way.
        await release(db, { ...job, workerId });
        continue;
      }
      const handler = handlers[job.kind];
      if (!handler) continue;
      const one = runJob(job, handler, claimSentAtMs, {
        db,
        log,
        outage,
        workerId,
        leaseMs,
        abandoned: abandoned.signal,
      });
      running.add(one);
      void one.done.then(() => {
        running.delete(one);
        // A place is free, and perhaps the job's lane.
        sleeper.wake();
      });
    }
  }

  async function work(): Promise<void> {
    let failures = 0;
    while (!stopping) {
      try {
        await claimFree();
        failures = 0;
        if (!stopping) await sleeper.sleep(pollMs);
      } catch (error) {
        outage.failed(error);
        failures++;
        // Hints do not cut this pause short: a database in trouble is not asked faster because there is work.
        if (!stopping) await sleeper.rest(pauseMsAfter(failures));
      }
    }
  }

  const unsubscribe = bus.subscribe(JOBS_TOPIC, sleeper.wake);
  const working = work();

  async function drain(): Promise<void> {
    await working;
    while (running.size > 0) await Promise.all([...running].map(({ done }) => done));
  }

  return {
    workerId,
    async stop(drainMs) {
      stopping = true;
      unsubscribe();
      sleeper.end();
      const drained = drain();
      if (await within(drainMs, drained)) return;
      for (const job of running) job.giveBack();
      if (!(await within(GIVE_BACK_MS, drained))) log.warn("a worker stopped with jobs it could not give back");
      abandoned.abort();
    },
  };
}

async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const tooLate = Promise.withResolvers<false>();
  const timer = setTimeout(tooLate.resolve, ms, false);
  const inTime = await Promise.race([work.then(() => true), tooLate.promise]);
  clearTimeout(timer);
  return inTime;
}
