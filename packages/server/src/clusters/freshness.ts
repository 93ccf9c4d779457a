import type { LifecycleReason, Reason } from "@binnacle/contract";
import type { Holding } from "../suspensions/suspension.ts";

/** The connection of a cluster, which is read with everything that runs on it. */
export interface ClusterConnection {
  /** The lease that the hub renews while the operator is connected; null where there is none. */
  readonly session_lease_until: Date | null;
  readonly last_heartbeat: Date | null;
}

/** What an app or an addon instance depends on: the connection of its cluster, and the condition of its project. */
export interface Surroundings extends ClusterConnection, Holding {
  readonly project_reason: LifecycleReason | null;
  readonly project_message: string | null;
}

/** The row itself, without what was read beside it. */
export function withoutSurroundings<R extends Surroundings>(shown: R): Omit<R, keyof Surroundings> {
  const {
    session_lease_until: _l,
    last_heartbeat: _h,
    project_reason: _r,
    project_message: _m,
    operator_suspends: _s,
    surrounding_suspension: _o,
    ...row
  } = shown;
  return row;
}

/** Two heartbeats may be lost or late before what is known counts as old. */
const STALE_AFTER_MS = 75_000;

const isLive = ({ session_lease_until }: ClusterConnection, now: Date): boolean =>
  session_lease_until !== null && session_lease_until > now;

/** Returns whether nobody confirms any more what is recorded about a cluster and everything on it. */
export function isStale(connection: ClusterConnection, now: Date): boolean {
  const { last_heartbeat } = connection;
  if (!isLive(connection, now) || last_heartbeat === null) return true;
  return now.getTime() - last_heartbeat.getTime() > STALE_AFTER_MS;
}

/**
 * An operator reports every change, so each heartbeat confirms all that it has reported before. That way a heartbeat is
 * one write for a cluster, however much runs on it.
 */
export function freshnessOf(
  reportedAt: Date | null,
  connection: ClusterConnection,
  now: Date,
): { readonly observed_at: string | null; readonly stale: boolean } {
  const times = reportedAt === null ? [] : [reportedAt, connection.last_heartbeat ?? reportedAt];
  const latestMs = Math.max(...times.map((time) => time.getTime()));
  return {
    observed_at: times.length === 0 ? null : new Date(latestMs).toISOString(),
    stale: isStale(connection, now),
  };
}

/** The connection at the moment at which the operator has reported. */
export const reportingAt = (now: Date): ClusterConnection => ({
  session_lease_until: new Date(now.getTime() + 1),
  last_heartbeat: now,
});

interface Phased {
  readonly phase: string;
  readonly phase_reason: string | null;
  readonly phase_message: string | null;
}

/**
 * The reason and message of a phase as they are read. A change that cannot reach the cluster says why it waits. This is not
 * stored, so it ends by itself when the operator is back.
 */
export function shownReason(
  { phase, phase_reason, phase_message }: Phased,
  { project_reason, project_message, ...connection }: Surroundings,
  now: Date,
): Pick<Phased, "phase_reason" | "phase_message"> {
  const isPending = phase === "pending";
  const isUnansweredDeletion = phase === "deleting" && phase_reason === null;
  if (isUnansweredDeletion && (project_reason === "cluster_abandoned" || project_reason === "cluster_detached")) {
    return { phase_reason: project_reason, phase_message: project_message };
  }
  if ((isPending || isUnansweredDeletion) && !isLive(connection, now)) {
    return { phase_reason: "operator_disconnected" satisfies Reason, phase_message: disconnectedMessage(connection) };
  }
  if (isPending && project_reason === "namespace_conflict") {
    return { phase_reason: "namespace_conflict" satisfies Reason, phase_message: project_message };
  }
  return { phase_reason, phase_message };
}

const disconnectedMessage = ({ last_heartbeat }: ClusterConnection): string =>
  last_heartbeat === null
    ? "No operator of the cluster has connected yet. The change is delivered when one does."
    : `The operator of the cluster has been disconnected since ${last_heartbeat.toISOString()}. ` +
      "The change is delivered when it is back.";
