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
  readonly namespace: string;
  readonly app: string;
  readonly rangeSeconds: number;
}

/** What only the operator of a cluster can answer, asked through the hub that holds its connection. */
export interface OperatorRequests {
  /**
   * Gives the lines once the operator has begun to answer; they end when it has no more, or with the signal. Throws a
   * `Fault`: `unavailable` without an operator, `timed_out` without an answer in time, `bad_gateway` for a refusal.
   */
  logs(request: LogRequest, signal: AbortSignal): Promise<AsyncIterable<LogLine>>;
  metrics(request: MetricsRequest): Promise<Omit<Metrics, "range">>;
}

export const noOperatorConnected = () =>
  new Fault("unavailable", "No operator of the cluster is connected. Try again in a moment.");

/** Of a control plane that has no hub to ask. */
export const withoutOperators: OperatorRequests = {
  async logs() {
    throw noOperatorConnected();
  },
  async metrics() {
    throw noOperatorConnected();
  },
};
