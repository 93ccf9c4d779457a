import type { TemplateParameter } from "@binnacle/contract";
import { invalidValue } from "../fault.ts";
import { patternQuestions } from "./parameter.ts";
import { type Patterns, patternsAnswered } from "./pattern.ts";
import type { Readers } from "./readers.adapter.ts";
import { ReadingProblem } from "./reading.ts";

/**
 * What has to be known about the patterns of parameters, found out on another thread: a pattern may take long to compile,
 * and a request may bring a hundred of them. Throws the 422 of patterns that take too long.
 */
export async function askPatterns(
  readers: Readers,
  caller: { readonly id: string },
  parameters: readonly TemplateParameter[] = [],
  given: Readonly<Record<string, unknown>> = {},
): Promise<Patterns> {
  const questions = patternQuestions(parameters, given);
  if (questions.length === 0) return patternsAnswered([], []);
  const answers = await readers.read(caller.id, "patterns", questions).catch((error: unknown) => {
    if (!(error instanceof ReadingProblem)) throw error;
    throw invalidValue(["body", "parameters"], "The patterns take too long to test");
  });
  return patternsAnswered(questions, answers);
}
