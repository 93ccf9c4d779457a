import type {
  ComponentRun,
  LogLine,
  Metrics,
  ObservationRequest,
  ObservedAnswers,
  RunRequest,
  RunStatusRequest,
} from "@binnacle/contract";
import { Fault } from "../fault.ts";

export interface LogRequest {
  readonly clusterId: string;
  readonly namespace: string;
  readonly app: string;
  readonly component: string;
  readonly tailLines: number;
  readonly sinceSeconds: number | null;
  readonly follow: boolean;
  readonly previous: boolean;
  /** Of this run alone, whose status the same operator has been asked for. */
  readonly run?: string;
}

export interface MetricsRequest {
  readonly clusterId: string;
  /** Null asks for the cluster alone. */
  readonly app: { readonly namespace: string; readonly name: string } | null;
  readonly rangeSeconds: number;
}

/** Stands in the place of lines that were lost on the way. */
export interface DroppedLines {
  readonly dropped: number;
}

/** Requests that only the operator of a cluster can answer, sent through the hub that holds its session. */
export interface OperatorRequests {
  /** Whether a hub holds a session of the cluster's operator. */
  isConnected(clusterId: string): Promise<boolean>;
  /**
   * Resolves once the operator has begun to answer. The lines end when there are no more, or with the signal. Throws a
   * `Fault`: `unavailable` without an operator, `timed_out` without an answer in time, `bad_gateway` for an error.
   */
  logs(request: LogRequest, signal: AbortSignal): Promise<AsyncIterable<LogLine | DroppedLines>>;
  /** Null where nothing on the cluster keeps series. Throws like `logs`. */
  metrics(request: MetricsRequest): Promise<Omit<Metrics, "range"> | null>;
  /**
   * Reads objects in the cluster. Throws like `logs`, and a `bad_gateway` where the operator is too old for the request.
   * `withinMs` is for callers that can do without the answer.
   */
  observe<R extends ObservationRequest>(
    clusterId: string,
    request: R,
    withinMs?: number,
  ): Promise<ObservedAnswers[R["name"]]>;
  /** Begins a run, or reads how it stands; null where there is none. Throws like `observe`. */
  run(clusterId: string, request: RunRequest | RunStatusRequest): Promise<ComponentRun | null>;
  /** Makes the operator reconcile and report everything again. Throws like `logs`. */
  resync(clusterId: string): Promise<void>;
}

export const noOperatorConnected = () =>
  new Fault("unavailable", "No operator of the cluster is connected. Try again in a moment.");
