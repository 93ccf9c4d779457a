import { REASONS, type Reason } from "@binnacle/contract";
import Type from "typebox";
import { Check } from "typebox/value";

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
  readonly reason: Reason | null;
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

/** As it stands while an attempt is under way: a process that is killed by it does not find it untried. */
export const duringAttempt = (before: Attempts | undefined, goal: string, nowMs: number): Attempts =>
  afterAttempt(before, goal, { failure: failureFor(before, goal) }, nowMs);

/** Of this goal, if it has failed and nothing has come after. */
export const failureFor = (attempts: Attempts | undefined, goal: string): Problem | null =>
  attempts?.goal === goal ? attempts.failure : null;

const Noted = Type.Object({
  goal: Type.String(),
  count: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  notBeforeMs: Type.Number(),
  endedMs: Type.Number(),
  failure: Type.Union([
    Type.Null(),
    Type.Object({
      message: Type.String({ maxLength: 2_000 }),
      reason: Type.Union([Type.Null(), Type.Enum(Object.keys(REASONS) as Reason[])]),
    }),
  ]),
});

export const noteOf = (attempts: Attempts): string => JSON.stringify(attempts);

/**
 * The attempts for the same goal that an earlier process has noted; undefined where there are none. Charts of the project can write the
 * note, and so delay releases of their own project, at most as long as a failure would.
 */
export function attemptsIn(note: string | null, goal: string, nowMs: number): Attempts | undefined {
  const noted = note === null ? null : parsed(note);
  if (!Check(Noted, noted) || noted.goal !== goal) return undefined;
  const { count, failure } = noted;
  const notBeforeMs = Math.min(noted.notBeforeMs, nowMs + LONGEST_MS);
  return { goal, count, notBeforeMs, endedMs: Math.min(noted.endedMs, nowMs), failure };
}

function parsed(note: string): unknown {
  try {
    return JSON.parse(note);
  } catch {
    return null;
  }
}
