import { type ClusterStatus, INSTALL_STAGES, type JournalEntry, UPGRADE_STAGES } from "@binnacle/contract";
import type { Announcement } from "../events/event.ts";
import type { Cluster } from "./cluster.ts";

/** Everything that a cluster's status depends on, as it is on record. */
export type StatusFacts = Pick<
  Cluster,
  | "deletion_requested_at"
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

/**
 * The one place that says what state a cluster is in. Nothing is stored: a fact that changes, a lease that runs out
 * included, changes the status with it. Deletion outweighs failure, failure an installation, and that the rest.
 */
export function statusOf(facts: StatusFacts, now: Date): ClusterStatus {
  const { deletion_requested_at, job_action, job_status } = facts;
  if (deletion_requested_at !== null) {
    return job_action === "destroy" && job_status === "failed" ? "error" : "destroying";
  }
  if (job_action === "create" && job_status === "failed") return "error";
  if (facts.stage_status === "failed") return "install_failed";
  if (isInstalling(facts)) return "installing";
  if (isBeingCreated(facts)) return "provisioning";
  if (facts.session_lease_until !== null && facts.session_lease_until > now) return "connected";
  if (facts.first_connected_at !== null) return "disconnected";
  return job_action !== null || facts.stage !== null ? "awaiting_operator" : "pending";
}

/** Explains `error`; null in every other state. */
export function messageOf(facts: StatusFacts, now: Date): string | null {
  return statusOf(facts, now) === "error" ? facts.job_error_message : null;
}

/**
 * Between two stages the installation goes on. It is over with `verify`, and with the `record` that comes after it in an
 * upgrade: a cluster that has been upgraded would stay `installing` for good otherwise.
 */
function isInstalling({ stage, stage_status, install_journal }: StatusFacts): boolean {
  if (stage_status !== "completed") return stage_status !== null;
  return stage === "record" ? isUnverifiedInstall(install_journal as JournalEntry[] | null) : stage !== "verify";
}

/** An install records before it verifies. */
function isUnverifiedInstall(journal: readonly JournalEntry[] | null): boolean {
  const entries = journal ?? [];
  const verified = entries.findLastIndex(({ stage, status }) => stage === "verify" && status === "completed");
  return entries.slice(verified + 1).some(({ stage }) => ofInstallsAlone.has(stage));
}

const ofUpgrades: ReadonlySet<string> = new Set(UPGRADE_STAGES);
const ofInstallsAlone: ReadonlySet<string> = new Set(INSTALL_STAGES.filter((stage) => !ofUpgrades.has(stage)));

/** From the phase `operator` on the machines are up and bootstrapped: what is missing is the operator's first word. */
function isBeingCreated({ job_action, job_status, job_phase }: StatusFacts): boolean {
  const isUnfinished = job_status === "pending" || job_status === "running";
  return job_action === "create" && isUnfinished && job_phase !== "operator" && job_phase !== "done";
}

/** What subscribers hear when a change has moved the cluster from one state to another; null where it has not. */
export function statusAnnouncement(before: Cluster | null, after: Cluster, now: Date): Announcement | null {
  const status = statusOf(after, now);
  if (before !== null && statusOf(before, now) === status) return null;
  return {
    type: "cluster-status",
    org_id: after.org_id,
    cluster_id: after.id,
    resource: { type: "cluster", id: after.id, name: after.name },
    status,
    message: messageOf(after, now),
  };
}
