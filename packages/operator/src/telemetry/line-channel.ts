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
