import { createReaderPool, type Given, type Read, ReadingProblem } from "@binnacle/charts";
import type { TemplateParameter } from "@binnacle/contract";
import { fairQueue, QueueFull } from "@binnacle/process";
import { Fault, invalidValue } from "../fault.ts";
import { patternQuestions } from "./parameter.ts";
import { type Patterns, patternsAnswered } from "./pattern.ts";
import type { READINGS } from "./reading.ts";

type Readings = typeof READINGS;

/** Reads untrusted input on worker threads, so that other requests do not wait for it. */
export interface Readers {
  /** Throws ReadingProblem, ArchiveProblem, and the 429 of a caller who has too much waiting. */
  read<K extends keyof Readings>(caller: string, kind: K, given: Given<Readings, K>): Promise<Read<Readings, K>>;
}

const DEADLINES_MS: Record<keyof Readings, number> = {
  template: 5_000,
  patterns: 5_000,
  templateCatalog: 20_000,
  index: 10_000,
  versions: 5_000,
  chart: 10_000,
};

/** Two threads, so that one caller cannot occupy all. */
const THREADS = 2;
const WAITING_PER_CALLER = 8;
const RETRY_AFTER_SECONDS = 5;

export function createReaders(deadlinesMs = DEADLINES_MS): Readers {
  const pool = createReaderPool<Readings>(new URL("./reading.worker.ts", import.meta.url), deadlinesMs);
  const inTurn = fairQueue({ atOnce: THREADS, atOncePerCaller: 1, waitingPerCaller: WAITING_PER_CALLER });
  return {
    read: (caller, kind, given) =>
      inTurn(caller, () => pool.read(kind, given)).catch((error: unknown) => {
        throw error instanceof QueueFull ? tooMuchWaiting() : error;
      }),
  };
}

export const tooMuchWaiting = () =>
  new Fault("rate_limited", "Too much of what you have sent is still being read. Try again in a moment.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/**
 * Tests the patterns of parameters on another thread: compiling a pattern may take long, and a request may have a
 * hundred. Throws the 422 of patterns that take too long.
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
