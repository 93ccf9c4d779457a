import { describe, expect, test } from "vitest";
import { rangeProblems, rangeSeconds } from "./metrics-range.ts";

describe("the range of metrics", () => {
  test.each([
    ["90s", 90],
    ["15m", 900],
    ["1h", 3600],
    ["7d", 604_800],
    ["2w", 1_209_600],
  ])("[CL43] %s is %i seconds", (range, seconds) => {
    expect(rangeSeconds(range)).toBe(seconds);
  });

  test.each(["60s", "1m", "30d", "4w", "720h"])("[CL43] %s is taken", (range) => {
    expect(rangeProblems(range)).toEqual([]);
  });

  test.each(["0m", "59s", "31d", "5w", "721h", "99999999999w"])("[CL43] %s is refused", (range) => {
    expect(rangeProblems(range)).toEqual([
      { loc: ["query", "range"], msg: "Range should be from one minute to 30 days", type: "value_error" },
    ]);
  });
});
