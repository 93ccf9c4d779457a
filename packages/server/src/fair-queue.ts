/** The caller has reached the limit of queued work. */
export class QueueFull extends Error {
  override readonly name = "QueueFull";
}

export interface QueueLimits {
  readonly atOnce: number;
  /** Less than `atOnce`, so that one caller cannot occupy all slots. */
  readonly atOncePerCaller: number;
  readonly waitingPerCaller: number;
}

export type FairQueue = <T>(caller: string, work: () => Promise<T>) => Promise<T>;

/**
 * Bounds concurrent work without letting one caller block the others: callers take turns. Throws QueueFull where a
 * caller has too much queued.
 */
export function fairQueue({ atOnce, atOncePerCaller, waitingPerCaller }: QueueLimits): FairQueue {
  /** The callers in the order of their turns, with their queued work. */
  const waiting = new Map<string, (() => void)[]>();
  const running = new Map<string, number>();
  let runningInAll = 0;

  function startNext(): void {
    if (runningInAll >= atOnce) return;
    for (const [caller, [start, ...rest]] of waiting) {
      const own = running.get(caller) ?? 0;
      if (!start || own >= atOncePerCaller) continue;
      waiting.delete(caller);
      if (rest.length > 0) waiting.set(caller, rest);
      running.set(caller, own + 1);
      runningInAll++;
      start();
      startNext();
      return;
    }
  }

  function finished(caller: string): void {
    runningInAll--;
    const own = (running.get(caller) ?? 1) - 1;
    if (own > 0) running.set(caller, own);
    else running.delete(caller);
    startNext();
  }

  return async (caller, work) => {
    const own = waiting.get(caller) ?? [];
    if (own.length >= waitingPerCaller) throw new QueueFull("Too much of the caller's is waiting.");
    await new Promise<void>((start) => {
      waiting.set(caller, [...own, start]);
      startNext();
    });
    try {
      return await work();
    } finally {
      finished(caller);
    }
  };
}
