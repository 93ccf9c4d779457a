import { CLOSE } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Disconnect, retryAfter } from "./reconnect.ts";

const ending = (changes: Partial<Disconnect>): Disconnect => ({
  code: null,
  reason: "",
  livedMs: null,
  hasMoved: false,
  ...changes,
});
const fresh = { failures: 0, downMs: 600_000, spreadMs: 20_000 };

describe("the next try", () => {
  test("[OL11] after a session that worked, the next try comes within the spread", () => {
    const retry = (random: number) => retryAfter(ending({ livedMs: 600_000 }), { ...fresh, failures: 3 }, random);
    expect(retry(0)).toMatchObject({ delayMs: 0, failures: 0 });
    expect(retry(0.5)).toMatchObject({ delayMs: 10_000, failures: 0 });
    expect(retry(1)).toMatchObject({ delayMs: 20_000, failures: 0 });
  });

  test("[OL11] where nothing answers, the time to the next try doubles from one second to one minute", () => {
    let failures = 0;
    const delays = Array.from({ length: 9 }, () => {
      const retry = retryAfter(ending({}), { ...fresh, failures }, 1);
      failures = retry.failures;
      return retry.delayMs;
    });
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
  });

  test.each([
    [0, 1_000],
    [1_500, 1_000],
    [6_000, 3_000],
    [40_000, 20_000],
    [100_000, 32_000],
  ])(
    "[OL11] the operator waits at most half of the outage of %i ms, or a second where that is more, before the next try",
    (downMs, delayMs) => {
      expect(retryAfter(ending({}), { ...fresh, failures: 5, downMs }, 1)).toMatchObject({ delayMs });
    },
  );

  test("[OL11] the wait is at least half of its time, so that many operators do not try too often", () => {
    const delay = (random: number) => retryAfter(ending({}), { ...fresh, failures: 2 }, random).delayMs;
    expect([0, 0.5, 1].map(delay)).toEqual([2_000, 3_000, 4_000]);
  });

  test("[OL11] the next try does not come sooner after a session that ended at once", () => {
    expect(retryAfter(ending({ livedMs: 9_999 }), { ...fresh, failures: 4 }, 1)).toMatchObject({
      delayMs: 16_000,
      failures: 5,
    });
  });

  test.each([
    ["a refused token", CLOSE.unauthenticated, "", 60_000, 66_000, /token/],
    ["a revoked token", CLOSE.revoked, "", 60_000, 66_000, /revoked/],
    ["a deleted cluster", CLOSE.clusterDeleted, "", 60_000, 66_000, /deleted/],
    ["another operator", CLOSE.superseded, "", 60_000, 120_000, /Another operator/],
    ["an old version", CLOSE.versionTooOld, "", 600_000, 660_000, /Upgrade/],
    ["a busy hub", CLOSE.busy, "retry after 8 s", 8_000, 12_000, null],
    ["a busy hub", CLOSE.busy, "retry_after_seconds=2.5", 2_500, 3_750, null],
    ["a busy hub that does not say when", CLOSE.busy, "", 1_000, 1_500, null],
    ["a busy hub that says too much", CLOSE.busy, "99999999", 600_000, 900_000, null],
    ["a draining hub", CLOSE.draining, "", 0, 20_000, null],
    ["a broken protocol", CLOSE.protocolError, "", 500, 1_000, /rejected a frame/],
    ["any other code", 1011, "", 500, 1_000, null],
  ])("[OL12] the next try after %s (%i) has its own delay", (_, code, reason, soonestMs, latestMs, problem) => {
    const [soonest, latest] = [0, 1].map((random) => retryAfter(ending({ code, reason }), fresh, random));
    expect([soonest?.delayMs, latest?.delayMs]).toEqual([soonestMs, latestMs]);
    if (problem) expect(soonest?.problem).toMatch(problem);
    else expect(soonest?.problem).toBeNull();
  });

  test("[OL15] the next try comes at once where the operator has left to come back", () => {
    const moved = ending({ hasMoved: true, code: 1000, livedMs: 5 });
    expect(retryAfter(moved, { ...fresh, failures: 2 }, 1)).toEqual({ delayMs: 0, failures: 2, problem: null });
  });

  test("[OL12] the next try is never in the past and never later than a quarter of an hour", () => {
    const endings = fc.record({
      code: fc.option(fc.integer({ min: 1000, max: 4999 })),
      reason: fc.string(),
      livedMs: fc.option(fc.nat()),
      hasMoved: fc.boolean(),
    });
    const before = fc.record({ failures: fc.nat(), downMs: fc.nat(), spreadMs: fc.nat(600_000) });
    fc.assert(
      fc.property(endings, before, fc.double({ min: 0, max: 1, noNaN: true }), (how, state, random) => {
        const { delayMs } = retryAfter(how, state, random);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(900_000);
      }),
    );
  });
});
