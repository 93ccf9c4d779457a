import { setTimeout as delay } from "node:timers/promises";
import type { Queries } from "../database/transaction.ts";
import { type Log, type Outage, pauseMsAfter } from "../outage.ts";
import { fail, type Hold, release, renew, succeed } from "./job.store.ts";
import { afterFailure, type Failure, type Job, PermanentJobError } from "./job.ts";

export interface LeaseOptions {
  readonly leaseMs: number;
  /** When the claim was sent, on the monotonic clock. */
  readonly claimSentAtMs: number;
  /** False when somebody else holds the job. */
  readonly renew: () => Promise<boolean>;
  readonly onRenewalError: (error: unknown) => void;
  /** Called at most once, and not after `stop`. */
  readonly onLost: (reason: string) => void;
}

export interface Lease {
  stop(): void;
}

/**
 * Renews a lease three times within its length, and reports it lost when a renewal says so or when none got through for
 * a whole length: then another worker may hold the job, though this one, cut off from the database, cannot know. The
 * length counts from when a renewal was sent, so that the end is seen here before it comes there.
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

  // A beat does not wait for the one before it, which may hang on a dead connection until the lease is over.
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
   * Aborted when the job is no longer this worker's to run. From then on another may run it, so everything a handler
   * waits for takes this signal. A handler that breaks off because of it throws: to return means that the job is done.
   */
  readonly signal: AbortSignal;
  /** Goes into a handler's writes of its own, to refuse those of a holder before it. */
  readonly fence: number;
  readonly db: Queries;
}

export interface JobHandler {
  /** May be called again for the same job after any step of it: a worker can die at every point. */
  run(job: Job, context: JobContext): Promise<object | undefined>;
  /** For jobs enqueued without a number of their own. */
  readonly maxAttempts?: number;
}

export interface RunningJob {
  /** Settles when the job is out of this worker's hands; never rejects. */
  readonly done: Promise<void>;
  /** Aborts the handler and puts the job back into the queue. */
  giveBack(): void;
}

interface Ports {
  readonly db: Queries;
  readonly log: Log;
  readonly outage: Outage;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Aborted when nobody waits for outcomes any more. */
  readonly abandoned: AbortSignal;
}

type Outcome =
  | { readonly is: "done"; readonly resultJson: string | null }
  | { readonly is: "failed"; readonly failure: Failure }
  | { readonly is: "given back" };

/** How long a handler may take to heed its signal before its job is given back over its head. */
const HEED_ABORT_MS = 1_000;

const UNSTORABLE = "The job's work was done, but its result cannot be stored.";

export function runJob(job: Job, handler: JobHandler, claimSentAtMs: number, ports: Ports): RunningJob {
  const { db, log, workerId, leaseMs } = ports;
  const hold: Hold = { id: job.id, fence: job.fence, workerId };
  const names = { jobId: job.id, kind: job.kind, attempt: job.attempts };
  const controller = new AbortController();
  const givenBack = Promise.withResolvers<Outcome>();
  let givingBack = false;
  let lost = false;

  async function handle(): Promise<Outcome> {
    try {
      const result = await handler.run(job, { signal: controller.signal, fence: job.fence, db });
      return { is: "done", resultJson: toJson(result) };
    } catch (error) {
      // What a handler throws once it is told to stop is the stop, and no fault of the job.
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
      renew: () => renew(db, hold, leaseMs),
      onRenewalError: ports.outage.failed,
      onLost(reason) {
        lost = true;
        log.warn({ ...names, reason }, "a job was lost to this worker; what its handler still does is dropped");
        controller.abort(new Error(`The job is no longer this worker's: ${reason}.`));
      },
    });
    try {
      const outcome = await Promise.race([handle(), givenBack.promise]);
      if (!lost) await settle(outcome);
    } finally {
      lease.stop();
    }
  }

  /** Tries until it is written, also after the lease's end: the fence decides whether the outcome still counts. */
  async function settle(outcome: Outcome): Promise<void> {
    for (let tries = 1; !ports.abandoned.aborted; tries++) {
      try {
        const kept = await write(outcome);
        if (!kept) log.warn(names, "a job's outcome was dropped: another worker took the job");
        return;
      } catch (error) {
        // A result that the database never takes is not offered for ever.
        if (outcome.is === "done" && isValueRefused(error)) return settle(unstorable(error));
        ports.outage.failed(error);
        await delay(pauseMsAfter(tries), undefined, { signal: ports.abandoned }).catch(() => undefined);
      }
    }
  }

  function write(outcome: Outcome): Promise<boolean> {
    switch (outcome.is) {
      case "done":
        return succeed(db, hold, outcome.resultJson);
      case "failed":
        return fail(db, hold, outcome.failure);
      case "given back":
        return release(db, hold);
    }
  }

  function unstorable(cause: unknown): Outcome {
    log.error({ ...names, err: cause }, "a job's result cannot be stored");
    return { is: "failed", failure: { status: "failed", errorMessage: UNSTORABLE } };
  }

  return {
    done: run().catch((error: unknown) => log.error({ ...names, err: error }, "a job was dropped by this worker")),
    giveBack() {
      givingBack = true;
      controller.abort(new Error("The worker stops."));
      setTimeout(givenBack.resolve, HEED_ABORT_MS, { is: "given back" }).unref();
    },
  };
}

/** The work is done when its result turns out to be of no use, so doing it again would only repeat that. */
function toJson(result: object | undefined): string | null {
  try {
    return result ? JSON.stringify(result) : null;
  } catch (error) {
    throw new PermanentJobError(UNSTORABLE, { cause: error });
  }
}

/** JSON with what `jsonb` does not hold, such as NUL, or too much of it. */
function isValueRefused(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^(22|54)...$/.test(code);
}
