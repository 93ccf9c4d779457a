import { Worker } from "node:worker_threads";

export class YamlProblem extends Error {
  override readonly name = "YamlProblem";
}

const PATIENCE_MS = 10_000;
const MEMORY_MB = 256;

/**
 * Reads YAML that strangers wrote, on a thread of its own: some hundred kilobytes can keep the parser busy for seconds,
 * and some can exhaust its memory. Here, nobody else waits for it, and it is ended when it takes too long.
 */
export function readYamlApart(text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./yaml.worker.ts", import.meta.url), {
      workerData: text,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      stdout: true,
      stderr: true,
    });
    const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS);
    const fail = () => reject(new YamlProblem("its YAML cannot be read"));
    worker.once("message", (json: string) => resolve(JSON.parse(json)));
    worker.once("error", fail);
    worker.once("exit", () => {
      clearTimeout(timer);
      fail();
    });
  });
}
