import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterPass, type Healing, healAfterMs, mayHeal, NOT_HEALING } from "./heal-backoff.ts";

/** Somebody undoes what was put right at once, again and again. */
function quarrel(rounds: number): number[] {
  let healing: Healing = NOT_HEALING;
  let nowMs = 1_000;
  return Array.from({ length: rounds }, () => {
    healing = afterPass(healing, "drift", nowMs);
    const waitMs = (healing.dueMs ?? 0) - nowMs;
    nowMs += waitMs;
    healing = afterPass(healing, "healed", nowMs);
    return waitMs;
  });
}

describe("putting right what somebody has changed", () => {
  test("[AO32] waits 2 s, then three times as long each time, and never more than 300 s", () => {
    expect(quarrel(8)).toEqual([2_000, 6_000, 18_000, 54_000, 162_000, 300_000, 300_000, 300_000]);
  });

  test("[AO32] waits ever longer, within its bounds", () => {
    fc.assert(
      fc.property(fc.nat(1_000), (attempts) => {
        expect(healAfterMs(attempts)).toBeLessThanOrEqual(300_000);
        expect(healAfterMs(attempts + 1)).toBeGreaterThanOrEqual(healAfterMs(attempts));
      }),
    );
  });

  test("[AO32] is quick again after ten calm minutes", () => {
    const healed: Healing = { attempts: 5, dueMs: null, healedMs: 0 };
    expect(afterPass(healed, "drift", 600_001).dueMs).toBe(602_001);
    expect(afterPass(healed, "drift", 600_000).dueMs).toBe(900_000);
  });

  test("[AO32] is not put off by looking again, and not done for what has passed by itself", () => {
    const due = afterPass(NOT_HEALING, "drift", 0);
    expect(afterPass(due, "drift", 1_500)).toEqual(due);
    expect(mayHeal(due, 1_999)).toBe(false);
    expect(mayHeal(due, 2_000)).toBe(true);
    expect(mayHeal(afterPass(due, "nothing", 1_500), 9_000)).toBe(false);
  });
});
