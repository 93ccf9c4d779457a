import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMoreThan, parseQuantity } from "./kube.ts";

describe("a quantity", () => {
  test.each([
    ["0", 0],
    ["250m", 0.25],
    ["100m", 0.1],
    ["1.5Gi", 1_610_612_736],
    ["128974848", 128_974_848],
    ["129e6", 129_000_000],
    ["129M", 129_000_000],
    ["123Mi", 128_974_848],
    ["12E", 12e18],
    ["2E3", 2000],
    ["1e-3", 0.001],
    ["100n", 1e-7],
    ["5u", 5e-6],
    [".5", 0.5],
    ["5.", 5],
    ["+1k", 1000],
    ["-1Ki", -1024],
    [2, 2],
    [1e21, 1e21],
  ])("[KU40] the quantity %s is %d", (quantity, number) => {
    expect(parseQuantity(quantity)).toBe(number);
  });

  test.each([
    undefined,
    null,
    true,
    ["1"],
    Number.NaN,
    "",
    ".",
    "m",
    "1K",
    "1mi",
    "1 Gi",
    " 1",
    "1e",
    "0x10",
    "Infinity",
    "NaN",
    "1e3Mi",
    "--1",
    "1,5",
  ])("[KU40] the value %j is not a quantity", (quantity) => {
    expect(parseQuantity(quantity)).toBeNull();
  });

  test("[KU40] quantities have the order of their numbers, whatever the suffix", () => {
    const ordered = ["n", "u", "m", "", "k", "Ki", "M", "Mi", "G", "Gi", "T", "Ti", "P", "Pi", "E", "Ei"];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999 }), fc.nat(ordered.length - 2), (number, at) => {
        const [small, large] = [parseQuantity(`${number}${ordered[at]}`), parseQuantity(`${number}${ordered[at + 1]}`)];
        expect(small).toBeLessThan(large ?? 0);
      }),
    );
  });

  test("[KU40] a quantity is exact for whole thousandths and bytes", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), (number) => {
        expect(parseQuantity(`${number}m`)).toBe(number / 1000);
        expect(parseQuantity(String(number))).toBe(number);
        expect(parseQuantity(`${number}Ki`)).toBe(number * 1024);
      }),
    );
  });

  test("[KU40] a quantity is parsed to a number or to null, and never to NaN", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[-+.0-9eEimkMGTPn]{0,8}$/), (text) => {
        const number = parseQuantity(text);
        expect(number === null || !Number.isNaN(number)).toBe(true);
      }),
    );
  });

  test.each([
    ["9007199254740993", "9007199254740992"],
    ["9007199254740993", "8Pi"],
    ["8.00000000000000001Pi", "8Pi"],
    ["9007199254740993001m", "9007199254740993"],
    ["1.0000000000000000000001", "1"],
    ["1001m", "1"],
    ["1Ki", "1k"],
    ["-1", "-2"],
    [2, "1.5"],
  ])("[KU373] %s is more than %s, and not the other way round", (more, less) => {
    expect([isMoreThan(more, less), isMoreThan(less, more)]).toEqual([true, false]);
  });

  test.each([
    ["1", "1000m"],
    [".5", "500m"],
    ["1e3", "1k"],
    ["5.", "5"],
    ["1e999999999", "1e999999999"],
    ["1e-999999999", "1e-999999998"],
    ["x", "1"],
    ["1", undefined],
  ])("[KU373] %s is not more than %s", (one, other) => {
    expect(isMoreThan(one, other)).toBe(false);
  });

  test("[KU373] amounts that JavaScript counts exactly are compared as its numbers are", () => {
    const amount = fc.tuple(fc.nat(5_000), fc.constantFrom("", "k", "Ki", "M", "Mi"));
    fc.assert(
      fc.property(amount, amount, (one, other) => {
        const [left, right] = [one.join(""), other.join("")];
        expect(isMoreThan(left, right)).toBe((parseQuantity(left) ?? 0) > (parseQuantity(right) ?? 0));
      }),
    );
  });
});
