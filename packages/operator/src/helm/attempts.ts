/** How often a release was worked on of late for one and the same goal, and when that may be done again. */
export interface Attempts {
  /** The desired state and the account that applies it. */
  readonly goal: string;
  readonly count: number;
  readonly notBeforeMs: number;
  readonly endedMs: number;
  /** Why the last one failed. */
  readonly failure: Problem | null;
}

export interface Problem {
  /** For people. */
  readonly message: string;
  /** One word for programs, where there is a particular one. */
  readonly reason: string | null;
}

const FIRST_MS = 2_000;
const FACTOR = 3;
const LONGEST_MS = 300_000;
/** After this time without a change, nobody is undoing the release any more. */
const CALM_MS = 600_000;
const BUSY_MS = 5_000;

export const retryAfterMs = (count: number): number => Math.min(FIRST_MS * FACTOR ** Math.min(count, 10), LONGEST_MS);

/** In how many milliseconds the goal may be tried; 0 means now. */
export function waitMs(attempts: Attempts | undefined, goal: string, nowMs: number): number {
  if (attempts?.goal !== goal || nowMs - attempts.endedMs > CALM_MS) return 0;
  return Math.max(0, attempts.notBeforeMs - nowMs);
}

/**
 * Success counts as well: whoever undoes what was done must not make us do it again all the time. `busy` means that
 * somebody else was at work, which is neither.
 */
export function afterAttempt(
  before: Attempts | undefined,
  goal: string,
  result: { readonly failure: Problem | null; readonly isBusy?: boolean },
  nowMs: number,
): Attempts {
  const isSame = before?.goal === goal && nowMs - before.endedMs <= CALM_MS;
  const earlier = isSame ? before.count : 0;
  const { failure } = result;
  if (result.isBusy) return { goal, count: earlier, notBeforeMs: nowMs + BUSY_MS, endedMs: nowMs, failure: null };
  return { goal, count: earlier + 1, notBeforeMs: nowMs + retryAfterMs(earlier), endedMs: nowMs, failure };
}

/** Of this goal, if it has failed and nothing has come after. */
export const failureFor = (attempts: Attempts | undefined, goal: string): Problem | null =>
  attempts?.goal === goal ? attempts.failure : null;

/** Lets so many work at once; the others wait in line. */
export function createSlots(most: number) {
  let isFree = most;
  const line: (() => void)[] = [];
  return {
    async within<T>(work: () => Promise<T>): Promise<T> {
      if (isFree > 0) isFree -= 1;
      else await new Promise<void>((turn) => line.push(turn));
      try {
        return await work();
      } finally {
        const next = line.shift();
        if (next) next();
        else isFree += 1;
      }
    },
  };
}
