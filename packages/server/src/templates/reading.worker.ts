import { parentPort } from "node:worker_threads";
import { PROBLEMS, type ProblemKind, READINGS, type ReadingKind } from "./reading.ts";

/** The answer is JSON text, which parses faster than the platform copies objects and whose size can be bounded. */
export type WorkerAnswer = { readonly json: string } | { readonly problem: ProblemKind; readonly message: string };

/** The limit of an answer, because the main thread has to parse it. */
const LARGEST_ANSWER_CHARACTERS = 5 * 1024 * 1024;

async function answer({ kind, given }: { kind: ReadingKind; given: never }): Promise<WorkerAnswer> {
  try {
    const json = JSON.stringify(await READINGS[kind](given));
    return json.length > LARGEST_ANSWER_CHARACTERS
      ? { problem: "ReadingProblem", message: "it holds too much" }
      : { json };
  } catch (error) {
    const problem = (Object.keys(PROBLEMS) as ProblemKind[]).find((name) => error instanceof PROBLEMS[name]);
    // Any other error is caused by the input, for example by too many levels.
    return problem
      ? { problem, message: (error as Error).message }
      : { problem: "ReadingProblem", message: "it cannot be read" };
  }
}

parentPort?.on("message", (asked) => void answer(asked).then((answered) => parentPort?.postMessage(answered)));
parentPort?.postMessage("started");
