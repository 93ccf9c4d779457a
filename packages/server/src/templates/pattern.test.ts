import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern, LONGEST_MATCHED_TEXT, PatternProblem } from "./pattern.ts";

const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\d", "\\.", "\\u0061", "\\p{L}", "\\x62", "^", "$", "😀");
const count = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?");

const { pattern } = fc.letrec<{ pattern: string; branch: string; piece: string }>((tie) => ({
  pattern: fc.array(tie("branch"), { minLength: 1, maxLength: 2 }).map((branches) => branches.join("|")),
  branch: fc.array(tie("piece"), { maxLength: 3 }).map((pieces) => pieces.join("")),
  piece: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.tuple(atom, count).map(([one, times]) => one + (one === "^" || one === "$" ? "" : times)),
    fc.tuple(tie("pattern"), count).map(([inside, times]) => `(?:${inside})${times}`),
    tie("pattern").map((inside) => `(?<name>${inside})`),
  ),
}));

function compiledUnlessTooLarge(source: string) {
  try {
    return compilePattern(source);
  } catch (error) {
    if (error instanceof PatternProblem && error.message === "is too large") return null;
    throw error;
  }
}

describe("a pattern", () => {
  test("[TP14] means what it means to a regular expression, for whatever text", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "1", ".", "\n", "😀"), maxLength: 8 });
    const wellFormed = pattern.filter((source) => {
      try {
        return Boolean(new RegExp(source, "u"));
      } catch {
        return false;
      }
    });
    fc.assert(
      fc.property(wellFormed, text, (source, given) => {
        const test = compiledUnlessTooLarge(source);
        fc.pre(test !== null);
        expect(test?.(given)).toBe(new RegExp(source, "u").test(given));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["^(a+)+$", `${"a".repeat(LONGEST_MATCHED_TEXT - 1)}!`],
    ["^(a|a)*$", `${"a".repeat(LONGEST_MATCHED_TEXT - 1)}!`],
    ["(.*)*(.*)*(.*)*x$", "y".repeat(LONGEST_MATCHED_TEXT)],
  ])("[TP14] %s is answered, where an engine that goes back would not return", (source, text) => {
    expect(compilePattern(source)(text)).toBe(false);
  });

  test("[TP14] does not match text that is too long to be tested", () => {
    expect(compilePattern("a")("a".repeat(LONGEST_MATCHED_TEXT))).toBe(true);
    expect(compilePattern("a")("a".repeat(LONGEST_MATCHED_TEXT + 1))).toBe(false);
  });

  test.each([
    ["(", "is no regular expression"],
    ["(?=a)", "looks around or sets flags, which is not supported"],
    ["(?<!a)b", "looks around, which is not supported"],
    ["(a)\\1", "refers back, which is not supported"],
    ["(?<n>a)\\k<n>", "refers back, which is not supported"],
    ["\\bword", "asks for the edge of a word, which is not supported"],
    ["\\ud83d\\ude00", "writes half a character, which is not supported"],
    ["a{100000000}", "is too large"],
    ["((a{30}){30}){30}", "is too large"],
  ])("[TP14] %s is refused, because it %s", (source, problem) => {
    expect(() => compilePattern(source)).toThrow(new PatternProblem(problem));
  });
});
