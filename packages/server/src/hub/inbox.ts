import type { OperatorFrames } from "@binnacle/contract";

/** What an operator tells by itself. */
export type News = OperatorFrames["status" | "build" | "samples"];

export interface Letter {
  readonly news: News;
  readonly bytes: number;
  /** Frames that are answered once this is on record. */
  readonly refs: readonly string[];
}

const MOST_LETTERS = 10_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** An operator waits for the newest of each key; earlier ones are answered while there are not too many. */
const MOST_REFS = 20;

/** News that are not on record yet: of each thing the newest, and not without end while the database is away. */
export class Inbox {
  readonly #letters = new Map<string, Letter>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#letters.size === 0;
  }

  /** False where there is no room: then nothing was taken. */
  put(news: News, bytes: number, refs: readonly string[]): boolean {
    const subject = subjectOf(news);
    const before = this.#letters.get(subject);
    const total = this.#bytes - (before?.bytes ?? 0) + bytes;
    if (total > MOST_BYTES || (!before && this.#letters.size >= MOST_LETTERS)) return false;
    this.#letters.delete(subject);
    this.#letters.set(subject, { news, bytes, refs: [...(before?.refs ?? []), ...refs].slice(-MOST_REFS) });
    this.#bytes = total;
    return true;
  }

  /** The oldest of them, which are not in the box any more. */
  take(most: number): Letter[] {
    const taken = [...this.#letters.entries()].slice(0, most);
    for (const [subject, { bytes }] of taken) {
      this.#letters.delete(subject);
      this.#bytes -= bytes;
    }
    return taken.map(([, letter]) => letter);
  }

  /** Those of which nothing newer has come meanwhile. */
  putBack(letters: readonly Letter[]): void {
    for (const letter of letters) {
      const subject = subjectOf(letter.news);
      if (this.#letters.has(subject)) continue;
      this.#letters.set(subject, letter);
      this.#bytes += letter.bytes;
    }
  }
}

function subjectOf(news: News): string {
  switch (news.type) {
    case "status":
      return `status ${news.key} ${news.resource_id}`;
    case "build":
      return `build ${news.source} ${news.namespace}/${news.name}`;
    case "samples":
      return "samples";
  }
}
