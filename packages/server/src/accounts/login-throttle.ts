/** The rules of the login throttle. A tally belongs to a source address, or to a source address and an account. */

export const LOGIN_LIMIT = 20;
export const LOGIN_PERIOD_MS = 60_000;
export const FIRST_WINDOW_MS = 60_000;
export const LONGEST_WINDOW_MS = 15 * 60_000;

export interface LoginAttempt {
  readonly account: string;
  readonly atMs: number;
}

export interface Refusal {
  readonly untilMs: number;
  readonly windowMs: number;
}

/** Stored as JSON. `attempts` has the current series, oldest first, so at most LOGIN_LIMIT entries. */
export interface Tally {
  readonly attempts: readonly LoginAttempt[];
  readonly refusal: Refusal | null;
}

export const emptyTally: Tally = { attempts: [], refusal: null };

/** Counts an attempt, whether it is refused or not. */
export function attempt(tally: Tally, account: string, nowMs: number): { tally: Tally; refused: boolean } {
  const { attempts, refusal } = asOf(tally, nowMs);
  if (attempts.length < LOGIN_LIMIT) {
    return { tally: { attempts: [...attempts, { account, atMs: nowMs }], refusal }, refused: refusal !== null };
  }
  const windowMs = refusal === null ? FIRST_WINDOW_MS : Math.min(2 * refusal.windowMs, LONGEST_WINDOW_MS);
  return { tally: { attempts: [], refusal: { untilMs: nowMs + windowMs, windowMs } }, refused: true };
}

/**
 * Removes the attempts of the accounts whose password was right. A refusal in force stays: otherwise someone could lift
 * it with an account of their own and go on guessing.
 */
export function succeeded(tally: Tally, accounts: readonly string[]): Tally {
  return { ...tally, attempts: tally.attempts.filter(({ account }) => !accounts.includes(account)) };
}

/** The refusals of one account within this time are one series in the audit log. */
export const REFUSAL_WINDOW_MS = 10 * 60_000;

/** The 1st, 2nd, 4th, 8th… refusal of a window is recorded, so a thousand guesses leave ten audit entries. */
export const isRecorded = (refused: number): boolean => Number.isInteger(Math.log2(refused));

/** Sources beyond so many in a window share one count, so that changing addresses does not flood the log. */
const COUNTED_SOURCES = 1_000;

/**
 * Counts refusals by source in the memory of a process, for its log. The count holds for any account, known or not: names
 * are free to invent.
 */
export class LoggedRefusals {
  #windowStartedAtMs = Number.NEGATIVE_INFINITY;
  readonly #bySource = new Map<string, number>();

  /** Returns the number of refusals in the window, or null where this one is not logged. */
  count(source: string, nowMs: number): number | null {
    if (Math.abs(nowMs - this.#windowStartedAtMs) >= REFUSAL_WINDOW_MS) {
      this.#bySource.clear();
      this.#windowStartedAtMs = nowMs;
    }
    const isFull = this.#bySource.size >= COUNTED_SOURCES && !this.#bySource.has(source);
    const key = isFull ? "others" : source;
    const refused = (this.#bySource.get(key) ?? 0) + 1;
    this.#bySource.set(key, refused);
    return isRecorded(refused) ? refused : null;
  }
}

/** Returns whether the tally is equal to an empty one, so that its row can be deleted. */
export function isIdle(tally: Tally, nowMs: number): boolean {
  const { attempts, refusal } = asOf(tally, nowMs);
  return attempts.length === 0 && refusal === null;
}

/**
 * Drops what has expired. Times in the future come from a faster clock and are set to now; otherwise a clock set back
 * by an hour would refuse for an hour longer.
 */
function asOf({ attempts, refusal }: Tally, nowMs: number): Tally {
  if (refusal !== null && refusal.untilMs <= nowMs) return emptyTally;
  return {
    attempts: attempts
      .filter(({ atMs }) => nowMs - atMs < LOGIN_PERIOD_MS)
      .map(({ account, atMs }) => ({ account, atMs: Math.min(atMs, nowMs) })),
    refusal: refusal && { ...refusal, untilMs: Math.min(refusal.untilMs, nowMs + refusal.windowMs) },
  };
}
