/** The bus topic that announces new jobs. */
export const JOBS_TOPIC = "jobs";

export const DEFAULT_MAX_ATTEMPTS = 5;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5 * 60_000;
const LONGEST_ERROR_MESSAGE = 2_000;

/** A claimed job. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly lane: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** The fencing token, greater than that of every earlier holder. A handler can guard its own writes with it. */
  readonly fence: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

/** A handler throws it if a retry cannot help. The message is stored and shown to people. */
export class PermanentJobError extends Error {
  override readonly name = "PermanentJobError";
}

/**
 * A handler throws it where somebody else asks it to wait: the job is due again after the time, and no attempt is counted. The
 * handler bounds how often that may be.
 */
export class RunLater extends Error {
  override readonly name = "RunLater";
  readonly delayMs: number;
  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/** The reason of a signal where another worker may run the job already: the handler must stop at once. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The reason of a signal where the worker stops: the job is given back, and what runs may end in order. */
export class WorkerStops extends Error {
  override readonly name = "WorkerStops";
}

export type Failure =
  | {
      readonly status: "pending";
      readonly retryInMs: number;
      readonly errorMessage: string;
      /** No attempt is counted. */
      readonly isFree?: true;
    }
  | { readonly status: "failed"; readonly errorMessage: string };

/** Decides whether a failed job is retried. */
export function afterFailure(
  job: Pick<Job, "attempts" | "maxAttempts">,
  error: unknown,
  random: () => number,
): Failure {
  const errorMessage = storedMessage(error);
  if (error instanceof RunLater) return { status: "pending", retryInMs: error.delayMs, errorMessage, isFree: true };
  return error instanceof PermanentJobError || job.attempts >= job.maxAttempts
    ? { status: "failed", errorMessage }
    : { status: "pending", retryInMs: retryInMs(job.attempts, random), errorMessage };
}

/**
 * Full jitter: a random delay up to a bound that doubles with each attempt, so that jobs which failed together are not
 * retried together.
 */
export function retryInMs(attempts: number, random: () => number): number {
  const longestMs = Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, attempts - 1), LONGEST_RETRY_MS);
  return Math.floor(random() * longestMs);
}

/** Returns the message without the stack, and without NUL, which PostgreSQL cannot store. */
export function storedMessage(error: unknown): string {
  return wordsOf(error).replaceAll("\0", "").slice(0, LONGEST_ERROR_MESSAGE).toWellFormed() || "The job failed.";
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return "";
  // Node reports a host without a reachable address as an AggregateError without a message.
  if (!error.message && error instanceof AggregateError) return error.errors.map(wordsOf).filter(Boolean).join("; ");
  return error.message || error.name;
}

/** A worker that has nothing to do looks so many times less often: every look costs the database, also where there is no job. */
const IDLE_POLLS = 5;

/** The pause of a worker that has found no job. One that is due earlier, or whose lease runs out, is not missed. */
export const idlePauseMs = (pollMs: number, dueMs: number | null): number =>
  Math.max(pollMs, Math.min(dueMs ?? Number.POSITIVE_INFINITY, pollMs * IDLE_POLLS));
