import { creditOf, type LogLine, safeText } from "@binnacle/contract";
import type { Clock } from "../kube/work-queue.ts";
import { type DroppedLines, Unanswerable } from "./answerer.ts";
import { createLineBuffer } from "./line-buffer.ts";
import type { BulkSource } from "./outgoing.ts";

/** Read ahead of the reader. */
const BUFFER_BYTES = 256 * 1024;

/** What a slow reader keeps of it: losing one line at a time would cost more than reading them. */
const KEPT_BYTES = 192 * 1024;

/** Lines that come together go together. */
const GATHER_MS = 25;
const FULL_BATCH_BYTES = 32 * 1024;

/** A reader that takes nothing for so long loses lines, if new ones keep coming. */
const SLOW_AFTER_MS = 5_000;

export interface LogStream extends BulkSource {
  credit(bytes: number): void;
  /** Nobody reads any more. */
  cancel(): void;
}

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
export function openLogStream(options: LogStreamOptions): LogStream {
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
      end(error instanceof Unanswerable ? safeText(error.message) : "The logs could not be read.");
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
