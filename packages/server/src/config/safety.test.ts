import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasSandbox, isLoopback, predictabilityOf, predictabilityOfText } from "../config.ts";

const bytes = (at: (index: number) => number, length = 32) => Uint8Array.from({ length }, (_, index) => at(index));

describe("keys", () => {
  test.each([
    ["zeros", bytes(() => 0), "repeats one byte"],
    ["any other single byte", bytes(() => 171), "repeats one byte"],
    ["two halves that are alike", bytes((index) => (index % 16) * 13), "repeats a pattern"],
    ["a pattern that is cut off", bytes((index) => ((index % 15) * 101) % 97), "repeats a pattern"],
    ["numbers that count up", bytes((index) => index), "counts up or down"],
    ["numbers that count down past zero", bytes((index) => 10 - 3 * index), "counts up or down"],
    ["19 distinct bytes", bytes((index) => Math.min(index, 18) * 7), "has too few distinct bytes"],
    ["20 distinct bytes", bytes((index) => Math.min(index, 19) * 7), null],
  ])("[CF13] a key of %s is judged by how predictable it is", (_, key, expected) => {
    expect(predictabilityOf(key)).toBe(expected);
  });

  test.each([
    ["a word said again", "correct-horse-correct-horse-correct-horse", "repeats a pattern"],
    ["a sentence", "the quick the quick brown the quick brown", "has too few distinct bytes"],
    ["the same hexadecimal pair", "ab".repeat(32), "repeats one byte"],
    ["hexadecimal numbers that count", Buffer.from(bytes((index) => index)).toString("hex"), "counts up or down"],
  ])("[CF13] a text of %s is judged by how predictable it is", (_, text, expected) => {
    expect(predictabilityOfText(text)).toBe(expected);
  });

  test("[CF13] every key that the guide's commands make is taken, and hexadecimal keys too", () => {
    const random = (length: number) => fc.noShrink(fc.constant(length).map((size) => randomBytes(size)));
    fc.assert(
      fc.property(random(32), random(48), (vault, signing) => {
        expect(predictabilityOf(vault)).toBeNull();
        for (const encoding of ["base64", "base64url", "hex"] as const) {
          expect(predictabilityOfText(signing.toString(encoding))).toBeNull();
        }
        expect(predictabilityOfText(vault.toString("hex"))).toBeNull();
      }),
    );
  });

  test("[CF13] a key that repeats any pattern is refused", () => {
    const pattern = fc.uint8Array({ minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(pattern, (unit) => {
        expect(predictabilityOf(bytes((index) => unit[index % unit.length] ?? 0))).not.toBeNull();
      }),
    );
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["::1", true],
  ["[::1]", true],
  ["::ffff:127.0.0.1", true],
  ["localhost", true],
  ["LOCALHOST", true],
  ["0.0.0.0", false],
  ["::", false],
  ["128.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["localhost.example.com", false],
  ["127.0.0.1.example.com", false],
])("[CF15] the address %s is one of this machine alone: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

const LOCAL = { environment: "local", sandbox: "on", roles: ["api", "hub", "worker"] } as const;

test.each([
  ["local as it comes", {}, true],
  ["local that leaves it out", { sandbox: "off" }, false],
  ["staging", { environment: "staging" }, false],
  ["production", { environment: "production" }, false],
  ["a hub alone", { roles: ["hub"] }, false],
  ["an API alone", { roles: ["api", "worker"] }, false],
] as const)("[SB6] the sandbox is on or off in %s", (_, changes, isThere) => {
  expect(hasSandbox({ ...LOCAL, ...changes })).toBe(isThere);
});
