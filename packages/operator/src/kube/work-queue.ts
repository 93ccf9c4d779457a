export interface Clock {
  readonly now: () => number;
  /** Calls back once, later; the answer takes it back. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export interface WorkQueueOptions {
  /** `failedBefore`: how often the key has failed since it last succeeded. */
  readonly run: (key: string, failedBefore: number) => Promise<void>;
  readonly clock: Clock;
  readonly concurrency?: number;
  readonly firstRetryMs?: number;
  readonly longestRetryMs?: number;
  readonly onError?: (key: string, error: unknown, retryMs: number) => void;
}

export interface WorkQueue {
  /**
   * Runs the key soon, or after a while at the latest. An earlier time wins over a later one, also over a retry: who adds
   * a key that failed has a reason to believe that it may work now.
   */
  add(key: string, options?: { readonly afterMs?: number }): void;
  /** Keys that run, wait or will be retried. */
  readonly size: number;
  readonly depth: QueueDepth;
  /** Runs nothing more, and waits for what runs. */
  stop(): Promise<void>;
}

export interface QueueDepth {
  /** Keys that wait for their turn. */
  readonly ready: number;
  /** Keys whose last run has failed. */
  readonly failing: number;
  /** Since when the longest of the present runs lasts; 0 where nothing runs. */
  readonly longestRunMs: number;
}

type Entry =
  | { readonly state: "ready" }
  | { readonly state: "later"; readonly atMs: number; readonly cancel: () => void }
  | { readonly state: "running"; readonly sinceMs: number; readonly againAfterMs: number | null };

/** One run per key at a time. What is added during a run is done once more after it, however often it was added. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { run, clock, concurrency = 8, firstRetryMs = 1_000, longestRetryMs = 300_000, onError } = options;
  const entries = new Map<string, Entry>();
  const ready: string[] = [];
  const failures = new Map<string, number>();
  const runs = new Set<Promise<void>>();
  let isStopped = false;

  function add(key: string, { afterMs = 0 }: { readonly afterMs?: number } = {}): void {
    if (isStopped) return;
    const entry = entries.get(key);
    if (entry?.state === "ready") return;
    if (entry?.state === "running") {
      entries.set(key, { ...entry, againAfterMs: Math.min(entry.againAfterMs ?? afterMs, afterMs) });
      return;
    }
    const atMs = clock.now() + afterMs;
    if (entry?.state === "later") {
      if (entry.atMs <= atMs) return;
      entry.cancel();
    }
    if (afterMs <= 0) makeReady(key);
    else entries.set(key, { state: "later", atMs, cancel: clock.after(afterMs, () => makeReady(key)) });
  }

  function makeReady(key: string): void {
    entries.set(key, { state: "ready" });
    ready.push(key);
    startRuns();
  }

  function startRuns(): void {
    while (runs.size < concurrency) {
      const key = ready.shift();
      if (key === undefined) return;
      entries.set(key, { state: "running", sinceMs: clock.now(), againAfterMs: null });
      const running = runOnce(key).finally(() => {
        runs.delete(running);
        startRuns();
      });
      runs.add(running);
    }
  }

  async function runOnce(key: string): Promise<void> {
    let retryMs: number | null = null;
    try {
      await run(key, failures.get(key) ?? 0);
      failures.delete(key);
    } catch (error) {
      const failed = failures.get(key) ?? 0;
      failures.set(key, failed + 1);
      retryMs = retryMsAfter(failed, firstRetryMs, longestRetryMs);
      onError?.(key, error, retryMs);
    }
    const entry = entries.get(key);
    entries.delete(key);
    // A key that was added during a failed run waits for the retry, which sees the newest state anyway.
    const afterMs = retryMs ?? (entry?.state === "running" ? entry.againAfterMs : null);
    if (afterMs !== null) add(key, { afterMs });
  }

  return {
    add,
    get size() {
      return entries.size;
    },
    get depth() {
      const began = [...entries.values()].flatMap((entry) => (entry.state === "running" ? [entry.sinceMs] : []));
      const longestRunMs = began.length === 0 ? 0 : clock.now() - Math.min(...began);
      return { ready: ready.length, failing: failures.size, longestRunMs };
    },
    async stop() {
      isStopped = true;
      for (const entry of entries.values()) if (entry.state === "later") entry.cancel();
      ready.length = 0;
      await Promise.all(runs);
      entries.clear();
    },
  };
}

function retryMsAfter(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** Math.min(failures, 30), longestMs);
}
