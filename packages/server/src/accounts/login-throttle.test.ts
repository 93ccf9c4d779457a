import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  attempt,
  emptyTally,
  FIRST_WINDOW_MS,
  isIdle,
  isRecorded,
  LOGIN_LIMIT,
  LOGIN_PERIOD_MS,
  LONGEST_WINDOW_MS,
  LoggedRefusals,
  REFUSAL_WINDOW_MS,
  succeeded,
  type Tally,
} from "./login-throttle.ts";

const SECOND = 1_000;
const START = Date.UTC(2030, 0, 1);
const WINDOWS = [60, 120, 240, 480, 900].map((seconds) => seconds * SECOND);

/** `count` attempts at one moment; the verdict is that of the last. */
function series(tally: Tally, count: number, nowMs: number, account = "ada"): { tally: Tally; refused: boolean } {
  let last = { tally, refused: false };
  for (let made = 0; made < count; made++) last = attempt(last.tally, account, nowMs);
  return last;
}

test("[AL13] of n refused sign-ins the first is recorded, and as many in all as n has binary digits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (refusals) => {
      const recorded = Array.from({ length: refusals }, (_, index) => index + 1).filter(isRecorded);
      expect(recorded[0]).toBe(1);
      expect(recorded).toHaveLength(refusals.toString(2).length);
    }),
  );
});

test("[OP32] a source that guesses passwords leaves few log lines, and sources beyond a thousand leave few together", () => {
  const logged = new LoggedRefusals();
  const lines = (sources: readonly string[], nowMs: number) =>
    sources.map((source) => logged.count(source, nowMs)).filter((refused) => refused !== null);
  expect(
    lines(
      Array.from({ length: 1_000 }, () => "192.0.2.1"),
      START,
    ),
  ).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
  const many = Array.from({ length: 100_000 }, (_, index) => `2001:db8::${index.toString(16)}`);
  expect(lines(many, START).length).toBeLessThan(1_020);
  expect(lines(["192.0.2.1"], START + REFUSAL_WINDOW_MS)).toEqual([1]);
});

interface Step {
  readonly account: string;
  readonly pauseMs: number;
  readonly succeeds: boolean;
}

interface Trace {
  readonly account: string;
  readonly atMs: number;
  readonly refused: boolean;
  readonly tally: Tally;
}

/** Replays the steps; as at a login, only an admitted attempt can succeed. */
function replay(steps: readonly Step[]): Trace[] {
  let tally = emptyTally;
  let atMs = START;
  return steps.map(({ account, pauseMs, succeeds }) => {
    atMs += pauseMs;
    const verdict = attempt(tally, account, atMs);
    tally = succeeds && !verdict.refused ? succeeded(verdict.tally, [account]) : verdict.tally;
    return { account, atMs, refused: verdict.refused, tally };
  });
}

const account = fc.constantFrom("ada", "bob", "eve");

/** Mostly bursts, now and then a pause around the period and the windows. */
const pause = fc.oneof(
  { weight: 40, arbitrary: fc.integer({ min: 0, max: 2 * SECOND }) },
  { weight: 2, arbitrary: fc.integer({ min: 50 * SECOND, max: 130 * SECOND }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: LONGEST_WINDOW_MS }) },
);

/** Pauses of a clock that is also set back. */
const skewedPause = fc.oneof(
  { weight: 20, arbitrary: pause },
  { weight: 1, arbitrary: fc.integer({ min: -3 * LONGEST_WINDOW_MS, max: 0 }) },
);

function stepsWith(pauseMs: fc.Arbitrary<number>, succeeds: fc.Arbitrary<boolean>): fc.Arbitrary<Step[]> {
  return fc.array(fc.record({ account, pauseMs, succeeds }), { maxLength: 300, size: "max" });
}

const never = fc.constant(false);
const rarely = fc.integer({ min: 0, max: 9 }).map((die) => die === 0);

