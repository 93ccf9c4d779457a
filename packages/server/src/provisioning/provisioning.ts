import type { ProvisioningLogLine, ProvisioningStatus, ProvisioningJob as WireJob } from "@binnacle/contract";
import type { Selectable } from "kysely";
import { clusterIsAbandoned } from "../clusters/abandonment.ts";
import { type Cluster, hasProjects } from "../clusters/cluster.ts";
import type { ProvisioningJobTable } from "../database/provisioning-tables.ts";
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
    cancel_requested_at: job.cancel_requested_at?.toISOString() ?? null,
    attempts: job.attempts,
    desired_node_count: job.desired_node_count,
    created_at: job.created_at.toISOString(),
    updated_at: job.updated_at.toISOString(),
    started_at: job.started_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
  };
}

export const hasEnded = (status: ProvisioningStatus): boolean => status === "succeeded" || status === "failed";

export const wireLine = ({
  position,
  at,
  line,
}: {
  position: number;
  at: Date;
  line: string;
}): ProvisioningLogLine => ({
  position,
  time: at.toISOString(),
  line,
});

/** Null while the log is empty. */
export const logText = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : `${lines.join("\n")}\n`;

/** Only the newest job may be retried: retrying a creation after a destroy request would build everything again. */
export function retryProblem(job: Pick<ProvisioningJob, "id" | "status" | "dry_run">, newestId: string): Fault | null {
  if (job.dry_run) return conflict("A plan is not retried. Ask for a new one.");
  if (job.status !== "failed") return conflict(`Only a failed job can be retried; this one is ${job.status}.`);
  if (job.id !== newestId) return conflict("A newer job of the cluster has taken this one's place.");
  return null;
}

/** A cluster can be scaled if it exists and has no other job. */
export function scaleProblem(
  cluster: Pick<Cluster, "abandoned_at" | "credential_id" | "deletion_requested_at" | "job_action" | "job_status">,
): Fault | null {
  const { job_action, job_status } = cluster;
  if (cluster.credential_id === null) return conflict("A bring-your-own cluster is not scaled by Binnacle.");
  if (cluster.deletion_requested_at !== null) return conflict("The cluster is being destroyed.");
  if (cluster.abandoned_at !== null) return clusterIsAbandoned();
  if (job_status === "pending" || job_status === "running") {
    return conflict(`Another job of the cluster is under way: ${job_action}.`);
  }
  if (job_action === "create" && job_status === "failed") {
    return conflict("The cluster was not created; retry its provisioning job first.");
  }
  return null;
}

/** A cluster can be destroyed whatever its other jobs are, so a destruction can be planned like that too. */
export function destroyPlanProblem(
  cluster: Pick<Cluster, "credential_id" | "deletion_requested_at">,
  projects: readonly string[],
): Fault | null {
  if (cluster.credential_id === null) return conflict("Binnacle has made no infrastructure for this cluster.");
  if (cluster.deletion_requested_at !== null) return conflict("The cluster is being destroyed.");
  return projects.length > 0 ? hasProjects(projects) : null;
}

export const planUnderWay = () =>
  conflict("Another plan of the cluster is being made. Wait for it or cancel it, and try again.");

/** What becomes of a job that no worker runs when it is cancelled. */
export const cancelledMessage = ({ status }: Pick<ProvisioningJob, "status">): string =>
  status === "pending"
    ? "The job was cancelled before it began. Retry it to run it after all."
    : "The job was cancelled while its machines booted. What exists already stays; retry the job to go on.";

export const CANCELLED_BY_DELETION = "The job was cancelled, because the cluster was deleted.";

/** What a cancellation does: nothing more where one was requested already. A job that waits for machines has no worker. */
export function cancellationOf(
  job: Pick<ProvisioningJob, "status" | "cancel_requested_at" | "waits_until">,
): "fail" | "request" | "requested" | Fault {
  switch (job.status) {
    case "pending":
      return "fail";
    case "running":
      if (job.waits_until !== null) return "fail";
      return job.cancel_requested_at === null ? "request" : "requested";
    case "succeeded":
    case "failed":
      return conflict(`The job has ended already: it has ${job.status}.`);
  }
}

/** The line after which a reader continues. Anything but a position reads from the start: nothing is lost by it. */
export function lineAfter(lastEventId: unknown): number {
  if (typeof lastEventId !== "string" || !/^\d{1,15}$/.test(lastEventId)) return 0;
  return Number(lastEventId);
}

const EVENT_STREAM = /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i;

/** Whether a request asks for events instead of JSON. */
export const acceptsEvents = (accept: string | undefined): boolean => accept !== undefined && EVENT_STREAM.test(accept);
