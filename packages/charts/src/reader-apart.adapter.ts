import { Worker } from "node:worker_threads";
import type { ChartReader } from "./chart-reading.ts";
import { IndexProblem } from "./helm-index.ts";
import type { Asked, Told } from "./reader.worker.ts";

/** For everything that is read of one index, however many entries it has. */
const PATIENCE_MS = 10_000;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

/**
 * Reads on a thread of its own, which ends with the answer: nobody else waits for what a stranger wrote. The thread is
 * ended where it takes too long or too much memory.
 */
export function createReaderApart(patienceMs = PATIENCE_MS): ChartReader {
  return {
    index: (question) => told({ kind: "index", question }, patienceMs),
    versions: (question) => told({ kind: "versions", question }, patienceMs),
  };
}

function told<T>(asked: Asked, patienceMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./reader.worker.ts", import.meta.url), {
      workerData: asked,
      resourceLimits: MEMORY,
      stdout: true,
      stderr: true,
    });
    let reason = "it takes too much memory to read";
    let timer: NodeJS.Timeout | undefined;
    worker.on("message", (answer: Told | "started") => {
      // The deadline is for the reading, and not for the start of the thread.
      if (answer === "started") {
        timer = setTimeout(() => {
          reason = "it takes too long to read";
          void worker.terminate();
        }, patienceMs);
      } else if ("problem" in answer) reject(new IndexProblem(answer.problem));
      else resolve(JSON.parse(answer.json));
    });
    // An error is followed by the exit, which is what counts.
    worker.on("error", () => {});
    worker.once("exit", () => {
      clearTimeout(timer);
      reject(new IndexProblem(reason));
    });
  });
}
