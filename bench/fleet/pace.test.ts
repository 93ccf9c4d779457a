import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dealt, quantile, waitMs } from "./figures.ts";

describe("the pace of changes", () => {
  test.each([
    [0, 10, 0, 0],
    [1, 10, 0, 100],
    [5, 10, 450, 50],
    [5, 10, 700, 0],
  ])("[FL2] the wait before change %i at %i a second, %i ms after the start, is %i ms", (number, pace, since, left) => {
    expect(waitMs(number, pace, since)).toBe(left);
  });
});

test("[FL2] items are dealt to one process each, and no process has two more than another", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer()), fc.integer({ min: 1, max: 9 }), (items, hands) => {
      const all = dealt(items, hands);
      expect(all).toHaveLength(hands);
      expect(new Set(all.flat())).toEqual(new Set(items));
      const sizes = all.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test("[FL8] a quantile of values does not depend on their order", () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3], 0.99)).toBe(3);
  expect(quantile([], 0.5)).toBeNull();
});
