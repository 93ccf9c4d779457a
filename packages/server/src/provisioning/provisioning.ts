import type { ProvisioningLogLine, ProvisioningStatus, ProvisioningJob as WireJob } from "@binnacle/contract";
import type { Selectable } from "kysely";
import { clusterIsAbandoned } from "../clusters/abandonment.ts";
import { type Cluster, hasProjects } from "../clusters/cluster.ts";
import type { ProvisioningJobTable } from "../database/provisioning-tables.ts";
import { conflict, type Fault, notFound } from "../fault.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";
import { agentNames } from "./provisioning-run.ts";

export type ProvisioningJob = Selectable<ProvisioningJobTable>;

/** The kind of the queued job that runs a provisioning job; its payload is `{provisioning_job_id}`. */
const PROVISIONING_KIND = "provisioning";

/**
 * The kind of those that a worker of release 0.1.0 must not run while both are there: it would apply a bound change whatever its plan showed, and
 * replace the control plane of an upgrade from a snapshot of any age.
 */
const GUARDED_KIND = "provisioning-guarded";
export const PROVISIONING_KINDS = [PROVISIONING_KIND, GUARDED_KIND] as const;

export const queuedKind = ({ action, plan_job_id }: Pick<ProvisioningJob, "action" | "plan_job_id">) =>
  action === "upgrade" || plan_job_id !== null ? GUARDED_KIND : PROVISIONING_KIND;

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
    node: job.node,
    force: job.force,
    kubernetes_release: job.kubernetes_release?.version ?? null,
    dry_run: job.dry_run,
    plan_job_id: job.plan_job_id,
    retry_at: job.retry_at?.toISOString() ?? null,
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
export function retryProblem(
  job: Pick<ProvisioningJob, "id" | "status" | "dry_run" | "error_code">,
  newestId: string | undefined,
): Fault | null {
  if (job.dry_run) return conflict("A plan is not retried. Ask for a new one.");
  if (job.status !== "failed") return conflict(`Only a failed job can be retried; this one is ${job.status}.`);
  if (job.error_code === "plan_changed")
    return conflict(
      "The plan of the job is out of date, and it has changed nothing. Look at a new plan and ask again.",
    );
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

/** The machine of an agent can be replaced where the cluster is what its record says, and that of the control plane from a snapshot. */
export function replaceProblem(
  cluster: Pick<
    Cluster,
    | "abandoned_at"
    | "credential_id"
    | "deletion_requested_at"
    | "job_action"
    | "job_status"
    | "agent_count"
    | "snapshot_bucket"
  >,
  node: string,
  force: boolean,
): Fault | null {
  if (cluster.credential_id === null) return conflict("Binnacle has not made the machines of this cluster.");
  const problem = scaleProblem(cluster);
  if (problem) return problem;
  // The job that found out that the control plane is lost has failed and cannot be retried.
  if (node === CONTROL_PLANE_NODE) return restoreProblem(cluster.snapshot_bucket, force);
  if (!agentNames(0, cluster.agent_count ?? 0).includes(node)) return notFound("Node");
  // Otherwise the job would also undo what the other one has done.
  if (cluster.job_status === "failed")
    return conflict(`The last job of the cluster has failed: ${cluster.job_action}. Retry it first.`);
  return null;
}

function restoreProblem(bucket: string | null, force: boolean): Fault | null {
  if (bucket === null) {
    return conflict(
      "The control plane cannot be replaced: its machine has the data of Kubernetes, and no bucket has snapshots of it. " +
        "Bring the machine back in the cloud, or delete the cluster.",
    );
  }
  if (force) return null;
  return conflict(
    "The control plane is made anew from its newest snapshot. What was changed since, and the local volumes on its machine, are lost. " +
      "Ask again with `force` if that is what you want.",
  );
}

type ClusterToPlan = Parameters<typeof replaceProblem>[0];

interface Planned {
  readonly action: "scale" | "replace" | "destroy";
  readonly desired_node_count?: number | undefined;
  readonly node?: string | undefined;
}

/** A plan is refused where its change would be. `force` is asked for with the change alone. */
export function planProblem(cluster: ClusterToPlan, planned: Planned, projects: readonly string[]): Fault | null {
  switch (planned.action) {
    case "scale":
      return scaleProblem(cluster);
    case "replace":
      return replaceProblem(cluster, planned.node ?? "", true);
    case "destroy":
      return destroyPlanProblem(cluster, projects);
  }
}

/** The size of the cluster after the change; null where it is gone. */
export const plannedNodeCount = (cluster: Pick<Cluster, "agent_count">, planned: Planned): number | null =>
  planned.action === "replace" ? 1 + (cluster.agent_count ?? 0) : (planned.desired_node_count ?? null);

/** A cluster can be destroyed whatever its other jobs are, so a destruction can be planned like that too. */
function destroyPlanProblem(
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
export const cancelledMessage = ({ status, attempts }: Pick<ProvisioningJob, "attempts" | "status">): string =>
  status === "pending" && attempts > 0
    ? "The job was cancelled while it waited. What exists already stays; retry the job to go on."
    : status === "pending"
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
