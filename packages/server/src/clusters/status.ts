import { type ClusterStatus, INSTALL_STAGES, type JournalEntry, UPGRADE_STAGES } from "@binnacle/contract";
import type { Announcement } from "../events/event.ts";
import type { Cluster } from "./cluster.ts";
import { freshnessOf } from "./freshness.ts";

/** The stored facts that the status of a cluster depends on. */
export type StatusFacts = Pick<
  Cluster,
  | "abandoned_at"
  | "deletion_requested_at"
  | "detach_message"
  | "detach_requested_at"
  | "first_connected_at"
  | "install_journal"
  | "job_action"
  | "job_error_message"
  | "job_phase"
  | "job_status"
  | "session_lease_until"
  | "stage"
  | "stage_status"
>;

/** A cluster with no more than its status, its freshness and its place in a list need. */
export interface ClusterFacts extends StatusFacts {
  readonly id: string;
  readonly name: string;
  readonly last_heartbeat: Date | null;
  readonly stage_at: Date | null;
  readonly job_id: string | null;
  readonly job_updated_at: Date | null;
}

/**
 * Derives the status of a cluster. It is not stored, so every change of a fact changes it, including the expiry of a
 * lease. Deletion takes precedence over everything else, then abandonment, failure and installation.
 */
export function statusOf(facts: StatusFacts, now: Date): ClusterStatus {
  const { deletion_requested_at, job_action, job_status } = facts;
  if (deletion_requested_at !== null) {
    return job_action === "destroy" && job_status === "failed" ? "error" : "destroying";
  }
  if (facts.abandoned_at !== null) return facts.detach_requested_at === null ? "abandoned" : "detaching";
  if (job_action === "create" && job_status === "failed") return "error";
  if (facts.stage_status === "failed") return "install_failed";
  if (isInstalling(facts)) return "installing";
  if (isBeingCreated(facts)) return "provisioning";
  if (facts.session_lease_until !== null && facts.session_lease_until > now) return "connected";
  if (facts.first_connected_at !== null) return "disconnected";
  return job_action !== null || facts.stage !== null ? "awaiting_operator" : "pending";
}

/** Returns the explanation of `error` and of `detaching`, and null for every other status. */
export function messageOf(facts: StatusFacts, now: Date): string | null {
  const status = statusOf(facts, now);
  if (status === "detaching") return facts.detach_message;
  return status === "error" ? facts.job_error_message : null;
}

/**
 * An installation continues between two stages. It ends with `verify`, or with the `record` after it in an upgrade;
 * otherwise an upgraded cluster would stay `installing` forever.
 */
function isInstalling({ stage, stage_status, install_journal }: StatusFacts): boolean {
  if (stage_status !== "completed") return stage_status !== null;
  return stage === "record" ? isUnverifiedInstall(install_journal as JournalEntry[] | null) : stage !== "verify";
}

/** An install writes its record before it verifies. */
function isUnverifiedInstall(journal: readonly JournalEntry[] | null): boolean {
  const entries = journal ?? [];
  const verified = entries.findLastIndex(({ stage, status }) => stage === "verify" && status === "completed");
  return entries.slice(verified + 1).some(({ stage }) => ofInstallsAlone.has(stage));
}

const ofUpgrades: ReadonlySet<string> = new Set(UPGRADE_STAGES);
const ofInstallsAlone: ReadonlySet<string> = new Set(INSTALL_STAGES.filter((stage) => !ofUpgrades.has(stage)));

/** From the phase `operator` on, the machines run, and only the operator's first connection is missing. */
function isBeingCreated({ job_action, job_status, job_phase }: StatusFacts): boolean {
  const isUnfinished = job_status === "pending" || job_status === "running";
  return job_action === "create" && isUnfinished && job_phase !== "operator" && job_phase !== "done";
}

/** Returns the event of a changed status, or null where the status is the same. */
export function statusAnnouncement(before: Cluster | null, after: Cluster, now: Date): Announcement | null {
  if (before !== null && statusOf(before, now) === statusOf(after, now)) return null;
  return clusterAnnouncement(after, now);
}

/** Returns the event that says how a cluster stands, also where something else than its status has changed. */
export const clusterAnnouncement = (cluster: Cluster, now: Date): Announcement => ({
  type: "cluster-status",
  org_id: cluster.org_id,
  cluster_id: cluster.id,
  resource: { type: "cluster", id: cluster.id, name: cluster.name },
  status: statusOf(cluster, now),
  message: messageOf(cluster, now),
  suspended: cluster.suspended_at !== null,
  ...(cluster.operator_upgrade ? { operator_upgrade: cluster.operator_upgrade.phase } : {}),
  ...freshnessOf(cluster.last_heartbeat, cluster, now),
});
