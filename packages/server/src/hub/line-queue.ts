import { creditOf, type LogLine } from "@binnacle/contract";
import type { DroppedLines } from "./operator-requests.ts";

interface Batch {
  readonly lines: readonly LogLine[];
  readonly dropped: number;
}

/**
 * Lines between an operator that sends and a reader who takes. What was taken is credited, so never more waits than the credit
 * that the stream began with.
 */
export class LineQueue {
  readonly #batches: Batch[] = [];
  readonly #credit: (bytes: number) => void;
  #end: { readonly error: Error | null } | null = null;
  #wake: () => void = () => undefined;

  constructor(credit: (bytes: number) => void) {
    this.#credit = credit;
  }

  put(batch: Batch): void {
    this.#batches.push(batch);
    this.#wake();
  }

  end(error: Error | null): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Ends after what is there, or with the error that ended it. */
  async *take(): AsyncGenerator<LogLine | DroppedLines, void, void> {
    for (;;) {
      const batch = this.#batches.shift();
      if (batch) {
        if (batch.dropped > 0) yield { dropped: batch.dropped };
        yield* batch.lines;
        if (batch.lines.length > 0) this.#credit(creditOf(batch.lines));
      } else if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}
