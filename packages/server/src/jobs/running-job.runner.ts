import { setTimeout as delay } from "node:timers/promises";
import type { Queries } from "../database/transaction.ts";
import { type Log, type Outage, pauseMsAfter } from "../outage.ts";
import { fail, type Hold, release, renew, succeed } from "./job.store.ts";
import { afterFailure, type Failure, type Job, LeaseLost, PermanentJobError, WorkerStops } from "./job.ts";

export interface LeaseOptions {
  readonly leaseMs: number;
  /** The time of the claim, on the monotonic clock. */
  readonly claimSentAtMs: number;
  /** Returns false where another worker holds the job. */
  readonly renew: () => Promise<boolean>;
  readonly onRenewalError: (error: unknown) => void;
  /** Called at most once, and never after `stop`. */
  readonly onLost: (reason: string) => void;
}

export interface Lease {
  stop(): void;
}

/**
 * Renews a lease three times per length. Reports it as lost if a renewal says so or if none succeeded for a whole
 * length: another worker may then hold the job. The length counts from when a renewal was sent, so that this worker
 * notices the end before another one can claim the job.
 */
export function keepLease({ leaseMs, claimSentAtMs, renew, onRenewalError, onLost }: LeaseOptions): Lease {
  let heldSinceMs = claimSentAtMs;
  let deadline: NodeJS.Timeout | undefined;
  let ended = false;

  function stop() {
    ended = true;
    clearTimeout(deadline);
    clearInterval(beat);
  }

  function lose(reason: string) {
    if (ended) return;
    stop();
    onLost(reason);
  }

  function holdFrom(sentAtMs: number) {
    if (ended || sentAtMs < heldSinceMs) return;
    heldSinceMs = sentAtMs;
    clearTimeout(deadline);
    const restMs = sentAtMs + leaseMs - performance.now();
    deadline = setTimeout(lose, restMs, "its lease could not be renewed in time");
  }

  // A renewal does not wait for the previous one, which may hang on a dead connection until the lease expires.
  async function renewOnce() {
    const sentAtMs = performance.now();
    try {
      if (await renew()) holdFrom(sentAtMs);
      else lose("another worker took it");
    } catch (error) {
      if (!ended) onRenewalError(error);
    }
  }

  const beat = setInterval(() => void renewOnce(), leaseMs / 3);
  holdFrom(claimSentAtMs);
  return { stop };
}

export interface JobContext {
  /**
   * Aborted with `WorkerStops` or `LeaseLost`. Another worker may run the job from then on, so a handler passes this signal
   * to everything that it waits for. A handler that stops because of it must throw: returning means that the job is done.
   */
  readonly signal: AbortSignal;
  /** The fencing token for a handler's own writes, to refuse those of an earlier holder. */
  readonly fence: number;
  readonly db: Queries;
}

export interface JobHandler {
  /** May be called again for the same job after any step, because a worker can die at any point. */
  run(job: Job, context: JobContext): Promise<object | undefined>;
  /** The attempts of jobs that were enqueued without a number. */
  readonly maxAttempts?: number;
  /** The time to react to the signal of a worker that stops; a second where it is left out. */
  readonly graceMs?: number;
}

export interface RunningJob {
  /** Resolves when the outcome is stored or the job is given up; never rejects. */
  readonly done: Promise<void>;
  /** Aborts the handler and returns the job to the queue. */
  giveBack(): void;
}

interface Ports {
  readonly db: Queries;
  readonly queueDb: Queries;
  readonly log: Log;
  readonly outage: Outage;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Aborted when outcomes are no longer awaited. */
  readonly abandoned: AbortSignal;
}

type Outcome =
  | { readonly is: "done"; readonly resultJson: string | null }
  | { readonly is: "failed"; readonly failure: Failure }
  | { readonly is: "given back" };

/** The time for a handler to react to its signal, after which its job is released anyway. */
export const ABORT_GRACE_MS = 1_000;

