import fc from "fast-check";
import { expect, test } from "vitest";
import { drainSteps } from "./drain.ts";
import type { Session } from "./session.ts";

const sessions = (count: number) => Array.from({ length: count }, (_, n) => ({ clusterId: `${n}` }) as Session);

test("[HB30] sessions leave in batches, spread over a time that grows with their number", () => {
  expect(drainSteps([], 10_000)).toEqual([]);
  expect(drainSteps(sessions(1), 10_000)).toMatchObject([{ afterMs: 0, withinMs: 2 }]);
  const steps = drainSteps(sessions(5_000), 60_000);
  expect(steps).toHaveLength(10);
  expect(steps.map(({ afterMs, withinMs }) => [afterMs, withinMs])).toEqual(
    Array.from({ length: 10 }, (_, n) => [n * 1_000, 10_000 - n * 1_000]),
  );
});

test("[HB30] each is asked once, and nobody gets longer than there is", () => {
  fc.assert(
    fc.property(fc.nat(3_000), fc.nat(20_000), (count, longestMs) => {
      const steps = drainSteps(sessions(count), longestMs);
      expect(steps.flatMap((step) => step.sessions).map(({ clusterId }) => clusterId)).toEqual(
        sessions(count).map(({ clusterId }) => clusterId),
      );
      for (const { afterMs, withinMs } of steps) expect(afterMs + withinMs).toBeLessThanOrEqual(longestMs + 1e-6);
    }),
    { numRuns: 30 },
  );
});
