import type { LogLine } from "@binnacle/contract";
import { Fault } from "../fault.ts";
import { encodeFrame, type SseStream } from "../http/sse.adapter.ts";
import type { DroppedLines } from "../hub/operator-requests.ts";

/** As much as a reader may leave waiting; past it, lines are lost instead of kept. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** Passes lines on as they come, loses those that a slow reader does not take, and says how many. */
export async function pumpLogs(
  lines: AsyncIterable<LogLine | DroppedLines>,
  stream: Omit<SseStream, "cut" | "onClose">,
): Promise<void> {
  let dropped = 0;
  const tellDropped = () => {
    if (dropped > 0) stream.write(encodeFrame("dropped", { count: dropped }));
    dropped = 0;
  };
  let ending = {};
  try {
    for await (const line of lines) {
      if ("dropped" in line) dropped += line.dropped;
      else if (stream.waitingBytes > MOST_WAITING_BYTES) dropped++;
      else {
        tellDropped();
        stream.write(encodeFrame("log", line));
      }
    }
  } catch (error) {
    ending = { error: error instanceof Fault ? error.message : "The logs broke off." };
    throw error;
  } finally {
    tellDropped();
    stream.write(encodeFrame("end", ending));
    stream.end();
  }
}
