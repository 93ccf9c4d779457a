import { getClusterMetrics } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { queryProblems } from "../http/checked.fixture.ts";
import { rangeSeconds } from "./series.ts";

const rangeProblems = (range: string) => queryProblems(getClusterMetrics, { range });

describe("the range of metrics", () => {
  test.each([
    ["90s", 90],
    ["15m", 900],
    ["1h", 3600],
    ["7d", 604_800],
    ["2w", 1_209_600],
  ])("[CL43] the range %s is %i seconds", (range, seconds) => {
    expect(rangeSeconds(range)).toBe(seconds);
  });

  test.each(["60s", "1m", "30d", "4w", "720h"])("[CL43] the range %s is accepted", (range) => {
    expect(rangeProblems(range)).toEqual([]);
  });

  test("[CL43] a range is accepted exactly if it is from one minute to 30 days", () => {
    const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
    const unit = fc.constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[]));
    const near = fc
      .constantFrom(1, 4, 30, 60, 720, 43_200, 2_592_000)
      .chain((edge) => fc.integer({ min: 0, max: edge + 2 }));
    fc.assert(
      fc.property(near, unit, (count, of) => {
        const seconds = count * UNITS[of];
        expect(rangeProblems(`${count}${of}`).length === 0).toBe(seconds >= 60 && seconds <= 2_592_000);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(["0m", "59s", "31d", "5w", "721h", "99999999999w"])("[CL43] the range %s is refused", (range) => {
    expect(rangeProblems(range)).toEqual([
      { loc: ["query", "range"], msg: "Range should be from one minute to 30 days", type: "value_error" },
    ]);
  });
});
