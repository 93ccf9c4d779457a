import type { DriftField } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterPass, type Healing, healAfterMs, mayHeal, NOT_HEALING, nextHealMs } from "./heal-backoff.ts";

const field = (pointer: string, changes: Partial<DriftField> = {}): DriftField => ({
  object: { kind: "Deployment", name: "shop-web" },
  pointer,
  ...changes,
});
const IMAGE = field("/spec/template/spec/containers/0/image");
const REPLICAS = field("/spec/replicas", { desired: 2, observed: 5 });
const DELETED = field("");

const drift = (before: Healing, drifted: readonly DriftField[], nowMs: number) =>
  afterPass(before, { drifted, healed: [] }, nowMs);

/** Somebody undoes what was healed at once, again and again. */
function quarrel(about: DriftField, rounds: number) {
  let healing = NOT_HEALING;
  let nowMs = 1_000;
  const waits = Array.from({ length: rounds }, () => {
    healing = drift(healing, [about], nowMs);
    const waitMs = (nextHealMs(healing) ?? 0) - nowMs;
    nowMs += waitMs;
    healing = afterPass(healing, { drifted: [], healed: [about] }, nowMs);
    return waitMs;
  });
  return { waits, healing, nowMs };
}

describe("healing what somebody has changed", () => {
  test("[AO32] healing waits 2 s, then three times as long each time, and never more than 300 s", () => {
    expect(quarrel(IMAGE, 8).waits).toEqual([2_000, 6_000, 18_000, 54_000, 162_000, 300_000, 300_000, 300_000]);
  });

  test.each<[string, DriftField]>([
    ["an object that was deleted", DELETED],
    ["a workload that was scaled to nothing", field("/spec/replicas", { desired: 2, observed: 0 })],
  ])("[AO32] healing waits at most 30 s for %s, because nothing of it runs", (_, about) => {
    expect(quarrel(about, 6).waits).toEqual([2_000, 6_000, 18_000, 30_000, 30_000, 30_000]);
  });

  test("[AO32] healing waits ever longer, within its bounds", () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.boolean(), (attempts, isOutage) => {
        expect(healAfterMs(attempts, isOutage)).toBeLessThanOrEqual(isOutage ? 30_000 : 300_000);
        expect(healAfterMs(attempts + 1, isOutage)).toBeGreaterThanOrEqual(healAfterMs(attempts, isOutage));
      }),
    );
  });

  test.each<[string, DriftField]>([
    ["another field of the object", REPLICAS],
    ["the object itself, which was deleted", DELETED],
    ["another object", { ...IMAGE, object: { kind: "Deployment", name: "shop-api" } }],
  ])("[AO32] healing begins anew for %s, however often one field was healed", (_, other) => {
    const { healing, nowMs } = quarrel(IMAGE, 6);
    const after = drift(healing, [IMAGE, other], nowMs);
    expect(nextHealMs(after)).toBe(nowMs + 2_000);
    expect(mayHeal(after, [other], nowMs + 2_000)).toBe(true);
    expect(mayHeal(after, [IMAGE], nowMs + 2_000)).toBe(false);
  });

  test("[AO32] healing is quick again after ten calm minutes", () => {
    const { healing, nowMs } = quarrel(IMAGE, 5);
    expect(nextHealMs(drift(healing, [IMAGE], nowMs + 600_000))).toBe(nowMs + 900_000);
    expect(nextHealMs(drift(healing, [IMAGE], nowMs + 600_001))).toBe(nowMs + 602_001);
    expect(drift(healing, [], nowMs + 600_001).size).toBe(0);
  });

  test("[AO32] healing is not delayed by another pass, and not done for a change that is gone by itself", () => {
    const due = drift(NOT_HEALING, [IMAGE], 0);
    expect(drift(due, [IMAGE], 1_500)).toEqual(due);
    expect(mayHeal(due, [IMAGE], 1_999)).toBe(false);
    expect(mayHeal(due, [IMAGE], 2_000)).toBe(true);
    expect(mayHeal(drift(due, [], 1_500), [IMAGE], 9_000)).toBe(false);
  });
});
