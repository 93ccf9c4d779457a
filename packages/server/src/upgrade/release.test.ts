import { expect, test } from "vitest";
import { compareReleases, isAtLeast, skewOf } from "./release.ts";

test.each([
  ["0.2.0", "0.1.0", "supported"],
  ["0.1.0", "0.2.7", "supported"],
  ["0.2.0", "0.2.0-rc.1", "supported"],
  ["0.3.0", "0.1.9", "unsupported"],
  ["0.1.0", "0.3.0", "unsupported"],
  ["1.0.0", "0.9.0", "unsupported"],
  ["0.2.0", "simulated", "unknown"],
  ["0.2.0", null, "unknown"],
] as const)("[UG8] programs of %s and %s side by side are %s", (release, other, expected) => {
  expect(skewOf(release, other)).toBe(expected);
});

test("[UG8] releases are compared by their numbers, and what is not a release is never taken for late enough", () => {
  expect(["0.10.0", "0.9.3", "1.0.0", "0.9.12"].toSorted((a, b) => compareReleases(a, b) ?? 0)).toEqual([
    "0.9.3",
    "0.9.12",
    "0.10.0",
    "1.0.0",
  ]);
  expect([isAtLeast("0.2.0", "0.2.0"), isAtLeast("0.1.9", "0.2.0"), isAtLeast("next", "0.1.0")]).toEqual([
    true,
    false,
    false,
  ]);
});
