import type { HubFrames } from "@binnacle/contract";
import type { Clock } from "../kube/work-queue.ts";
import type { Answerer } from "./answerer.ts";
import { type LogStream, openLogStream } from "./log-stream.ts";
import type { BulkSource } from "./outgoing.ts";
import type { Unsent } from "./unsent.ts";

const MOST_STREAMS = 64;

/** The open streams of a session. */
export interface LogStreams extends BulkSource {
  open(frame: HubFrames["stream_open"]): void;
  credit(frame: HubFrames["stream_credit"]): void;
  cancel(frame: HubFrames["stream_cancel"]): void;
  cancelAll(): void;
}

export interface LogStreamsOptions {
  readonly answerer: Answerer;
  readonly clock: Clock;
  readonly onDue: () => void;
  readonly onFailure: (error: unknown) => void;
  /** For what needs no place in the line. */
  readonly urgent: (frame: Unsent) => void;
}

export function createLogStreams({ answerer, clock, onDue, onFailure, urgent }: LogStreamsOptions): LogStreams {
  const streams = new Map<string, LogStream>();

  return {
    open({ id, stream, credit_bytes }) {
      // A frame that came twice opens one stream.
      if (streams.has(id)) return;
      if (streams.size >= MOST_STREAMS) {
        urgent({ type: "stream_end", ref: id, error: "Too many logs of this cluster are being read." });
        return;
      }
      const opened = openLogStream({
        ref: id,
        creditBytes: credit_bytes,
        isFollowing: stream.follow,
        lines: (signal) => answerer.logs(stream, signal),
        clock,
        onDue,
        onFailure,
      });
      streams.set(id, opened);
    },

    credit({ ref, credit_bytes }) {
      streams.get(ref)?.credit(credit_bytes);
    },

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
        // To the end of the line, behind the other streams.
        streams.delete(id);
        if (frame.type !== "stream_end") streams.set(id, stream);
        return frame;
      }
      return null;
    },
  };
}
