import type { HubFrames, LogLine, Metrics } from "@binnacle/contract";

export type MetricsRequest = HubFrames["request"]["request"];
export type LogStreamRequest = HubFrames["stream_open"]["stream"];

/** Lines that were lost on the way from a pod, in the place where they are missing. None: there is an answer, and lines may follow. */
export interface DroppedLines {
  readonly dropped: number;
}

/** Answers what the hub asks about the cluster. */
export interface Answerer {
  /** Null where nothing measures. */
  metrics(request: MetricsRequest): Promise<Omit<Metrics, "range"> | null>;
  /**
   * Begins with no lines dropped, at once: so the hub learns that somebody answers. Ends by itself unless it follows. Once the
   * signal is given, nobody takes anything any more.
   */
  logs(stream: LogStreamRequest, signal: AbortSignal): AsyncIterable<LogLine | DroppedLines>;
}

/** Thrown by an answerer to say more than that it failed; the message is shown to people. */
export class Unanswerable extends Error {
  override readonly name = "Unanswerable";
  readonly code: "not_found" | "unavailable" | "failed";

  constructor(code: Unanswerable["code"], message: string) {
    super(message);
    this.code = code;
  }
}
