/** The topic of the bus that says: there are jobs to claim. */
export const JOBS_TOPIC = "jobs";

export const DEFAULT_MAX_ATTEMPTS = 5;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5 * 60_000;
const LONGEST_ERROR_MESSAGE = 2_000;

/** A job as its holder sees it. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly lane: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** This one included. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Greater than that of every earlier holder: what a handler writes elsewhere can be guarded by it. */
  readonly fence: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

/** Thrown by a handler where trying again cannot help. The message is stored for people to read. */
export class PermanentJobError extends Error {
  override readonly name = "PermanentJobError";
}

export type Failure =
  | { readonly status: "pending"; readonly retryInMs: number; readonly errorMessage: string }
  | { readonly status: "failed"; readonly errorMessage: string };

/** What becomes of a job whose handler threw. */
export function afterFailure(
  job: Pick<Job, "attempts" | "maxAttempts">,
  error: unknown,
  random: () => number,
): Failure {
  const errorMessage = messageForPeople(error);
  return error instanceof PermanentJobError || job.attempts >= job.maxAttempts
    ? { status: "failed", errorMessage }
    : { status: "pending", retryInMs: retryInMs(job.attempts, random), errorMessage };
}

/**
 * Full jitter: anywhere between at once and an end that doubles with each attempt, so that jobs which failed together,
 * because what they all need was away, do not come back together.
 */
export function retryInMs(attempts: number, random: () => number): number {
  const longestMs = Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, attempts - 1), LONGEST_RETRY_MS);
  return Math.floor(random() * longestMs);
}

/** Never the stack, which tells about the code and not about the problem; no NUL, which PostgreSQL cannot store. */
export function messageForPeople(error: unknown): string {
  return wordsOf(error).replaceAll("\0", "").slice(0, LONGEST_ERROR_MESSAGE).toWellFormed() || "The job failed.";
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return "";
  // Node reports a host none of whose addresses answers as an aggregate without a message of its own.
  if (!error.message && error instanceof AggregateError) return error.errors.map(wordsOf).filter(Boolean).join("; ");
  return error.message || error.name;
}
