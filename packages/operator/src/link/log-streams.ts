import {
  creditOf,
  type HubFrames,
  type LogLine,
  type LogStream as LogStreamRequest,
  safeText,
} from "@binnacle/contract";
import type { Clock } from "../kube/work-queue.ts";
import type { OutgoingFrame } from "./frames.ts";
import { createLineBuffer } from "./line-buffer.ts";
import { AnswerError, type Answerer, type DroppedLines } from "./ports.ts";
import { createStreamTable, type OpenStream, type StreamTable } from "./stream-table.ts";

const MOST_STREAMS = 64;

/** The open streams of a session. */
export interface LogStreams extends StreamTable {
  open(frame: Pick<HubFrames["stream_open"], "id" | "credit_bytes"> & { readonly stream: LogStreamRequest }): void;
}

export interface LogStreamsOptions {
  readonly answerer: Answerer;
  readonly clock: Clock;
  readonly onDue: () => void;
  readonly onFailure: (error: unknown) => void;
  /** Sends a frame before those that wait their turn. */
  readonly urgent: (frame: OutgoingFrame) => void;
}

export function createLogStreams({ answerer, clock, onDue, onFailure, urgent }: LogStreamsOptions): LogStreams {
  const streams = createStreamTable<OpenStream>(MOST_STREAMS);

  return {
    ...streams.table,
    open({ id, stream, credit_bytes }) {
      const start = () =>
        openLogStream({
          ref: id,
          creditBytes: credit_bytes,
          isFollowing: stream.follow,
          lines: (signal) => answerer.logs(stream, signal),
          clock,
          onDue,
          onFailure,
        });
      const error = "Too many log streams of this cluster are open.";
      streams.open(id, start, () => urgent({ type: "stream_end", ref: id, error }));
    },
  };
}

/** Read ahead of the reader. */
const BUFFER_BYTES = 256 * 1024;

/** A slow reader keeps this much. Dropping one line at a time would cost more than reading them. */
const KEPT_BYTES = 192 * 1024;

/** Lines that come together go together. */
const GATHER_MS = 25;
const FULL_BATCH_BYTES = 32 * 1024;

/** A reader that takes nothing for so long loses lines, if new ones keep coming. */
const SLOW_AFTER_MS = 5_000;

export interface LogStreamOptions {
  readonly ref: string;
  readonly creditBytes: number;
  /** Without it nothing new comes, so the reader may take its time. */
  readonly isFollowing: boolean;
  readonly lines: (signal: AbortSignal) => AsyncIterable<LogLine | DroppedLines>;
  readonly clock: Clock;
  readonly onDue: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** Reads lines as fast as they are taken, and a little ahead. */
export function openLogStream(options: LogStreamOptions): OpenStream {
  const { ref, isFollowing, clock, onDue } = options;
  const buffer = createLineBuffer();
  const reading = new AbortController();
  let creditBytes = options.creditBytes;
  let isGathering = false;
  /** The hub waits for a first frame, which tells it that somebody answers. */
  let isBeginningDue = false;
  let ending: { readonly error: string | null } | null = null;
  let isOver = false;
  /** Not after the reader has taken nothing for long, until it takes something again. */
  let isPatient = true;
  /** Told whether the reader took something. */
  let wake: ((hasTaken: boolean) => void) | null = null;

  const isReaderWaitedFor = () => buffer.bytes >= BUFFER_BYTES && !reading.signal.aborted;

  function takes(timeoutMs: number | null): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = timeoutMs === null ? () => undefined : clock.after(timeoutMs, () => wake?.(false));
      wake = (hasTaken) => {
        wake = null;
        stop();
        resolve(hasTaken);
      };
    });
  }

  function gather(): void {
    if (buffer.bytes >= FULL_BATCH_BYTES) onDue();
    if (isGathering) return;
    isGathering = true;
    clock.after(GATHER_MS, () => {
      isGathering = false;
      onDue();
    });
  }

  async function read(): Promise<void> {
    for await (const item of options.lines(reading.signal)) {
      if (reading.signal.aborted) return;
      if ("dropped" in item && item.dropped === 0) {
        isBeginningDue = true;
        onDue();
        continue;
      }
      buffer.add(item);
      gather();
      while (isReaderWaitedFor()) {
        if (!isPatient) buffer.dropDownTo(KEPT_BYTES);
        else isPatient = await takes(isFollowing ? SLOW_AFTER_MS : null);
      }
    }
  }

  function paid(bytes: number): void {
    creditBytes -= bytes;
    isPatient = true;
    wake?.(true);
  }

  function end(error: string | null): void {
    ending = { error };
    onDue();
  }

  void read().then(
    () => end(null),
    (error: unknown) => {
      if (!reading.signal.aborted) options.onFailure(error);
      end(error instanceof AnswerError ? safeText(error.message) : "The logs could not be read.");
    },
  );

  return {
    next() {
      if (isOver) return null;
      if (isBeginningDue) {
        isBeginningDue = false;
        return { type: "stream_data", ref, lines: [], dropped: 0 };
      }
      if (isGathering && buffer.bytes < FULL_BATCH_BYTES) return null;
      const batch = buffer.take(creditBytes) ?? (ending ? buffer.takeRest() : null);
      if (batch) {
        if (batch.lines.length > 0) paid(creditOf(batch.lines));
        return { type: "stream_data", ref, ...batch };
      }
      if (!ending || buffer.bytes > 0) return null;
      isOver = true;
      return { type: "stream_end", ref, error: ending.error };
    },
    credit(bytes) {
      creditBytes += bytes;
      onDue();
    },
    cancel() {
      isOver = true;
      reading.abort();
      wake?.(true);
    },
  };
}
