import { expect, test } from "vitest";
import { backOffMs, faster, slower, turn, UNHURRIED } from "./aws-pace.ts";

const times = <T>(count: number, change: (value: T) => T, value: T): T =>
  count === 0 ? value : times(count - 1, change, change(value));

test("[PN172] calls do not wait until AWS throttles one, then wait longer and longer, and soon not any more", () => {
  expect(turn(UNHURRIED, 1_000).waitMs).toBe(0);
  expect([1, 2, 3, 7, 8, 50].map((count) => times(count, slower, UNHURRIED).intervalMs)).toEqual([
    50, 100, 200, 3_200, 5_000, 5_000,
  ]);
  expect(times(24, faster, times(50, slower, UNHURRIED)).intervalMs).toBeGreaterThan(0);
  expect(times(25, faster, times(50, slower, UNHURRIED)).intervalMs).toBe(0);
});

test("[PN172] calls at the same time follow one another at the pace", () => {
  let pace = slower(UNHURRIED);
  const waits = Array.from({ length: 3 }, () => {
    const { waitMs, after } = turn(pace, 1_000);
    pace = after;
    return waitMs;
  });
  expect(waits).toEqual([0, 50, 100]);
  expect(turn(pace, 5_000).waitMs).toBe(0);
});

test.each([
  [0, [250, 500, 1_000, 10_000, 10_000]],
  [0.999_999, [499, 999, 1_999, 19_999, 19_999]],
])("[PN172] a further attempt waits between half of a doubling bound and all of it, by chance: %d", (chance, waits) => {
  expect([1, 2, 3, 7, 30].map((attempt) => backOffMs(500, attempt, () => chance))).toEqual(waits);
});
