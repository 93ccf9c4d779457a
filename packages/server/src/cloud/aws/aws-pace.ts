/** How often an account is called, after what AWS has answered: it allows fewer calls to whoever goes on as fast when it was asked not to. */
export interface Pace {
  /** The time between two calls. */
  readonly intervalMs: number;
  /** The earliest time of the next call. */
  readonly nextMs: number;
}

export const UNHURRIED: Pace = { intervalMs: 0, nextMs: 0 };

const SLOWEST_MS = 5_000;
const FIRST_MS = 50;
/** A shorter interval than this is none: a call takes longer. */
const NONE_BELOW_MS = 20;

/** Twice as slow each time, and quickly back, because what throttles an account passes within seconds. */
export const slower = ({ intervalMs, nextMs }: Pace): Pace => ({
  intervalMs: Math.min(SLOWEST_MS, Math.max(FIRST_MS, 2 * intervalMs)),
  nextMs,
});
export const faster = ({ intervalMs, nextMs }: Pace): Pace => ({
  intervalMs: 0.8 * intervalMs < NONE_BELOW_MS ? 0 : 0.8 * intervalMs,
  nextMs,
});

/** The wait before a call, and the pace after it. Calls at the same time follow one another. */
export function turn(pace: Pace, nowMs: number): { readonly waitMs: number; readonly after: Pace } {
  const atMs = Math.max(nowMs, pace.nextMs);
  return { waitMs: atMs - nowMs, after: { ...pace, nextMs: atMs + pace.intervalMs } };
}

const LONGEST_BACK_OFF_MS = 20_000;

/**
 * The wait before a further attempt, at least half of a bound that doubles: with the other half at random, calls that were refused together do not
 * come back together.
 */
export function backOffMs(firstMs: number, attempt: number, random: () => number): number {
  const longest = Math.min(LONGEST_BACK_OFF_MS, firstMs * 2 ** (attempt - 1));
  return Math.floor(longest / 2 + (random() * longest) / 2);
}
