import { Worker } from "node:worker_threads";
import type { TemplateParameter } from "@binnacle/contract";
import { fairQueue, QueueFull } from "../fair-queue.ts";
import { Fault, invalidValue } from "../fault.ts";
import { patternQuestions } from "./parameter.ts";
import { type Patterns, patternsAnswered } from "./pattern.ts";
import { PROBLEMS, type ReadingKind, ReadingProblem, type Readings } from "./reading.ts";
import type { WorkerAnswer } from "./reading.worker.ts";

/**
 * Reads untrusted input on worker threads: a few hundred kilobytes of YAML can occupy a parser for a minute or exhaust
 * its memory. Other requests do not wait for it, and a thread that takes too long is terminated.
 */
export interface Readers {
  /** Throws ReadingProblem, ArchiveProblem, IndexProblem, and the 429 of a caller who has too much waiting. */
  read<K extends ReadingKind>(caller: string, kind: K, given: Readings[K]["given"]): Promise<Readings[K]["read"]>;
}

interface Asked {
  readonly kind: ReadingKind;
  readonly given: Readings[ReadingKind]["given"];
}

const DEADLINES_MS: Record<ReadingKind, number> = {
  template: 5_000,
  patterns: 5_000,
  registry: 20_000,
  index: 10_000,
  versions: 5_000,
  chart: 10_000,
};

/** Two threads, so that one caller cannot occupy all. */
const THREADS = 2;
const WAITING_PER_CALLER = 8;
const IDLE_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

export function createReaders(deadlinesMs = DEADLINES_MS): Readers {
  const idle: Thread[] = [];
  const inTurn = fairQueue({ atOnce: THREADS, atOncePerCaller: 1, waitingPerCaller: WAITING_PER_CALLER });

  async function told({ kind, given }: Asked): Promise<WorkerAnswer> {
    const thread = idle.findLast(({ isAlive }) => isAlive) ?? new Thread();
    idle.splice(0, idle.length, ...idle.filter((other) => other !== thread && other.isAlive));
    const answer = await thread.ask({ kind, given }, deadlinesMs[kind]);
    // The most recently used thread is used next, so that the other can become idle and end.
    idle.push(thread.rest());
    return answer;
  }

  return {
    async read(caller, kind, given) {
      const answer = await inTurn(caller, () => told({ kind, given })).catch((error: unknown) => {
        throw error instanceof QueueFull ? tooMuchWaiting() : error;
      });
      if ("problem" in answer) throw new PROBLEMS[answer.problem](answer.message);
      return JSON.parse(answer.json);
    },
  };
}

export const tooMuchWaiting = () =>
  new Fault("rate_limited", "Too much of what you have sent is still being read. Try again in a moment.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Larger inputs are transferred instead of copied. */
const COPIED_BYTES = 1024 * 1024;

class Thread {
  readonly #worker = new Worker(new URL("./reading.worker.ts", import.meta.url), {
    resourceLimits: MEMORY,
    stdout: true,
    stderr: true,
  });
  /** Resolves with the first message or the exit: the deadline covers the reading and not the start of the thread. */
  readonly #started = new Promise<void>((started) => {
    this.#worker.once("message", () => started());
    this.#worker.once("exit", () => started());
  });
  #isAlive = true;
  #rest: NodeJS.Timeout | undefined;

  constructor() {
    // An error is followed by the exit event, which is handled.
    this.#worker.on("error", () => {});
    this.#worker.once("exit", () => {
      this.#isAlive = false;
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  async ask(asked: Asked, deadlineMs: number): Promise<WorkerAnswer> {
    clearTimeout(this.#rest);
    const worker = this.#worker;
    worker.ref();
    await this.#started;
    return new Promise<WorkerAnswer>((resolve, reject) => {
      let reason = "it takes too much memory to read";
      const timer = setTimeout(() => {
        reason = "it takes too long to read";
        void this.#end();
      }, deadlineMs);
      const finish = () => {
        clearTimeout(timer);
        worker.off("message", onAnswer).off("exit", onExit).unref();
      };
      const onAnswer = (told: WorkerAnswer) => {
        finish();
        resolve(told);
      };
      const onExit = () => {
        finish();
        reject(new ReadingProblem(reason));
      };
      worker.on("message", onAnswer).on("exit", onExit);
      if (this.#isAlive) worker.postMessage(asked, transferable(asked.given));
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

/** Returns the buffer of large inputs that do not share it. */
function transferable(given: Readings[ReadingKind]["given"]): ArrayBuffer[] {
  if (typeof given !== "object" || Array.isArray(given)) return [];
  const values: unknown[] = given instanceof Uint8Array ? [given] : Object.values(given);
  return values.flatMap((value) =>
    value instanceof Uint8Array && value.length > COPIED_BYTES && value.length === value.buffer.byteLength
      ? [value.buffer as ArrayBuffer]
      : [],
  );
}

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
