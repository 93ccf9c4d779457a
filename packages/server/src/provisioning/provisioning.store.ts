import type { ProvisioningAction } from "@binnacle/contract";
import { sql, type Updateable } from "kysely";
import type { KubernetesRelease } from "../cloud/kubernetes-release.ts";
import { DECISIVE_JOB } from "../database/columns.ts";
import type { ProvisioningJobTable } from "../database/provisioning-tables.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { enqueue } from "../jobs/job.store.ts";
import { staleProblem } from "./bound-plan.ts";
import { cancellationOf, type ProvisioningJob, queuedKind } from "./provisioning.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

interface NewProvisioning {
  readonly cluster: { readonly id: string; readonly org_id: string; readonly credential_id: string | null };
  readonly action: ProvisioningAction;
  readonly desiredNodeCount: number | null;
  readonly createdBy: string;
  readonly now: Date;
  /** Ends with its plan and changes nothing. */
  readonly isDryRun?: boolean;
  /** The node whose machine is replaced. */
  readonly node?: string;
  readonly force?: boolean;
  /** What an upgrade leads to. */
  readonly release?: KubernetesRelease;
  /** The plan outside of which the job changes nothing. */
  readonly planJobId?: string | undefined;
}

/** Stores the job and enqueues it in one transaction, so that neither exists without the other. */
export async function startProvisioning(tx: Tx, wanted: NewProvisioning): Promise<ProvisioningJob> {
  const { cluster, now } = wanted;
  const job = await tx
    .insertInto("provisioning_jobs")
    .values({
      id: newId(),
      cluster_id: cluster.id,
      org_id: cluster.org_id,
      credential_id: cluster.credential_id,
      action: wanted.action,
      status: "pending",
      phase: "init",
      desired_node_count: wanted.desiredNodeCount,
      dry_run: wanted.isDryRun ?? false,
      node: wanted.node ?? null,
      force: wanted.force ?? false,
      kubernetes_release: wanted.release ? JSON.stringify(wanted.release) : null,
      plan_job_id: wanted.planJobId ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await queue(tx, job, wanted.createdBy);
  return job;
}

/**
 * Enqueues the same job again. Its phase, attempts and log stay, because it continues with the existing infrastructure.
 */
export async function requeue(tx: Tx, id: string, createdBy: string, now: Date): Promise<ProvisioningJob> {
  const job = await tx
    .updateTable("provisioning_jobs")
    .set({
      status: "pending",
      error_message: null,
      error_code: null,
      cancel_requested_at: null,
      throttles: 0,
      throttled_since: null,
      snapshot_wait_since: null,
      retry_at: null,
      waits_until: null,
      finished_at: null,
      updated_at: now,
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await queue(tx, job, createdBy);
  return job;
}

/** Enqueues the same job for its next machine. */
export async function queueNextNode(tx: Tx, job: ProvisioningJob, node: string, now: Date): Promise<void> {
  const fields = {
    status: "pending",
    phase: "init",
    progress_pct: 0,
    node,
    replaced_machine: null,
    waits_until: null,
  } as const;
  const waits = { throttles: 0, throttled_since: null, snapshot_wait_since: null, updated_at: now };
  await tx
    .updateTable("provisioning_jobs")
    .set({ ...fields, ...waits })
    .where("id", "=", job.id)
    .execute();
  await queue(tx, job, undefined);
}

/** The lane is that of the cluster, so two jobs of a cluster never run at once. */
async function queue(tx: Tx, job: ProvisioningJob, createdBy: string | undefined): Promise<void> {
  const payload = { provisioning_job_id: job.id };
  await enqueue(tx, {
    kind: queuedKind(job),
    lane: job.cluster_id,
    payload,
    ...(createdBy ? { createdBy } : {}),
    tenantId: job.org_id,
  });
}

/** The newest job that changes something, or has tried to. */
export async function newestJob(tx: Tx, clusterId: string): Promise<ProvisioningJob | undefined> {
  return tx
    .selectFrom("provisioning_jobs")
    .selectAll()
    .where("cluster_id", "=", clusterId)
    .where(sql.raw<boolean>(DECISIVE_JOB))
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Throws where the change cannot be bound to the plan. Requires the cluster to be locked. */
export async function requireFreshPlan(
  tx: Tx,
  planJobId: string | undefined,
  wanted: Parameters<typeof staleProblem>[1],
): Promise<void> {
  if (planJobId === undefined) return;
  const plan = await tx.selectFrom("provisioning_jobs").selectAll().where("id", "=", planJobId).executeTakeFirst();
  const problem = staleProblem(plan, wanted, await newestJob(tx, wanted.cluster_id));
  if (problem) throw problem;
}

export function newestUpgrade(tx: Tx, clusterId: string): Promise<ProvisioningJob | undefined> {
  const upgrades = tx.selectFrom("provisioning_jobs").selectAll().where("cluster_id", "=", clusterId);
  return upgrades.where("action", "=", "upgrade").orderBy("id", "desc").limit(1).executeTakeFirst();
}

/** Requires the cluster to be locked, so that of two plans at once one finds the other. */
export async function isPlanning(tx: Tx, clusterId: string): Promise<boolean> {
  const found = await tx
    .selectFrom("provisioning_jobs")
    .select("id")
    .where("cluster_id", "=", clusterId)
    .where("dry_run", "=", true)
    .where("status", "in", ["pending", "running"])
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Locks the job, so that a worker which begins it at the same time comes before or after. */
export function lockJob(tx: Tx, id: string): Promise<ProvisioningJob | undefined> {
  return tx.selectFrom("provisioning_jobs").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

export function failCancelled(tx: Tx, id: string, message: string, now: Date): Promise<ProvisioningJob> {
  return changeJob(tx, id, {
    status: "failed",
    error_code: "cancelled",
    error_message: message,
    cancel_requested_at: now,
    retry_at: null,
    waits_until: null,
    finished_at: now,
    updated_at: now,
  });
}

export function requestCancellation(tx: Tx, id: string, now: Date): Promise<ProvisioningJob> {
  return changeJob(tx, id, { cancel_requested_at: now, updated_at: now });
}

/**
 * Stops what makes or changes a cluster that is to go; the destroy would wait for its end otherwise. Requires the cluster to
 * be locked. The worker looks every second whether its job is to stop.
 */
export async function stopJobs(tx: Tx, clusterId: string, message: string, now: Date): Promise<void> {
  const open = await tx
    .selectFrom("provisioning_jobs")
    .select(["id", "status", "cancel_requested_at", "waits_until"])
    .where("cluster_id", "=", clusterId)
    .where("status", "in", ["pending", "running"])
    .orderBy("id")
    .forUpdate()
    .execute();
  for (const job of open) {
    const cancellation = cancellationOf(job);
    if (cancellation === "fail") await failCancelled(tx, job.id, message, now);
    else if (cancellation === "request") await requestCancellation(tx, job.id, now);
  }
}

function changeJob(tx: Tx, id: string, fields: Updateable<ProvisioningJobTable>): Promise<ProvisioningJob> {
  return tx.updateTable("provisioning_jobs").set(fields).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
}

/** Returns nothing for a job that is gone with its cluster. */
export function findStatus(db: Queries, id: string): Promise<Pick<ProvisioningJob, "status"> | undefined> {
  return db.selectFrom("provisioning_jobs").select("status").where("id", "=", id).executeTakeFirst();
}

/** A cluster has few jobs, so they are counted at each list. */
export async function listJobs(db: Queries, clusterId: string, page: Window) {
  const ofCluster = db.selectFrom("provisioning_jobs").where("cluster_id", "=", clusterId);
  const [jobs, { total }] = await Promise.all([
    ofCluster.selectAll().orderBy("id", "desc").limit(page.limit).offset(page.offset).execute(),
    ofCluster.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { jobs, total };
}

export async function logLines(db: Queries, jobId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("provisioning_log_lines")
    .select("line")
    .where("job_id", "=", jobId)
    .orderBy("position")
    .execute();
  return rows.map(({ line }) => line);
}

export interface StoredLine {
  readonly position: number;
  readonly at: Date;
  readonly line: string;
}

/** The next lines after a position. Those of one job are written one batch after the other, so none comes before it later. */
export function linesAfter(db: Queries, jobId: string, position: number, limit: number): Promise<StoredLine[]> {
  return db
    .selectFrom("provisioning_log_lines")
    .select(["position", "at", "line"])
    .where("job_id", "=", jobId)
    .where("position", ">", position)
    .orderBy("position")
    .limit(limit)
    .execute();
}
