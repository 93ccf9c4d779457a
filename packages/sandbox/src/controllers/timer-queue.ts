/** Time as the simulation sees it: a test may turn it by hand. */
export interface Time {
  nowMs(): number;
  /** Calls back once, not before that time. Returns how to prevent it. */
  at(timeMs: number, callback: () => void): () => void;
}

interface Entry {
  readonly atMs: number;
  readonly key: string;
}

/**
 * Keys that are due at a time, with one timer for all of them, however many there are. A key has one time, the one that
 * it was given last.
 */
export class TimerQueue {
  readonly #time: Time;
  readonly #onDue: (key: string) => void;
  readonly #dueMs = new Map<string, number>();
  /** A heap; entries that a key no longer has are passed over. */
  #heap: Entry[] = [];
  #timer: { readonly atMs: number; readonly cancel: () => void } | null = null;

  constructor(time: Time, onDue: (key: string) => void) {
    this.#time = time;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#dueMs.size;
  }

  /** Null forgets the key. */
  set(key: string, atMs: number | null): void {
    if (atMs === null) {
      this.#dueMs.delete(key);
      if (this.#dueMs.size === 0) this.stop();
      return;
    }
    if (this.#dueMs.get(key) === atMs) return;
    this.#dueMs.set(key, atMs);
    this.#push({ atMs, key });
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#dueMs.clear();
    this.#heap = [];
  }

  #arm(): void {
    while (this.#heap[0] && this.#dueMs.get(this.#heap[0].key) !== this.#heap[0].atMs) this.#pop();
    const atMs = this.#heap[0]?.atMs;
    if (atMs === this.#timer?.atMs) return;
    this.#timer?.cancel();
    this.#timer = atMs === undefined ? null : { atMs, cancel: this.#time.at(atMs, () => this.#ring()) };
  }

  #ring(): void {
    this.#timer = null;
    const nowMs = this.#time.nowMs();
    const due: string[] = [];
    for (let first = this.#heap[0]; first && first.atMs <= nowMs; first = this.#heap[0]) {
      this.#pop();
      if (this.#dueMs.get(first.key) !== first.atMs) continue;
      this.#dueMs.delete(first.key);
      due.push(first.key);
    }
    this.#arm();
    for (const key of due) this.#onDue(key);
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (!parent || parent.atMs <= entry.atMs) break;
      heap[index] = parent;
      heap[above] = entry;
      index = above;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      const child = b && a && b.atMs < a.atMs ? left + 1 : left;
      const smallest = heap[child];
      if (!smallest || smallest.atMs >= last.atMs) return;
      heap[index] = smallest;
      heap[child] = last;
      index = child;
    }
  }
}
