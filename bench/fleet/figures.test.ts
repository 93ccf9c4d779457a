import { expect, test } from "vitest";
import { commonWarnings, figureTable, megabytes, seconds, share } from "./figures.ts";

test("[FL8] the figures of a rehearsal are printed with their units", () => {
  expect(seconds(1_234)).toBe("1.2 s");
  expect(megabytes(1_572_864)).toBe("1.5 MB");
  expect(megabytes(2_147_483_648)).toBe("2048 MB");
  expect(share([10, 20, 30], 0.5)).toBe("20 ms");
  expect(share([], 0.5)).toBe("none");
});

test("[FL8] figures are printed below each other in columns", () => {
  expect(
    figureTable([
      ["a", "1 s"],
      ["longer", "2 s"],
    ]),
  ).toBe("  a       1 s\n  longer  2 s\n");
});

test("[FL8] the warnings of all processes are summed, the most common first", () => {
  expect(commonWarnings([{ a: 1, b: 2 }, { a: 3 }], 1)).toEqual([["operators warned: a", "4 times"]]);
  expect(commonWarnings([{}])).toEqual([]);
});
