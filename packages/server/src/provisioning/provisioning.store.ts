import type { ProvisioningAction } from "@binnacle/contract";
import type { Queries, Tx } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { enqueue } from "../jobs/job.store.ts";
import { PROVISIONING_KIND, type ProvisioningJob } from "./provisioning.ts";

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
      finished_at: null,
      updated_at: now,
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await queue(tx, job, createdBy);
  return job;
}

/** The lane is that of the cluster, so two jobs of a cluster never run at once. */
async function queue(tx: Tx, job: ProvisioningJob, createdBy: string): Promise<void> {
  const payload = { provisioning_job_id: job.id };
  await enqueue(tx, { kind: PROVISIONING_KIND, lane: job.cluster_id, payload, createdBy });
}

/** The newest job that changes something. */
export async function newestJob(tx: Tx, clusterId: string): Promise<ProvisioningJob | undefined> {
  return tx
    .selectFrom("provisioning_jobs")
    .selectAll()
    .where("cluster_id", "=", clusterId)
    .where("dry_run", "=", false)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
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
