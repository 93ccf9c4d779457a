import { Worker } from "node:worker_threads";
import { problemOfMessage, ReadingProblem } from "./problems.ts";
import type { ThreadAnswer } from "./serve-readings.worker.ts";

/** Functions that read what others wrote, by the kind of what they read. */
export type ReadingTable = Readonly<Record<string, (given: never) => unknown>>;
export type Given<T extends ReadingTable, K extends keyof T> = Parameters<T[K]>[0];
export type Read<T extends ReadingTable, K extends keyof T> = Awaited<ReturnType<T[K]>>;

export interface ReaderPool<T extends ReadingTable> {
  /** Throws ReadingProblem and ArchiveProblem. */
  read<K extends keyof T & string>(kind: K, given: Given<T, K>): Promise<Read<T, K>>;
}

const IDLE_MS = 30_000;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };
/** Larger inputs are transferred instead of copied. */
const COPIED_BYTES = 1024 * 1024;

/**
 * Reads what others wrote on threads that `serveReadings` in the module: a few hundred kilobytes of text can occupy a parser
 * for a minute or exhaust its memory. Nobody else waits for it, and a thread that takes too long or too much is ended. There
 * are as many threads as readings at once, which the caller bounds.
 */
export function createReaderPool<T extends ReadingTable>(
  module: URL,
  deadlinesMs: Readonly<Record<keyof T, number>>,
): ReaderPool<T> {
  const idle: Thread[] = [];
  return {
    async read(kind, given) {
      const thread = idle.findLast(({ isAlive }) => isAlive) ?? new Thread(module);
      idle.splice(0, idle.length, ...idle.filter((other) => other !== thread && other.isAlive));
      const answer = await thread.ask(kind, given, deadlinesMs[kind]);
      // The most recently used thread is used next, so that the others can become idle and end.
      idle.push(thread.rest());
      if ("problem" in answer) throw problemOfMessage(answer);
      return JSON.parse(answer.json);
    },
  };
}

class Thread {
  readonly #worker: Worker;
  /** Resolves with the first message or the exit: the deadline covers the reading and not the start of the thread. */
  readonly #started: Promise<void>;
  #isAlive = true;
  #rest: NodeJS.Timeout | undefined;

  constructor(module: URL) {
    const worker = new Worker(module, { resourceLimits: MEMORY, stdout: true, stderr: true });
    this.#worker = worker;
    this.#started = new Promise((started) => {
      worker.once("message", () => started());
      worker.once("exit", () => started());
    });
    // An error is followed by the exit event, which is handled.
    worker.on("error", () => {});
    worker.once("exit", () => {
      this.#isAlive = false;
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  async ask(kind: string, given: unknown, deadlineMs: number): Promise<ThreadAnswer> {
    clearTimeout(this.#rest);
    const worker = this.#worker;
    worker.ref();
    await this.#started;
    return new Promise<ThreadAnswer>((resolve, reject) => {
      let reason = "it takes too much memory to read";
      const timer = setTimeout(() => {
        reason = "it takes too long to read";
        void this.#end();
      }, deadlineMs);
      const finish = () => {
        clearTimeout(timer);
        worker.off("message", onAnswer).off("exit", onExit).unref();
      };
      const onAnswer = (answer: ThreadAnswer) => {
        finish();
        resolve(answer);
      };
      const onExit = () => {
        finish();
        reject(new ReadingProblem(reason));
      };
      worker.on("message", onAnswer).on("exit", onExit);
      if (this.#isAlive) worker.postMessage({ kind, given }, transferable(given));
      else onExit();
    });
  }

  /** Terminates the thread after some idle time. */
  rest(): this {
    this.#rest = setTimeout(() => void this.#end(), IDLE_MS).unref();
    return this;
  }

  #end(): Promise<number> {
    this.#isAlive = false;
    return this.#worker.terminate();
  }
}

/** Returns the buffers of large inputs that do not share them. */
function transferable(given: unknown): ArrayBuffer[] {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return [];
  const values: unknown[] = given instanceof Uint8Array ? [given] : Object.values(given);
  return values.flatMap((value) =>
    value instanceof Uint8Array && value.length > COPIED_BYTES && value.length === value.buffer.byteLength
      ? [value.buffer as ArrayBuffer]
      : [],
  );
}
