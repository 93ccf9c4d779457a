import type { ValidationItem } from "@binnacle/contract";
import { invalid } from "../fault.ts";
import { type Guard, type Input, knownCaller } from "./guard.ts";

/** What a schema cannot say about the form of a request. Its 422 comes before any 404 and 403, as the schema's does. */
export function wellFormed<S, I extends Input>(
  problemsOf: (input: I) => readonly ValidationItem[],
  guard: Guard<S, I>,
): Guard<S, I> {
  return {
    requirement: guard.requirement,
    async authorize(request, input) {
      const problems = problemsOf(input);
      if (problems.length === 0) return guard.authorize(request, input);
      await knownCaller(request);
      throw invalid(problems);
    },
  };
}
