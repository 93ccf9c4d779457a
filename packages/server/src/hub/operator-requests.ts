import type { LogLine, Metrics } from "@binnacle/contract";
import { Fault } from "../fault.ts";

export interface LogRequest {
  readonly clusterId: string;
  readonly namespace: string;
  readonly app: string;
  readonly component: string;
  readonly tailLines: number;
  readonly sinceSeconds: number | null;
  readonly follow: boolean;
}

export interface MetricsRequest {
  readonly clusterId: string;
  /** Null asks for the cluster alone. */
  readonly app: { readonly namespace: string; readonly name: string } | null;
  readonly rangeSeconds: number;
}

/** Lines that were lost on the way, in the place where they are missing. */
export interface DroppedLines {
  readonly dropped: number;
}

/** What only the operator of a cluster can answer, asked through the hub that holds its connection. */
export interface OperatorRequests {
  /**
   * Gives the lines once the operator has begun to answer; they end when it has no more, or with the signal. Throws a
   * `Fault`: `unavailable` without an operator, `timed_out` without an answer in time, `bad_gateway` for a refusal.
   */
  logs(request: LogRequest, signal: AbortSignal): Promise<AsyncIterable<LogLine | DroppedLines>>;
  /** Null where nothing on the cluster keeps series. Throws as `logs` does. */
  metrics(request: MetricsRequest): Promise<Omit<Metrics, "range"> | null>;
  /** Has the operator look at everything again. Throws as `logs` does. */
  resync(clusterId: string): Promise<void>;
}

export const noOperatorConnected = () =>
  new Fault("unavailable", "No operator of the cluster is connected. Try again in a moment.");
