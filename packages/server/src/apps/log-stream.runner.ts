import type { LogLine } from "@binnacle/contract";
import { Fault, invalid, notFound } from "../fault.ts";
import type { SseStream } from "../http/sse.adapter.ts";
import { encodeFrame } from "../http/sse-frame.ts";
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

/** Writes lines to the stream as fast as the client reads them. The operator drops and counts what a slow client leaves unread. */
export async function pumpLogs(
  lines: AsyncIterable<LogLine | DroppedLines>,
  stream: Pick<SseStream, "drained" | "write" | "end">,
): Promise<void> {
  let ending = {};
  try {
    for await (const line of lines) {
      stream.write("dropped" in line ? encodeFrame("dropped", { count: line.dropped }) : encodeFrame("log", line));
      await stream.drained();
    }
  } catch (error) {
    ending = { error: error instanceof Fault ? error.message : "The logs broke off." };
    throw error;
  } finally {
    stream.write(encodeFrame("end", ending));
    stream.end();
  }
}
