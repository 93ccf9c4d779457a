import { parentPort } from "node:worker_threads";
import { messageOfProblem, type ProblemMessage, ReadingProblem } from "./problems.ts";
import type { ReadingTable } from "./reader-pool.adapter.ts";

/** The answer is JSON text, which parses faster than the platform copies objects and whose size can be bounded. */
export type ThreadAnswer = { readonly json: string } | ProblemMessage;

/** The limit of an answer, because the main thread has to parse it. */
const LARGEST_ANSWER_CHARACTERS = 5 * 1024 * 1024;

/** Answers the questions of a `createReaderPool` on its thread. The first message says that the thread has started. */
export function serveReadings(readings: ReadingTable): void {
  async function answer(kind: string, given: unknown): Promise<ThreadAnswer> {
    try {
      const json = JSON.stringify(await readings[kind]?.(given as never));
      return json.length > LARGEST_ANSWER_CHARACTERS
        ? messageOfProblem(new ReadingProblem("it holds too much"))
        : { json };
    } catch (error) {
      return messageOfProblem(error);
    }
  }
  parentPort?.on("message", ({ kind, given }) => {
    void answer(kind, given).then((answered) => parentPort?.postMessage(answered));
  });
  parentPort?.postMessage("started");
}
