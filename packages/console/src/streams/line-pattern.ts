import { RE2JS, RE2JSException } from "re2js";
import type { CompilePattern } from "./log-lines.ts";

/** Both bound what compiling and one test take. */
const LONGEST_PATTERN = 500;
const MOST_INSTRUCTIONS = 1_000;

/**
 * Tests whether a pattern, which may come from a link, matches anywhere in a line. It is matched by RE2, in linear time: the
 * browser's own engine backtracks, and `^(a+)+$` would freeze the page. This file is loaded when a pattern is used.
 */
export const compileLinePattern: CompilePattern = (pattern) => {
  if (pattern.length > LONGEST_PATTERN) return new Error("The regular expression is too long.");
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    if (compiled.programSize() > MOST_INSTRUCTIONS) return new Error("The regular expression is too large.");
    return (text) => compiled.test(text);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return new Error(`Not a regular expression: ${error.message.replace(/^error parsing regexp: /, "")}`);
  }
};
