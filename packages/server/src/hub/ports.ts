import type { DesiredBodies, DesiredKind, HubFrame, OperatorFrames } from "@binnacle/contract";
import type { PendingRow } from "../dispatch/kind.ts";
import type { Fault } from "../fault.ts";

/** Makes the content of the rows that are sent. */
export interface BodySource {
  /**
   * The bodies by row object: a project and its pull secrets have the same id. Removed rows, rows whose record is gone
   * and rows that cannot be sent now are missing. A fault says why a row can never be sent as it is.
   */
  bodiesOf(rows: readonly PendingRow[]): Promise<ReadonlyMap<PendingRow, DesiredBodies[DesiredKind] | Fault>>;
}

/** A session as long as it is the registered one of its cluster: what another one has taken over is refused. */
export interface Fence {
  readonly clusterId: string;
  readonly hubId: string;
  readonly epoch: number;
}

/** Where reports go. */
export interface ReportSink {
  /** Comes back once they are on record, or known to change nothing. Throws where the database is away. */
  take(fence: Fence, reports: readonly OperatorFrames["status"][]): Promise<void>;
  takeBuild(fence: Fence, build: OperatorFrames["build"]): Promise<void>;
  takeSamples(fence: Fence, samples: OperatorFrames["samples"]): Promise<void>;
}

/** A live session, for those who have to ask its operator something. */
export interface LiveSession {
  readonly fence: Fence;
  readonly sessionId: string;
  send(frame: HubFrame): void;
  /** Hears every answer (`response`, `ack`, `nack`, `stream_data`, `stream_end`) to frames sent with this id; the session's end is null. */
  listen(frameId: string, hear: (frame: Answer | null) => void): () => void;
}

export type Answer = OperatorFrames["response" | "ack" | "nack" | "stream_data" | "stream_end"];

export interface LiveSessions {
  find(clusterId: string): LiveSession | null;
}
