/** How often an app was put right of late, and when it is next. */
export interface Healing {
  readonly attempts: number;
  /** When to put right what somebody has changed; null where there is nothing of the kind. */
  readonly dueMs: number | null;
  readonly healedMs: number | null;
}

export const NOT_HEALING: Healing = { attempts: 0, dueMs: null, healedMs: null };

const FIRST_MS = 2_000;
const FACTOR = 3;
const LONGEST_MS = 300_000;
/** After this time without drift, nobody is undoing the changes any more. */
const CALM_MS = 600_000;

/**
 * The first delay lets people see the drift. The longer ones keep two controllers from overwriting each other all the
 * time.
 */
export const healAfterMs = (attempts: number): number =>
  Math.min(FIRST_MS * FACTOR ** Math.min(attempts, 10), LONGEST_MS);

export const mayHeal = ({ dueMs }: Healing, nowMs: number): boolean => dueMs !== null && nowMs >= dueMs;

/** `seen`: what was found this time, and whether it was put right. */
export function afterPass(before: Healing, seen: "nothing" | "drift" | "healed", nowMs: number): Healing {
  if (seen === "nothing") return { ...before, dueMs: null };
  if (seen === "healed") return { attempts: before.attempts + 1, dueMs: null, healedMs: nowMs };
  if (before.dueMs !== null) return before;
  const isCalm = before.healedMs !== null && nowMs - before.healedMs > CALM_MS;
  const attempts = isCalm ? 0 : before.attempts;
  return { ...before, attempts, dueMs: nowMs + healAfterMs(attempts) };
}
