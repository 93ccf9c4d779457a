import fc from "fast-check";
import { expect, test } from "vitest";
import { AdmissionGate, retryReason } from "./admission-gate.ts";
import { spreadSeconds } from "./handshake.ts";

test("[HB10] a few are let in at a time, the next wait in line, and the rest is sent away", async () => {
  const gate = new AdmissionGate(2, 2);
  const inside: number[] = [];
  const turns = [1, 2, 3, 4, 5].map((name) => gate.enter()?.then(() => void inside.push(name)) ?? null);
  expect(turns.map((turn) => turn === null)).toEqual([false, false, false, false, true]);
  await turns[0];
  await turns[1];
  expect(inside).toEqual([1, 2]);
  gate.leave();
  await turns[2];
  expect(inside).toEqual([1, 2, 3]);
  expect(gate.enter()).not.toBeNull();
});

test("[HB10] whoever leaves makes room, in any order of coming and going", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean()), (steps) => {
      const gate = new AdmissionGate(3, 0);
      let inside = 0;
      for (const isEntering of steps) {
        if (isEntering) {
          const isIn = gate.enter() !== null;
          expect(isIn).toBe(inside < 3);
          if (isIn) inside += 1;
        } else if (inside > 0) {
          gate.leave();
          inside -= 1;
        }
      }
    }),
  );
});

test("[HB10] those who are sent away come back at different times, and not too late", () => {
  expect([0, 0.5, 1].map((random) => JSON.parse(retryReason(random)).retry_after_seconds)).toEqual([1, 5.5, 10]);
  // The reason of a close has 123 bytes.
  expect(retryReason(1).length).toBeLessThan(124);
});

test("[HB1] the more operators there are, the longer is the time in which they come back", () => {
  expect([0, 1, 250, 5_000, 100_000].map(spreadSeconds)).toEqual([1, 1, 1, 20, 30]);
});
