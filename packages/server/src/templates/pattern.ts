import { RE2JS, RE2JSException } from "re2js";

/**
 * Patterns that people write into templates, by RE2. V8's own engine backtracks: `^(a+)+$` on thirty letters would hold
 * the whole server up. RE2 takes time that grows with the text alone; looking around and referring back, which it cannot
 * do, are refused when the template is written.
 */
export type TextTest = (text: string) => boolean;

export class PatternProblem extends Error {
  override readonly name = "PatternProblem";
}

/** Instructions of the compiled program. With the longest text, they bound the work of one test. */
const MOST_INSTRUCTIONS = 1000;
/** Longer text is not held against a pattern; a parameter that has one takes no more. */
export const LONGEST_MATCHED_TEXT = 4096;
const LONGEST_REASON = 200;

/** Whether the pattern matches anywhere in the text. Throws PatternProblem. */
export function compilePattern(pattern: string): TextTest {
  if (repetitionsIn(pattern) > MOST_INSTRUCTIONS) throw new PatternProblem("is too large");
  const compiled = compileRe2(pattern);
  if (compiled.programSize() > MOST_INSTRUCTIONS) throw new PatternProblem("is too large");
  return (text) => text.length <= LONGEST_MATCHED_TEXT && compiled.test(text);
}

/**
 * How often `{n}` and `{n,m}` repeat, added up. Each repetition becomes at least one instruction, so the program is known to
 * be too large before it is compiled, which takes tens of megabytes for some patterns.
 */
function repetitionsIn(pattern: string): number {
  const unquoted = pattern.replace(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/gs, "");
  // RE2 refuses longer ones itself, and says so in better words.
  const counts = unquoted.matchAll(/\{(\d{1,4})(?:,(\d{0,4}))?\}/g);
  return [...counts].reduce((sum, [, least, most]) => sum + Math.max(Number(least), Number(most ?? 0)), 0);
}

/** Without a limit of size: for patterns that we ship. Throws PatternProblem. */
export function compileRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "").slice(0, LONGEST_REASON);
    throw new PatternProblem(`RE2 does not take: ${reason}`);
  }
}

/** What is known of patterns and of texts that were held against them. */
export interface Patterns {
  /** Null where the pattern can be used. */
  problemOf(pattern: string): string | null;
  accepts(pattern: string, text: string): boolean;
}

export interface PatternQuestion {
  readonly pattern: string;
  readonly texts: readonly string[];
}

export interface PatternAnswer {
  readonly problem: string | null;
  /** One for each text of the question. */
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

/** Compiles here and now: for patterns of our own, and never for those of a request. */
export const patternsHere: Patterns = {
  problemOf: (pattern) => answerQuestion({ pattern, texts: [] }).problem,
  accepts: (pattern, text) => answerQuestion({ pattern, texts: [text] }).accepted[0] === true,
};

/** For parameters that are stored: they were checked when they were written. */
export const patternsChecked: Patterns = { problemOf: () => null, accepts: () => true };

/** What was answered elsewhere. A text that nobody asked about is not accepted. */
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
