import type { ProvisioningJob as WireJob } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { Cluster } from "../clusters/cluster.ts";
import type { ProvisioningJobTable } from "../database/fleet-tables.ts";
import { conflict, type Fault } from "../fault.ts";

export type ProvisioningJob = Selectable<ProvisioningJobTable>;

/** The kind of the queued job that runs a provisioning job; its payload is `{provisioning_job_id}`. */
export const PROVISIONING_KIND = "provisioning";

/** Hints, with `{job_id}`, that a job has new lines, has ended or is to stop. Whoever listens reads the record. */
export const PROVISIONING_TOPIC = "provisioning";

export function wireJob(job: ProvisioningJob): WireJob {
  return {
    id: job.id,
    cluster_id: job.cluster_id,
    credential_id: job.credential_id,
    action: job.action,
    status: job.status,
    phase: job.phase,
    progress_pct: job.progress_pct,
    error_message: job.error_message,
    error_code: job.error_code,
    dry_run: job.dry_run,
    attempts: job.attempts,
    desired_node_count: job.desired_node_count,
    created_at: job.created_at.toISOString(),
    updated_at: job.updated_at.toISOString(),
    started_at: job.started_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
  };
}

/** Null while the log is empty. */
export const logText = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : `${lines.join("\n")}\n`;

/** Only the newest job may be retried: retrying a creation after a destroy request would build everything again. */
export function retryProblem(job: Pick<ProvisioningJob, "id" | "status">, newestId: string): Fault | null {
  if (job.status !== "failed") return conflict(`Only a failed job can be retried; this one is ${job.status}.`);
  if (job.id !== newestId) return conflict("A newer job of the cluster has taken this one's place.");
  return null;
}

/** A cluster can be scaled if it exists and has no other job. */
export function scaleProblem(
  cluster: Pick<Cluster, "credential_id" | "deletion_requested_at" | "job_action" | "job_status">,
): Fault | null {
  const { job_action, job_status } = cluster;
  if (cluster.credential_id === null) return conflict("A bring-your-own cluster is not scaled by Binnacle.");
  if (cluster.deletion_requested_at !== null) return conflict("The cluster is being destroyed.");
  if (job_status === "pending" || job_status === "running") {
    return conflict(`Another job of the cluster is under way: ${job_action}.`);
  }
  if (job_action === "create" && job_status === "failed") {
    return conflict("The cluster was not created; retry its provisioning job first.");
  }
  return null;
}
