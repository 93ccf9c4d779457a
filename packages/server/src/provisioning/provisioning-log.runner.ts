import { setTimeout as delay } from "node:timers/promises";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { isOutage, type Queries } from "../database/transaction.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";
import { isCancelled, type RunHold, saveProgress } from "./provisioning-run.store.ts";
import type { Progress } from "./provisioning-run.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

interface Options {
  readonly hold: RunHold;
  readonly jobId: string;
  mask(text: string): string;
  /** Called once, when somebody wants the job to stop. */
  onCancel(): void;
  /** Called once, when another worker has claimed the job or nothing can be stored. */
  onLost(error: unknown): void;
}

export interface RunLog {
  /** Resolves when there is room for more. */
  write(lines: readonly string[]): Promise<void>;
  report(progress: Progress): void;
  /** Resolves when everything is stored; throws where that failed. */
  close(): Promise<void>;
}

const FLUSH_MS = 200;
const BATCH_LINES = 500;
/** The program waits while more lines than this are not stored. */
const MOST_WAITING = 5_000;
const CANCEL_POLL_MS = 1_000;

/**
 * Stores the lines and the progress of a run, in order, one batch after the other: at most every 200 ms, or when 500 lines
 * wait. A crash loses at most the last batch.
 */
export function openRunLog({ db, bus, clock }: Ports, { hold, jobId, mask, onCancel, onLost }: Options): RunLog {
  let waiting: string[] = [];
  let progress: Progress | null = null;
  let storing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isCancelSent = false;
  let lost: { readonly error: unknown } | null = null;

  const sendCancel = (isWanted: boolean) => {
    if (!isWanted || isCancelSent) return;
    isCancelSent = true;
    onCancel();
  };

  async function storeBatch(): Promise<void> {
    const [lines, reached] = [waiting.slice(0, BATCH_LINES), progress];
    try {
      const isWanted = await saveProgress(db, hold, jobId, { lines, progress: reached }, clock());
      waiting = waiting.slice(lines.length);
      if (progress === reached) progress = null;
      bus.publish(PROVISIONING_TOPIC, { job_id: jobId });
      sendCancel(isWanted);
    } catch (error) {
      // The lease decides how long an outage may last; until then the lines wait.
      if (isOutage(error)) return delay(FLUSH_MS);
      lost = { error };
      onLost(error);
    }
  }

  const isPending = () => lost === null && (waiting.length > 0 || progress !== null);

  function store(): Promise<void> {
    storing ??= storeBatch().finally(() => {
      storing = null;
      schedule();
    });
    return storing;
  }

  function schedule(): void {
    if (!isPending() || storing || timer) return;
    const isFull = waiting.length >= BATCH_LINES;
    timer = setTimeout(
      () => {
        timer = null;
        void store();
      },
      isFull ? 0 : FLUSH_MS,
    );
  }

  const poll = setInterval(() => {
    isCancelled(db, jobId).then(sendCancel, () => undefined);
  }, CANCEL_POLL_MS);

  return {
    async write(lines) {
      for (const line of lines) waiting.push(mask(line));
      schedule();
      while (waiting.length > MOST_WAITING && lost === null) await store();
    },
    report(reached) {
      progress = reached;
      schedule();
    },
    async close() {
      clearInterval(poll);
      try {
        for (let left = Infinity; isPending() || storing; left = waiting.length) {
          await store();
          // The database is away: the job runs again, and its log goes on there.
          if (isPending() && waiting.length >= left) throw new Error("The log of the job could not be stored.");
        }
      } finally {
        if (timer) clearTimeout(timer);
        timer = null;
      }
      if (lost) throw lost.error;
    },
  };
}