const UNSTORABLE = "The job's work was done, but its result cannot be stored.";

export function runJob(job: Job, handler: JobHandler, claimSentAtMs: number, ports: Ports): RunningJob {
  const { db, queueDb, log, workerId, leaseMs } = ports;
  const hold: Hold = { id: job.id, fence: job.fence, workerId };
  const names = { jobId: job.id, kind: job.kind, attempt: job.attempts, createdBy: job.createdBy };
  const controller = new AbortController();
  const givenBack = Promise.withResolvers<Outcome>();
  let givingBack = false;
  let lost = false;

  async function handle(): Promise<Outcome> {
    try {
      const result = await handler.run(job, { signal: controller.signal, fence: job.fence, db });
      return { is: "done", resultJson: toJson(result) };
    } catch (error) {
      // An error after the abort is caused by it and is not a failure of the job.
      if (givingBack) return { is: "given back" };
      const failure = afterFailure(job, error, Math.random);
      if (!lost) log.warn({ ...names, err: error, status: failure.status }, "a job's handler failed");
      return { is: "failed", failure };
    }
  }

  async function run(): Promise<void> {
    const lease = keepLease({
      leaseMs,
      claimSentAtMs,
      renew: () => renew(queueDb, hold, leaseMs),
      onRenewalError: ports.outage.failed,
      onLost(reason) {
        lost = true;
        log.warn({ ...names, reason }, "a job's lease was lost; the outcome of its handler is dropped");
        controller.abort(new LeaseLost(`The lease of the job was lost: ${reason}.`));
      },
    });
    try {
      const outcome = await Promise.race([handle(), givenBack.promise]);
      if (!lost) await settle(outcome);
    } finally {
      lease.stop();
    }
  }

  /**
   * Retries until the outcome is stored, even after the lease has expired: the fencing token decides whether it still
   * counts.
   */
  async function settle(outcome: Outcome): Promise<void> {
    for (let tries = 1; !ports.abandoned.aborted; tries++) {
      try {
        const kept = await write(outcome);
        if (!kept) log.warn(names, "a job's outcome was dropped: another worker has claimed the job");
        else if (outcome.is === "done") log.info(names, "a job is done");
        return;
      } catch (error) {
        // A result that the database refuses is not retried.
        if (outcome.is === "done" && isValueRefused(error)) return settle(unstorable(error));
        ports.outage.failed(error);
        await delay(pauseMsAfter(tries), undefined, { signal: ports.abandoned }).catch(() => undefined);
      }
    }
  }

  function write(outcome: Outcome): Promise<boolean> {
    switch (outcome.is) {
      case "done":
        return succeed(queueDb, hold, outcome.resultJson);
      case "failed":
        return fail(queueDb, hold, outcome.failure);
      case "given back":
        return release(queueDb, hold);
    }
  }

  function unstorable(cause: unknown): Outcome {
    log.error({ ...names, err: cause }, "a job's result cannot be stored");
    return { is: "failed", failure: { status: "failed", errorMessage: UNSTORABLE } };
  }

  return {
    done: run().catch((error: unknown) =>
      log.error({ ...names, err: error }, "a job was abandoned after an unexpected error"),
    ),
    giveBack() {
      givingBack = true;
      controller.abort(new WorkerStops("The worker stops."));
      setTimeout(givenBack.resolve, handler.graceMs ?? ABORT_GRACE_MS, { is: "given back" }).unref();
    },
  };
}

/** The work is done already when its result turns out not to be JSON, so a retry would not help. */
function toJson(result: object | undefined): string | null {
  try {
    return result ? JSON.stringify(result) : null;
  } catch (error) {
    throw new PermanentJobError(UNSTORABLE, { cause: error });
  }
}

/** Returns whether `jsonb` refuses the value, because of NUL or its size. */
function isValueRefused(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^(22|54)...$/.test(code);
}