describe("login throttle", () => {
  test("[AU20] the 20th login attempt within a minute is admitted and the 21st is refused", () => {
    const twentieth = series(emptyTally, LOGIN_LIMIT, START);
    expect(twentieth.refused).toBe(false);
    expect(attempt(twentieth.tally, "ada", START + LOGIN_PERIOD_MS - 1).refused).toBe(true);
  });

  test("[AU20] a login attempt a minute after the first of 20 is admitted", () => {
    const { tally } = series(emptyTally, LOGIN_LIMIT, START);
    expect(attempt(tally, "ada", START + LOGIN_PERIOD_MS).refused).toBe(false);
  });

  test("[AU20] no minute admits more than 20 login attempts without a success", () => {
    fc.assert(
      fc.property(stepsWith(pause, never), (steps) => {
        const admitted = replay(steps).filter(({ refused }) => !refused);
        for (const [index, { atMs }] of admitted.entries()) {
          const twentyLater = admitted[index + LOGIN_LIMIT];
          if (twentyLater) expect(twentyLater.atMs - atMs).toBeGreaterThanOrEqual(LOGIN_PERIOD_MS);
        }
      }),
    );
  });

  test("[AU21] the first refusal window lasts a minute from the login attempt that exceeded the limit", () => {
    const { tally } = series(emptyTally, LOGIN_LIMIT + 1, START);
    expect(attempt(tally, "ada", START + FIRST_WINDOW_MS - 1).refused).toBe(true);
    expect(attempt(tally, "ada", START + FIRST_WINDOW_MS).refused).toBe(false);
  });

  test("[AU22] each further series of attempts during a refusal doubles the window, up to 15 minutes", () => {
    let { tally } = series(emptyTally, LOGIN_LIMIT + 1, START);
    const windows = [tally.refusal?.windowMs];
    for (let round = 1; round <= 5; round++) {
      tally = series(tally, LOGIN_LIMIT + 1, START + round * SECOND).tally;
      windows.push(tally.refusal?.windowMs);
      expect(tally.refusal?.untilMs).toBe(START + round * SECOND + (tally.refusal?.windowMs ?? 0));
    }
    expect(windows).toEqual([...WINDOWS, LONGEST_WINDOW_MS]);
  });

  test("[AU22] 20 attempts during a refusal do not lengthen its window", () => {
    const refused = series(emptyTally, LOGIN_LIMIT + 1, START).tally;
    expect(series(refused, LOGIN_LIMIT, START + SECOND).tally.refusal).toEqual(refused.refusal);
  });

  test("[AU22] a refusal window is one of 60, 120, 240, 480 and 900 seconds, and ends within its length", () => {
    fc.assert(
      fc.property(stepsWith(skewedPause, rarely), (steps) => {
        for (const { tally, atMs } of replay(steps)) {
          if (tally.refusal === null) continue;
          expect(WINDOWS).toContain(tally.refusal.windowMs);
          expect(tally.refusal.untilMs - atMs).toBeLessThanOrEqual(tally.refusal.windowMs);
        }
      }),
    );
  });

  test("[AU23] after a window without a further series the tally starts from zero", () => {
    const refused = series(emptyTally, LOGIN_LIMIT + 1, START).tally;
    const persisted = series(refused, LOGIN_LIMIT, START + FIRST_WINDOW_MS - 1).tally;
    const fresh = series(persisted, LOGIN_LIMIT, START + FIRST_WINDOW_MS);
    expect(fresh.refused).toBe(false);
    const again = attempt(fresh.tally, "ada", START + FIRST_WINDOW_MS);
    expect(again.refused).toBe(true);
    expect(again.tally.refusal?.windowMs).toBe(FIRST_WINDOW_MS);
  });

  test("[AU23] an attempt after 15 minutes without any is admitted, whatever came before", () => {
    fc.assert(
      fc.property(stepsWith(pause, rarely), (steps) => {
        const last = replay(steps).at(-1);
        if (last) expect(attempt(last.tally, "ada", last.atMs + LONGEST_WINDOW_MS).refused).toBe(false);
      }),
    );
  });

  test("[AU24] a successful login removes its own attempts from the tally and no one else's", () => {
    const mixed = series(series(emptyTally, 12, START, "ada").tally, 8, START, "bob").tally;
    const cleared = succeeded(mixed, ["ada"]);
    expect(cleared.attempts).toEqual(mixed.attempts.filter((made) => made.account === "bob"));
    expect(series(cleared, 12, START, "ada").refused).toBe(false);
    expect(series(cleared, 13, START, "ada").refused).toBe(true);
  });

  test("[AU24] a successful login under two names removes the attempts of both", () => {
    const mixed = series(series(emptyTally, 5, START, "ada").tally, 5, START, "ada@example.com").tally;
    expect(succeeded(mixed, ["ada", "ada@example.com"])).toEqual(emptyTally);
  });

  test("[AU24] a successful login does not lift a refusal", () => {
    const { tally } = series(emptyTally, LOGIN_LIMIT + 1, START);
    expect(attempt(succeeded(tally, ["ada"]), "ada", START + SECOND).refused).toBe(true);
  });

  test("[AU24] a successful login of one account never removes an attempt of another", () => {
    fc.assert(
      fc.property(stepsWith(pause, never), account, (steps, winner) => {
        for (const { tally } of replay(steps)) {
          const after = succeeded(tally, [winner]);
          expect(after.attempts).toEqual(tally.attempts.filter((made) => made.account !== winner));
          expect(after.refusal).toEqual(tally.refusal);
        }
      }),
    );
  });

  test("[AU24] a user who also logs in successfully gets no more guesses at another account", () => {
    fc.assert(
      fc.property(stepsWith(pause, never), (steps) => {
        const withOwnLogins = replay(steps.map((step) => ({ ...step, succeeds: step.account === "eve" })));
        const guesses = withOwnLogins.filter((trace) => trace.account !== "eve" && !trace.refused);
        for (const [index, { atMs }] of guesses.entries()) {
          const twentyLater = guesses[index + LOGIN_LIMIT];
          if (twentyLater) expect(twentyLater.atMs - atMs).toBeGreaterThanOrEqual(LOGIN_PERIOD_MS);
        }
      }),
    );
  });

  test("[AU25] a tally holds at most 20 attempts and survives a round trip through JSON, whatever comes", () => {
    fc.assert(
      fc.property(stepsWith(skewedPause, rarely), (steps) => {
        for (const { tally } of replay(steps)) {
          expect(tally.attempts.length).toBeLessThanOrEqual(LOGIN_LIMIT);
          expect(JSON.parse(JSON.stringify(tally))).toEqual(tally);
        }
      }),
    );
  });

  test("[AU25] a login tally is idle a minute after its last attempt, or when its refusal window is over", () => {
    expect(isIdle(emptyTally, START)).toBe(true);
    const { tally } = series(emptyTally, 1, START);
    expect(isIdle(tally, START + LOGIN_PERIOD_MS - 1)).toBe(false);
    expect(isIdle(tally, START + LOGIN_PERIOD_MS)).toBe(true);
    const refused = series(emptyTally, LOGIN_LIMIT + 2, START).tally;
    expect(isIdle(refused, START + FIRST_WINDOW_MS - 1)).toBe(false);
    expect(isIdle(refused, START + FIRST_WINDOW_MS)).toBe(true);
  });

  test("[AU25] an idle login tally decides as an empty one does", () => {
    fc.assert(
      fc.property(stepsWith(pause, rarely), fc.integer({ min: 0, max: 2 * LONGEST_WINDOW_MS }), (steps, laterMs) => {
        const last = replay(steps).at(-1);
        if (!last) return;
        const nowMs = last.atMs + laterMs;
        fc.pre(isIdle(last.tally, nowMs));
        expect(attempt(last.tally, "ada", nowMs)).toEqual(attempt(emptyTally, "ada", nowMs));
      }),
    );
  });

  test("[AU26] after the clock was set back an hour, logins are refused for no longer than the window", () => {
    const { tally } = series(emptyTally, LOGIN_LIMIT + 1, START);
    const setBack = START - 3_600 * SECOND;
    const first = attempt(tally, "ada", setBack);
    expect(first.refused).toBe(true);
    expect(attempt(first.tally, "ada", setBack + FIRST_WINDOW_MS).refused).toBe(false);
  });

  test("[AU26] no login attempt leaves a refusal of more than 15 minutes, however the clock jumps", () => {
    fc.assert(
      fc.property(stepsWith(skewedPause, rarely), (steps) => {
        for (const { tally, atMs } of replay(steps)) {
          expect(attempt(tally, "ada", atMs + LONGEST_WINDOW_MS).refused).toBe(false);
          expect(isIdle(tally, atMs + LONGEST_WINDOW_MS)).toBe(true);
        }
      }),
    );
  });
});
