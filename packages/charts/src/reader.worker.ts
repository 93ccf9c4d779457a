import { parentPort, workerData } from "node:worker_threads";
import { chooseVersion, type IndexQuestion, readIndex, type VersionQuestion } from "./chart-reading.ts";
import { IndexProblem } from "./helm-index.ts";

export type Asked =
  | { readonly kind: "index"; readonly question: IndexQuestion }
  | { readonly kind: "versions"; readonly question: VersionQuestion };

/** As JSON text, whose size can be bounded before the other side parses it. */
export type Told = { readonly json: string } | { readonly problem: string };

const LARGEST_ANSWER_CHARACTERS = 5 * 1024 * 1024;

function tell(asked: Asked): Told {
  try {
    const json = JSON.stringify(asked.kind === "index" ? readIndex(asked.question) : chooseVersion(asked.question));
    return json.length > LARGEST_ANSWER_CHARACTERS ? { problem: "it holds too much" } : { json };
  } catch (error) {
    // Anything else is what the text did to a parser: too many levels, for one.
    return { problem: error instanceof IndexProblem ? error.message : "it cannot be read" };
  }
}

/** Answers one question and ends. The first message starts the deadline. */
parentPort?.postMessage("started");
parentPort?.postMessage(tell(workerData));
