import type { RepositoryCredential } from "@binnacle/charts";
import type { DesiredBodies, DesiredKind, HubFrame, OperatorFrames } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import type { Announcement } from "../events/event.ts";
import type { Fault } from "../fault.ts";

/** Says that the token floor of a cluster was raised: `{ask, cluster_id, floor}`, with `deleted` when the cluster is gone. */
export const FLOOR_RAISED_TOPIC = "token-floor-raised";
/** Repeats `{ask}` once the hub of the cluster's session has closed the session if its token is below the floor. */
export const FLOOR_HELD_TOPIC = "token-floor-held";
/** Says that the settings or the chart repositories of an organization have changed: `{org_id}`. */
export const ORG_SETTINGS_TOPIC = "org-settings";

/** The content of an agent token whose signature has been checked. */
export interface AgentClaims {
  readonly clusterId: string;
  readonly tokenVersion: number;
  readonly expiresAt: Date;
}

/** The facts about a cluster's connection on which its status depends. */
export interface ConnectionFacts {
  readonly session_lease_until: Date | null;
  readonly first_connected_at: Date | null;
}

/** Clusters as far as the hub needs them. Their slice provides this value, so that the hub imports no slice. */
export interface HubClusters {
  readonly tokenLifetimeMs: number;
  /** Null for a token that is not valid. Whether its version is revoked follows from the floor of the cluster. */
  readToken(token: string): Promise<AgentClaims | null>;
  /** Issues a token of the next version. Earlier versions stay valid. */
  issueToken(
    clusterId: string,
  ): Promise<{ readonly token: string; readonly tokenVersion: number; readonly expiresAt: Date }>;
  /** Returns nothing for a cluster that is gone or is being deleted. */
  tokenFloors(clusterIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Compares each cluster's status with the one that it had with its given facts, and returns an event where it differs. */
  statusEvents(db: Queries, before: ReadonlyMap<string, Partial<ConnectionFacts>>, now: Date): Promise<Announcement[]>;
}

/** The credentials with which the operators of an organization read private chart repositories. */
export interface ChartCredentials {
  /** Decrypted, for one organization. The stamp changes whenever they do. */
  of(orgId: string): Promise<{ readonly stamp: string; readonly credentials: readonly RepositoryCredential[] }>;
  /** By organization. Organizations without credentials are missing. */
  stampsOf(orgIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Makes the bodies of rows that are sent. */
export interface BodySource {
  /**
   * The bodies by row object: a project and its pull secrets have the same id. Removed rows, rows whose record is gone
   * and rows that cannot be sent now are missing. A fault says why a row can never be sent as it is.
   */
  bodiesOf(rows: readonly PendingRow[]): Promise<ReadonlyMap<PendingRow, DesiredBodies[DesiredKind] | Fault>>;
}

/** Identifies a session. A write with the fence of a session that another one has replaced changes nothing. */
export interface Fence {
  readonly clusterId: string;
  readonly hubId: string;
  readonly epoch: number;
}

/** Stores reports. */
export interface ReportSink {
  /** Resolves once they are stored, or known to change nothing. Throws while the database is unreachable. */
  storeStatuses(fence: Fence, reports: readonly OperatorFrames["status"][]): Promise<void>;
  announceBuild(fence: Fence, build: OperatorFrames["build"]): Promise<void>;
  storeSamples(fence: Fence, samples: OperatorFrames["samples"]): Promise<void>;
}

/** A session over which requests can be sent to an operator. */
export interface LiveSession {
  readonly fence: Fence;
  readonly sessionId: string;
  /** Names of the requests, beyond `metrics`, that the operator has announced. */
  readonly requests: readonly string[];
  send(frame: HubFrame): void;
  /** Passes on every answer to frames that were sent with this id. The end of the session is passed on as null. */
  listen(frameId: string, onAnswer: OnAnswer): () => void;
}

/** Returns false for an answer that exceeds the credit of its stream. */
export type OnAnswer = (frame: Answer | null) => boolean;

export type Answer = OperatorFrames[
  | "response"
  | "stream_data"
  | "stream_end"
  | "stream_target"
  | "stream_output"
  | "stream_credit"];

export interface LiveSessions {
  find(clusterId: string): LiveSession | null;
}
