import type { ProvisioningStatus } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Queries } from "../database/transaction.ts";
import type { SseStream } from "../http/sse.adapter.ts";
import { encodeFrame } from "../http/sse-frame.ts";
import { createSleeper } from "../jobs/worker.runner.ts";
import { findStatus, linesAfter } from "./provisioning.store.ts";
import { hasEnded, PROVISIONING_TOPIC, wireLine } from "./provisioning.ts";

/** Lines are read and written in pages, and the next page is read when the client has received the last one. */
const PAGE = 500;
/** A hint may be lost, so the record is read this often while a reader is there. */
const POLL_MS = 1_000;

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
}

interface Reading {
  readonly jobId: string;
  /** The position of the line that the reader has already. */
  readonly after: number;
  /** Ends the reading: the client has left, or may read no longer. */
  readonly signal: AbortSignal;
}

/**
 * Writes the lines of a job as they are stored. Every reader has a position of its own in the stored log, so none waits for
 * another and a slow one loses nothing.
 */
export async function followLog(
  { db, bus }: Ports,
  { jobId, after, signal }: Reading,
  stream: Pick<SseStream, "write" | "end" | "drained">,
): Promise<void> {
  const sleeper = createSleeper();
  signal.addEventListener("abort", () => sleeper.end(), { once: true });
  const unsubscribe = bus.subscribe(PROVISIONING_TOPIC, (message) => {
    if ((message as { job_id?: unknown }).job_id === jobId) sleeper.wake();
  });
  try {
    for (let position = after; !signal.aborted; ) {
      // The status comes first: the last lines of a job are stored before its end.
      const job = await findStatus(db, jobId);
      for (;;) {
        const lines = await linesAfter(db, jobId, position, PAGE);
        if (signal.aborted) return;
        stream.write(lines.map((line) => encodeFrame("log", wireLine(line), line.position)).join(""));
        position = lines.at(-1)?.position ?? position;
        await stream.drained();
        if (lines.length < PAGE) break;
      }
      if (!job || hasEnded(job.status)) {
        stream.write(
          encodeFrame("end", { status: job?.status ?? null } satisfies { status: ProvisioningStatus | null }),
        );
        return;
      }
      await sleeper.sleep(POLL_MS);
    }
  } finally {
    unsubscribe();
    stream.end();
  }
}
