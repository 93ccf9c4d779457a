import type { DesiredBodies, DesiredKind, HubFrame, OperatorFrames } from "@binnacle/contract";
import type { Fault } from "../fault.ts";

/** A row of what a cluster is to be told. */
export interface Untold {
  readonly cluster_id: string;
  readonly kind: DesiredKind;
  readonly resource_id: string;
  readonly key: string;
  readonly generation: number;
  readonly revision: number;
  readonly removed_at: Date | null;
}

/** Where the content of what is told comes from. */
export interface BodySource {
  /**
   * By the row, the very object that was given: a project and its pull secrets have one id. Missing are removed rows,
   * those whose resource is gone meanwhile, and those that cannot be told now. A fault says why one cannot be told as it is.
   */
  bodiesOf(rows: readonly Untold[]): Promise<ReadonlyMap<Untold, DesiredBodies[DesiredKind] | Fault>>;
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
