import { expect, test } from "vitest";
import { isRenewalDue, isRevoked } from "./session.ts";

test.each([
  [1, 0, false],
  [2, 2, false],
  [3, 2, false],
  [1, 2, true],
])("[CL37] a token of version %i at a floor of %i is revoked: %s", (version, floor, expected) => {
  expect(isRevoked(version, floor)).toBe(expected);
});

test("[HB28] a token is renewed when less than a third of its life is left", () => {
  const isDue = (leftMs: number) => isRenewalDue(new Date(leftMs), 300, new Date(0));
  expect([isDue(200), isDue(100), isDue(99), isDue(-1)]).toEqual([false, false, true, true]);
});
