import type { LogLine } from "@binnacle/contract";
import { Fault, invalid, notFound } from "../fault.ts";
import { encodeFrame, type SseStream } from "../http/sse.adapter.ts";
import type { DroppedLines } from "../hub/operator-requests.ts";
import type { AppWithSecretPaths } from "./app.ts";

/** Selects the component whose logs are read: the named one, else the only workload, else the only component. */
export function logTarget(
  { components }: Pick<AppWithSecretPaths, "components">,
  asked: string | undefined,
): string | Fault {
  if (asked !== undefined) {
    return components.some(({ name }) => name === asked) ? asked : notFound(`Component ${asked}`);
  }
  const workloads = components.filter(({ workload_spec }) => workload_spec !== undefined);
  const [only, ...others] = workloads.length > 0 ? workloads : components;
  if (only && others.length === 0) return only.name;
  const has = workloads.length > 0 ? "several workloads" : only ? "several components" : "no component";
  return invalid([{ loc: ["query", "component"], msg: `Field required: the app has ${has}`, type: "missing" }]);
}

/** The most bytes that a slow client may leave unread; further lines are dropped. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** Writes lines to the stream as they arrive. Lines that a slow client does not read are dropped and counted. */
export async function pumpLogs(
  lines: AsyncIterable<LogLine | DroppedLines>,
  stream: Pick<SseStream, "waitingBytes" | "write" | "end">,
): Promise<void> {
  let dropped = 0;
  const writeDropped = () => {
    if (dropped > 0) stream.write(encodeFrame("dropped", { count: dropped }));
    dropped = 0;
  };
  let ending = {};
  try {
    for await (const line of lines) {
      if ("dropped" in line) dropped += line.dropped;
      else if (stream.waitingBytes > MOST_WAITING_BYTES) dropped++;
      else {
        writeDropped();
        stream.write(encodeFrame("log", line));
      }
    }
  } catch (error) {
    ending = { error: error instanceof Fault ? error.message : "The logs broke off." };
    throw error;
  } finally {
    writeDropped();
    stream.write(encodeFrame("end", ending));
    stream.end();
  }
}
