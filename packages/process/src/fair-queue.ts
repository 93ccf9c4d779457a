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

/** Work that has been tried before waits behind all work that has not. */
export type FairQueue = <T>(
  caller: string,
  work: () => Promise<T>,
  options?: { readonly isRetry?: boolean },
) => Promise<T>;

/** Callers in the order of their turns, with their queued work. */
type Line = Map<string, (() => void)[]>;

/**
 * Bounds concurrent work without letting one caller block the others: callers take turns. Throws QueueFull where a
 * caller has too much queued.
 */
export function fairQueue({ atOnce, atOncePerCaller, waitingPerCaller }: QueueLimits): FairQueue {
  const lines: { readonly first: Line; readonly retries: Line } = { first: new Map(), retries: new Map() };
  const running = new Map<string, number>();
  let runningInAll = 0;

  /** Starts the next work of a line, if there is a caller who may run more. */
  function startIn(line: Line): boolean {
    for (const [caller, [start, ...rest]] of line) {
      const own = running.get(caller) ?? 0;
      if (!start || own >= atOncePerCaller) continue;
      line.delete(caller);
      if (rest.length > 0) line.set(caller, rest);
      running.set(caller, own + 1);
      runningInAll++;
      start();
      return true;
    }
    return false;
  }

  function startNext(): void {
    while (runningInAll < atOnce && (startIn(lines.first) || startIn(lines.retries)));
  }

  function finished(caller: string): void {
    runningInAll--;
    const own = (running.get(caller) ?? 1) - 1;
    if (own > 0) running.set(caller, own);
    else running.delete(caller);
    startNext();
  }

  const waitingOf = (caller: string) =>
    (lines.first.get(caller)?.length ?? 0) + (lines.retries.get(caller)?.length ?? 0);

  return async (caller, work, { isRetry = false } = {}) => {
    if (waitingOf(caller) >= waitingPerCaller) throw new QueueFull("Too much of the caller's is waiting.");
    const line = isRetry ? lines.retries : lines.first;
    await new Promise<void>((start) => {
      line.set(caller, [...(line.get(caller) ?? []), start]);
      startNext();
    });
    try {
      return await work();
    } finally {
      finished(caller);
    }
  };
}
