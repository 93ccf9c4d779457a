import { parseQuantity } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalQuantity } from "./quantity.ts";

test.each([
  ["1000m", "1"],
  ["1024Mi", "1Gi"],
  ["1500m", "1500m"],
  ["0.5", "500m"],
  [".5", "500m"],
  ["1.5Gi", "1536Mi"],
  ["512", "512"],
  ["1000", "1k"],
  ["0.001Ki", "1024m"],
  ["1e3", "1e3"],
  ["1000e0", "1e3"],
  ["-2000m", "-2"],
  ["0Gi", "0"],
  ["1n", "1n"],
  ["0.1n", "1n"],
] as const)("[SA21] the quantity %s is stored as %s", (written, stored) => {
  expect(canonicalQuantity(written)).toBe(stored);
});

test.each(["", ".", "m", "1 Gi", "1GI", "one", "1ee3", "--1"])("[SA21] the text %j is not a quantity", (text) => {
  expect(canonicalQuantity(text)).toBeNull();
});

test("[SA21] a stored quantity means the same, and is stored the same again", () => {
  const suffix = fc.constantFrom("", "m", "k", "M", "G", "Ki", "Mi", "Gi");
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), suffix, (number, unit) => {
      const stored = canonicalQuantity(`${number}${unit}`);
      expect(canonicalQuantity(stored ?? "")).toBe(stored);
      expect(parseQuantity(stored ?? "")).toBeCloseTo(parseQuantity(`${number}${unit}`) ?? Number.NaN, 6);
    }),
  );
});
