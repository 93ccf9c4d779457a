import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { patternQuestions } from "./parameter.ts";
import {
  answerQuestion,
  compilePattern,
  LONGEST_MATCHED_TEXT,
  PatternProblem,
  patternsAnswered,
  patternsHere,
} from "./pattern.ts";

/** Syntax that RE2 and the platform's regular expressions share. */
const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\d", "\\.", "\\p{Cc}", "\\x62", "^", "$", "😀");
const count = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?");

const { pattern } = fc.letrec<{ pattern: string; branch: string; piece: string }>((tie) => ({
  pattern: fc.array(tie("branch"), { minLength: 1, maxLength: 2 }).map((branches) => branches.join("|")),
  branch: fc.array(tie("piece"), { maxLength: 3 }).map((pieces) => pieces.join("")),
  piece: fc.oneof(
    // The platform's engine writes out counts in counts, which took minutes for deeper ones and for large classes such as \p{L}.
    { maxDepth: 2, withCrossShrink: true },
    fc.tuple(atom, count).map(([one, times]) => one + (one === "^" || one === "$" ? "" : times)),
    fc.tuple(tie("pattern"), count).map(([inside, times]) => `(?:${inside})${times}`),
    tie("pattern").map((inside) => `(${inside})`),
  ),
}));

function compiledUnlessTooLarge(source: string) {
  try {
    return compilePattern(source);
  } catch (error) {
    if (error instanceof PatternProblem && /too large|repeat count/.test(error.message)) return null;
    throw error;
  }
}

describe("a pattern", () => {
  test("[TP14] a pattern matches the same texts as the platform's regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "1", ".", "\n", "😀"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, given) => {
        const test = compiledUnlessTooLarge(source);
        fc.pre(test !== null);
        expect(test?.(given)).toBe(new RegExp(source, "u").test(given));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["^(a+)+$", `${"a".repeat(LONGEST_MATCHED_TEXT - 1)}!`],
    ["^(a|a)*$", `${"a".repeat(LONGEST_MATCHED_TEXT - 1)}!`],
    ["(.*)*(.*)*(.*)*x$", "y".repeat(LONGEST_MATCHED_TEXT)],
  ])("[TP14] the pattern %s is answered, where a backtracking engine would not return", (source, text) => {
    expect(compilePattern(source)(text)).toBe(false);
  });

  test("[TP14] a pattern does not match text that is too long to be tested", () => {
    expect(compilePattern("a")("a".repeat(LONGEST_MATCHED_TEXT))).toBe(true);
    expect(compilePattern("a")("a".repeat(LONGEST_MATCHED_TEXT + 1))).toBe(false);
  });

  test.each([
    ["\\{2000}", "{2000}"],
    ["[{2000}]+", "{0}2"],
    ["[]{2000}]+", "{0]"],
    ["a{2,450}", "aa"],
  ])("[TP14] the pattern %s is not too large for the number in it", (source, text) => {
    expect(compilePattern(`^${source}$`)(text)).toBe(true);
  });

  test.each([
    ["(", "RE2 does not take: missing closing ): `(`"],
    ["(?=a)", "RE2 does not take: invalid or unsupported Perl syntax: `(?=`"],
    ["(?<!a)b", "RE2 does not take: invalid named capture: `(?<!a)b`"],
    ["(a)\\1", "RE2 does not take: invalid escape sequence: `\\1`"],
    ["\\u0061", "RE2 does not take: invalid escape sequence: `\\u`"],
    ["a{100000000}", "RE2 does not take: invalid repeat count: `{100000000}`"],
    ["((a{30}){30}){30}", "RE2 does not take: invalid repeat count: `{30}`"],
    ["(abc){900}", "is too large"],
    ["(a?){1000}".repeat(45), "is too large"],
  ])("[TP14] the pattern %s is refused, because it %s", (source, problem) => {
    expect(() => compilePattern(source)).toThrow(new PatternProblem(problem));
    expect(patternsHere.problemOf(source)).toBe(problem);
  });

  test("[TP14] patterns and the texts held against them can be answered elsewhere, with the same outcome", () => {
    const parameters = [
      { name: "a", type: "string", pattern: "^x+$", default: "xx" },
      { name: "b", type: "string", pattern: "^x+$" },
      { name: "c", type: "string", pattern: "(" },
      { name: "d", type: "string" },
    ] as const;
    const given = { b: "y", d: "z", e: "x", toString: "x" };
    const questions = patternQuestions(parameters, given);
    expect(questions).toEqual([
      { pattern: "^x+$", texts: ["xx", "y"] },
      { pattern: "(", texts: [] },
    ]);
    const patterns = patternsAnswered(questions, questions.map(answerQuestion));
    for (const source of ["^x+$", "("]) {
      expect(patterns.problemOf(source)).toBe(patternsHere.problemOf(source));
      for (const text of ["xx", "y"]) expect(patterns.accepts(source, text)).toBe(patternsHere.accepts(source, text));
    }
    // Nobody asked about these.
    expect(patterns.accepts("^x+$", "xxx")).toBe(false);
    expect(patterns.accepts(".", "x")).toBe(false);
  });
});
