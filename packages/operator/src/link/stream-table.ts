import type { HubFrames } from "@binnacle/contract";
import type { BulkSource } from "./outgoing.ts";

export interface OpenStream extends BulkSource {
  credit(bytes: number): void;
  /** The reader has left. */
  cancel(): void;
}

/** The open streams of one kind in a session. */
export interface StreamTable extends BulkSource {
  credit(frame: Pick<HubFrames["stream_credit"], "ref" | "credit_bytes">): void;
  cancel(frame: Pick<HubFrames["stream_cancel"], "ref">): void;
  cancelAll(): void;
}

export function createStreamTable<S extends OpenStream>(most: number) {
  const streams = new Map<string, S>();
  const table: StreamTable = {
    credit: ({ ref, credit_bytes }) => streams.get(ref)?.credit(credit_bytes),
    cancel({ ref }) {
      streams.get(ref)?.cancel();
      streams.delete(ref);
    },
    cancelAll() {
      for (const stream of streams.values()) stream.cancel();
      streams.clear();
    },
    next() {
      for (const [id, stream] of streams) {
        const frame = stream.next();
        if (!frame) continue;
        // The stream goes behind the others, so that each gets its turn.
        streams.delete(id);
        if (frame.type !== "stream_end") streams.set(id, stream);
        return frame;
      }
      return null;
    },
  };
  return {
    table,
    get: (ref: string) => streams.get(ref),
    /** A frame that came twice opens one stream. */
    open(id: string, start: () => S, refuse: () => void): void {
      if (streams.has(id)) return;
      if (streams.size >= most) refuse();
      else streams.set(id, start());
    },
  };
}
