/** Brings together what many write, for one who reads. */
export interface Channel<T> extends AsyncIterable<T> {
  /** Comes back when there is room for more. */
  put(item: T): Promise<void>;
  /** The reader gets what is there, and then the end. */
  close(): void;
}

export function createChannel<T extends object>(capacity: number): Channel<T> {
  const items: T[] = [];
  let writers: (() => void)[] = [];
  let isClosed = false;
  let wakeReader = () => {};

  function wakeWriters(): void {
    const woken = writers;
    writers = [];
    for (const wake of woken) wake();
  }

  return {
    async put(item) {
      if (isClosed) return;
      items.push(item);
      wakeReader();
      while (items.length >= capacity && !isClosed) await new Promise<void>((resolve) => writers.push(resolve));
    },

    close() {
      isClosed = true;
      wakeReader();
      wakeWriters();
    },

    async *[Symbol.asyncIterator]() {
      for (;;) {
        const item = items.shift();
        if (item) {
          if (items.length < capacity) wakeWriters();
          yield item;
        } else if (isClosed) return;
        else await new Promise<void>((resolve) => (wakeReader = resolve));
      }
    },
  };
}

/** An item with a time by which streams are merged. */
export interface Instant {
  readonly instant: string;
}

/** Items of many sources in one order, as far as each source is in order. Holds no more than one of each. */
export async function* mergedByTime<T extends Instant>(sources: readonly AsyncIterator<T>[]): AsyncGenerator<T> {
  try {
    const heads = await Promise.all(sources.map(async (source) => ({ source, ...(await source.next()) })));
    let waiting = heads.filter(({ done }) => !done);
    for (;;) {
      const earliest = waiting.reduce<(typeof waiting)[number] | null>(
        (best, head) => (best && best.value.instant <= head.value.instant ? best : head),
        null,
      );
      if (!earliest) return;
      yield earliest.value;
      const next = await earliest.source.next();
      if (next.done) waiting = waiting.filter((head) => head !== earliest);
      else earliest.value = next.value;
    }
  } finally {
    await Promise.all(sources.map(async (source) => source.return?.()));
  }
}
