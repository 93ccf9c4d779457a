import { RE2JS, RE2JSException } from "re2js";

/**
 * Patterns of templates are matched by RE2. V8's engine backtracks: `^(a+)+$` on thirty letters would block the whole
 * server. RE2 takes linear time; lookarounds and backreferences, which it does not support, are refused when the
 * template is written.
 */
export type TextTest = (text: string) => boolean;

export class PatternProblem extends Error {
  override readonly name = "PatternProblem";
}

/** The size of a compiled pattern. With the longest text, it bounds the work of one test. */
const MOST_INSTRUCTIONS = 1000;
/** Longer text is not tested; a parameter with a pattern refuses it. */
export const LONGEST_MATCHED_TEXT = 4096;
const LONGEST_REASON = 200;

/** Tests whether the pattern matches anywhere in the text. Throws PatternProblem. */
export function compilePattern(pattern: string): TextTest {
  if (repetitionsIn(pattern) > MOST_INSTRUCTIONS) throw new PatternProblem("is too large");
  const compiled = compileRe2(pattern);
  if (compiled.programSize() > MOST_INSTRUCTIONS) throw new PatternProblem("is too large");
  return (text) => text.length <= LONGEST_MATCHED_TEXT && compiled.test(text);
}

/**
 * Sums the repetitions of `{n}` and `{n,m}`. Each becomes at least one instruction, so an oversized program is detected
 * before it is compiled, which takes tens of megabytes for some patterns.
 */
function repetitionsIn(pattern: string): number {
  const unquoted = pattern.replace(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/gs, "");
  // RE2 refuses larger counts itself, with a better message.
  const counts = unquoted.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g);
  return [...counts].reduce((sum, [, least, most]) => sum + Math.max(Number(least), Number(most ?? 0)), 0);
}

/** Has no size limit, for patterns that ship with Binnacle. Throws PatternProblem. */
export function compileRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "").slice(0, LONGEST_REASON);
    throw new PatternProblem(`RE2 does not take: ${reason}`);
  }
}

/** The tested patterns and texts. */
export interface Patterns {
  /** Returns why the pattern cannot be used, or null. */
  problemOf(pattern: string): string | null;
  accepts(pattern: string, text: string): boolean;
}

export interface PatternQuestion {
  readonly pattern: string;
  readonly texts: readonly string[];
}

export interface PatternAnswer {
  readonly problem: string | null;
  /** One entry for each text of the question. */
  readonly accepted: readonly boolean[];
}

export function answerQuestion({ pattern, texts }: PatternQuestion): PatternAnswer {
  try {
    const accepts = compilePattern(pattern);
    return { problem: null, accepted: texts.map(accepts) };
  } catch (error) {
    if (!(error instanceof PatternProblem)) throw error;
    return { problem: error.message, accepted: texts.map(() => false) };
  }
}

/** Compiles on this thread, for patterns that ship with Binnacle and never for those of a request. */
export const patternsHere: Patterns = {
  problemOf: (pattern) => answerQuestion({ pattern, texts: [] }).problem,
  accepts: (pattern, text) => answerQuestion({ pattern, texts: [text] }).accepted[0] === true,
};

/** For stored parameters, which were checked when they were written. */
export const patternsChecked: Patterns = { problemOf: () => null, accepts: () => true };

/** The answers of another thread. A text that was not tested is not accepted. */
export function patternsAnswered(questions: readonly PatternQuestion[], answers: readonly PatternAnswer[]): Patterns {
  const known = new Map(
    questions.map(({ pattern, texts }, index) => {
      const { problem = "was not tested", accepted = [] } = answers[index] ?? {};
      return [pattern, { problem, accepted: new Set(texts.filter((_, at) => accepted[at])) }] as const;
    }),
  );
  return {
    problemOf: (pattern) => known.get(pattern)?.problem ?? null,
    accepts: (pattern, text) => known.get(pattern)?.accepted.has(text) ?? false,
  };
}
