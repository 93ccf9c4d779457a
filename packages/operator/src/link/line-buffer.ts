import { creditOf, type LogLine } from "@binnacle/contract";
import type { DroppedLines } from "./ports.ts";

const LONGEST_BATCH = 1_000;
const LARGEST_BATCH_BYTES = 32 * 1024;

export interface Batch {
  readonly lines: LogLine[];
  /** Lost before these. */
  readonly dropped: number;
}

type Item = { readonly line: LogLine; readonly bytes: number } | DroppedLines;

/** Lines on their way to a reader, with the places where some are missing. */
export interface LineBuffer {
  readonly bytes: number;
  add(item: LogLine | DroppedLines): void;
  /** Loses the oldest lines until no more than so much is left. */
  dropDownTo(bytes: number): void;
  /**
   * As many lines as fit a frame and the credit, and what is missing before them. A line that is larger than the credit
   * goes as well as long as there is any: it would never go otherwise. Null when there is nothing that may go.
   */
  take(creditBytes: number): Batch | null;
  /** The dropped lines at the end of a stream, which need no credit. */
  takeRest(): Batch | null;
}

export function createLineBuffer(): LineBuffer {
  let items: Item[] = [];
  let bytes = 0;

  function takeDropped(): number {
    const first = items[0];
    if (!first || !("dropped" in first)) return 0;
    items.shift();
    return first.dropped;
  }

  return {
    get bytes() {
      return bytes;
    },

    add(item) {
      const last = items.at(-1);
      if (!("dropped" in item)) {
        const line = { line: item, bytes: creditOf([item]) };
        bytes += line.bytes;
        items.push(line);
      } else if (last && "dropped" in last) {
        items[items.length - 1] = { dropped: last.dropped + item.dropped };
      } else {
        items.push({ dropped: item.dropped });
      }
    },

    dropDownTo(limit) {
      let dropped = 0;
      let kept = 0;
      for (; kept < items.length && bytes > limit; kept += 1) {
        const item = items[kept];
        if (!item) break;
        dropped += "dropped" in item ? item.dropped : 1;
        bytes -= "dropped" in item ? 0 : item.bytes;
      }
      items = items.slice(kept);
      if (dropped > 0) items.unshift({ dropped: dropped + takeDropped() });
    },

    take(creditBytes) {
      if (creditBytes <= 0 || items.length === 0) return null;
      const dropped = takeDropped();
      const lines: LogLine[] = [];
      let taken = 0;
      for (const item of items) {
        if ("dropped" in item || lines.length >= LONGEST_BATCH) break;
        const isTooMuch = taken + item.bytes > Math.min(LARGEST_BATCH_BYTES, creditBytes);
        if (isTooMuch && lines.length > 0) break;
        lines.push(item.line);
        taken += item.bytes;
      }
      items = items.slice(lines.length);
      bytes -= taken;
      return { lines, dropped };
    },

    takeRest() {
      const dropped = takeDropped();
      return dropped > 0 ? { lines: [], dropped } : null;
    },
  };
}
