import { MOST_WAITING_BYTES } from "./bus.ts";

/** What one transaction sends at most. While it commits, no other can send notifications. */
const MOST_SENT_BYTES = 256 * 1024;

/** The messages that wait to be sent. It is a set, because a hint that is waiting need not be sent twice. */
export class Outbox {
  readonly #lines = new Set<string>();
  #bytes = 0;

  get hasRoom(): boolean {
    return this.#bytes < MOST_WAITING_BYTES;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  add(line: string): void {
    if (this.#lines.has(line)) return;
    this.#lines.add(line);
    this.#bytes += line.length;
  }

  /** Removes and returns what is sent next. */
  takeBatch(): string[] {
    const batch: string[] = [];
    let bytes = 0;
    for (const line of this.#lines) {
      if (bytes > 0 && bytes + line.length > MOST_SENT_BYTES) break;
      bytes += line.length;
      batch.push(line);
      this.#lines.delete(line);
    }
    this.#bytes -= bytes;
    return batch;
  }

  clear(): void {
    this.#lines.clear();
    this.#bytes = 0;
  }
}
