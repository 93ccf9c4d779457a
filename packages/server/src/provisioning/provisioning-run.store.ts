import { sql } from "kysely";
import { appendAudit } from "../audit/audit.store.ts";
import { auditRow } from "../audit/audit.ts";
import type { KubernetesRelease } from "../cloud/kubernetes-release.ts";
import type { ProvisioningFailure } from "../cloud/provider.ts";
import { deleteAbandonedProjects } from "../clusters/abandonment.store.ts";
import { deleteClusterRow, knownCluster, lockCluster } from "../clusters/cluster.store.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { statusAnnouncement } from "../clusters/status.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { activityOf, type Event } from "../events/event.ts";
import { logAnnouncements, logEvents } from "../events/event-log.store.ts";
import { newId } from "../id.adapter.ts";
import { type Hold, lockHeld } from "../jobs/job.store.ts";
import { LeaseLost } from "../jobs/job.ts";
import { PROVISIONING_KINDS, type ProvisioningJob } from "./provisioning.ts";
import type { Progress } from "./provisioning-run.ts";
import { keptOnRecord } from "./volumes.ts";

/** Who runs a job: every write proves that no other worker has claimed it. */
export type RunHold = Pick<Hold, "id" | "fence">;

/** Runs the work in one transaction that holds the job in the queue. Throws `LeaseLost` where another worker has it. */
export function whileHeld<T>(db: Queries, hold: RunHold, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inTransaction(db, async (tx) => {
    if (!(await lockHeld(tx, hold))) throw new LeaseLost("Another worker has claimed the provisioning job.");
    return work(tx);
  });
}

/** The cluster before and after a change of its job, for the announcement of its status. */
export interface Moved {
  readonly before: Cluster;
  readonly after: Cluster | null;
  /** They are in the event log already. */
  readonly events: readonly Event[];
}

/** Reads what a change has made of a cluster that is still there, and logs the event of its status. */
export async function movedCluster(tx: Tx, before: Cluster, now: Date): Promise<Moved & { readonly after: Cluster }> {
  const after = await knownCluster(tx, before.id);
  const announcement = statusAnnouncement(before, after, now);
  return { before, after, events: await logAnnouncements(tx, announcement ? [announcement] : [], now) };
}

export interface Begun extends Moved {
  readonly job: ProvisioningJob;
  readonly after: Cluster;
}

/** Counts a run. Returns null for a job that has ended or waits for its machines, or that is gone with its cluster. */
export async function beginRun(db: Queries, hold: RunHold, jobId: string, now: Date): Promise<Begun | null> {
  return whileHeld(db, hold, async (tx) => {
    const seen = await tx.selectFrom("provisioning_jobs").selectAll().where("id", "=", jobId).executeTakeFirst();
    if (!seen) return null;
    const before = await lockCluster(tx, seen.cluster_id);
    const job = await tx
      .updateTable("provisioning_jobs")
      .set({
        status: "running",
        phase: "init",
        progress_pct: 0,
        attempts: sql<number>`attempts + 1`,
        retry_at: null,
        started_at: sql<Date>`coalesce(started_at, ${now})`,
        updated_at: now,
      })
      .where("id", "=", jobId)
      .where("status", "in", ["pending", "running"])
      .where("waits_until", "is", null)
      .returningAll()
      .executeTakeFirst();
    return job ? { job, ...(await movedCluster(tx, before, now)) } : null;
  });
}

/** Stores lines and progress together; the lines keep their order. Returns whether somebody wants the job to stop. */
export async function saveProgress(
  db: Queries,
  hold: RunHold,
  jobId: string,
  { lines, progress }: { readonly lines: readonly string[]; readonly progress: Progress | null },
  now: Date,
): Promise<boolean> {
  return whileHeld(db, hold, async (tx) => {
    // The update locks the job, so that the lines of its machines come before or after.
    const row = await tx
      .updateTable("provisioning_jobs")
      .set({ ...(progress ? { phase: progress.phase, progress_pct: progress.percent } : {}), updated_at: now })
      .where("id", "=", jobId)
      .returning("cancel_requested_at")
      .executeTakeFirst();
    await appendLines(tx, jobId, lines, now);
    return row?.cancel_requested_at != null;
  });
}

/** Requires the job to be locked: a reader continues after the last position, so none may become visible later. */
export async function appendLines(tx: Tx, jobId: string, lines: readonly string[], now: Date): Promise<void> {
  if (lines.length === 0) return;
  await sql`
    insert into provisioning_log_lines (job_id, at, line)
    select ${jobId}, ${now}, line from unnest(${lines}::text[]) with ordinality as printed (line, place) order by place
  `.execute(tx);
}

export async function isCancelled(db: Queries, jobId: string): Promise<boolean> {
  const row = await db
    .selectFrom("provisioning_jobs")
    .select("cancel_requested_at")
    .where("id", "=", jobId)
    .executeTakeFirst();
  return row?.cancel_requested_at != null;
}

/** Stores a plan, together with what else has to be known before it is applied. */
export async function savePlan(
  db: Queries,
  hold: RunHold,
  jobId: string,
  { plan, digest }: { readonly plan: object; readonly digest: string },
  { phase, percent }: Progress,
  alsoIn: (tx: Tx) => Promise<void> = async () => undefined,
): Promise<void> {
  await whileHeld(db, hold, async (tx) => {
    await tx
      .updateTable("provisioning_jobs")
      // A run that comes to its plan gets on; the count of its waits still ends a job that never gets any further.
      .set({ plan: JSON.stringify(plan), plan_digest: digest, phase, progress_pct: percent, throttled_since: null })
      .where("id", "=", jobId)
      .execute();
    await alsoIn(tx);
  });
}

/** The plan that the job is bound to, or null where its record is gone. */
export async function boundPlan(
  db: Queries,
  { plan_job_id }: Pick<ProvisioningJob, "plan_job_id">,
): Promise<Pick<ProvisioningJob, "plan" | "plan_digest"> | null> {
  const seen = db.selectFrom("provisioning_jobs").select(["plan", "plan_digest"]).where("id", "=", plan_job_id);
  return (await seen.executeTakeFirst()) ?? null;
}

/** From now on something may have been changed, so that a later plan is another one. */
export async function confirmPlan(db: Queries, hold: RunHold, jobId: string, now: Date): Promise<void> {
  await whileHeld(db, hold, (tx) =>
    tx.updateTable("provisioning_jobs").set({ plan_confirmed_at: now }).where("id", "=", jobId).execute(),
  );
}

/** In the place of the id of a machine that was gone before its job. */
const NO_MACHINE = "none";

/** The first plan of a job says which machine it replaces. */
export async function saveReplacedMachine(tx: Tx, jobId: string, machine: string | null): Promise<void> {
  const job = tx.updateTable("provisioning_jobs").set({ replaced_machine: machine ?? NO_MACHINE });
  await job.where("id", "=", jobId).where("replaced_machine", "is", null).execute();
}

/** Whether anything can exist of a cluster: an apply begins only after its plan is stored. */
export async function wasEverPlanned(db: Queries, clusterId: string): Promise<boolean> {
  const planned = await db
    .selectFrom("provisioning_jobs")
    .select("id")
    .where("cluster_id", "=", clusterId)
    .where("action", "!=", "destroy")
    .where("dry_run", "=", false)
    .where("plan", "is not", null)
    .limit(1)
    .executeTakeFirst();
  return planned !== undefined;
}

const ended = (now: Date) => ({ finished_at: now, updated_at: now });

export async function failRun(
  db: Queries,
  hold: RunHold,
  job: Pick<ProvisioningJob, "id" | "cluster_id">,
  failure: ProvisioningFailure,
  now: Date,
): Promise<Moved> {
  return whileHeld(db, hold, (tx) => fail(tx, job, failure, now));
}

async function fail(
  tx: Tx,
  { id, cluster_id }: Pick<ProvisioningJob, "id" | "cluster_id">,
  { code, message }: ProvisioningFailure,
  now: Date,
): Promise<Moved> {
  const before = await lockCluster(tx, cluster_id);
  const job = await tx
    .updateTable("provisioning_jobs")
    .set({ status: "failed", error_code: code, error_message: message, ...ended(now) })
    .where("id", "=", id)
    .returning("action")
    .executeTakeFirst();
  // Nothing of the cluster was removed, so it is not left as one that is being destroyed.
  if (job?.action === "destroy" && code === "plan_changed")
    await tx
      .updateTable("clusters")
      .set({ deletion_requested_at: null, updated_at: now })
      .where("id", "=", cluster_id)
      .execute();
  return movedCluster(tx, before, now);
}

/** The record of a destroy goes with its cluster; that of a dry run has succeeded. */
export async function succeedRun(db: Queries, hold: RunHold, job: ProvisioningJob, now: Date): Promise<Moved> {
  return whileHeld(db, hold, async (tx) => {
    const before = await lockCluster(tx, job.cluster_id);
    if (!job.dry_run) {
      const resource = { type: "cluster", id: before.id, name: before.name };
      const made = await tx.selectFrom("provisioning_jobs").select("plan").where("id", "=", job.id).executeTakeFirst();
      // The log of the job goes with the cluster, and what is kept costs money.
      const changes = { provisioning_job_id: job.id, ...keptOnRecord(made?.plan?.volumes ?? []) };
      const audit = auditRow(
        { action: "cluster.destroy", resource, orgId: before.org_id, changes },
        { actor: { id: null, email: null, via: "system" }, sourceAddress: null, requestId: null },
        newId(),
        now,
      );
      await appendAudit(tx, [audit]);
      await deleteAbandonedProjects(tx, before.id);
      await deleteClusterRow(tx, before.id);
      const events = [activityOf(audit, null)];
      await logEvents(tx, events);
      return { before, after: null, events };
    }
    const done = { status: "succeeded", phase: "done", progress_pct: 100 } as const;
    await tx
      .updateTable("provisioning_jobs")
      .set({ ...done, error_code: null, error_message: null, ...ended(now) })
      .where("id", "=", job.id)
      .execute();
    return movedCluster(tx, before, now);
  });
}

export interface MadeWith {
  readonly sealed_ssh_key: string;
  readonly ssh_public_key: string;
  readonly sealed_join_token: string;
  readonly sealed_agent_token: string;
  readonly kubernetes_release: KubernetesRelease;
  readonly snapshot_bucket: string | null;
}

/** What the machines of a cluster are made with is decided once and stays. */
export async function saveMadeWith(db: Queries, hold: RunHold, clusterId: string, made: MadeWith): Promise<void> {
  const fields = { ...made, kubernetes_release: JSON.stringify(made.kubernetes_release) };
  await whileHeld(db, hold, (tx) =>
    tx.updateTable("clusters").set(fields).where("id", "=", clusterId).where("sealed_ssh_key", "is", null).execute(),
  );
}

export interface NewNodeToken {
  readonly node: string;
  readonly purpose: "bootstrap" | "report";
  readonly hash: string;
  readonly expiresAt: Date;
}

export async function saveNodeTokens(
  db: Queries,
  hold: RunHold,
  { id: job_id, cluster_id }: Pick<ProvisioningJob, "id" | "cluster_id">,
  tokens: readonly NewNodeToken[],
  now: Date,
): Promise<void> {
  await whileHeld(db, hold, async (tx) => {
    const ofCluster = tx.deleteFrom("node_tokens").where("cluster_id", "=", cluster_id);
    await ofCluster.where("expires_at", "<=", now).execute();
    const rows = tokens.map(({ node, purpose, hash, expiresAt }) => ({
      token_hash: hash,
      cluster_id,
      job_id,
      node,
      purpose,
      expires_at: expiresAt,
    }));
    if (rows.length > 0) await tx.insertInto("node_tokens").values(rows).execute();
  });
}

/** Small enough that the locks are held for milliseconds only. */
const BATCH_ROWS = 100;

const ABANDONED: ProvisioningFailure = {
  code: "failed",
  message: "The worker stopped each time it ran the job, and no attempt is left. Look at its log and retry the job.",
};

/** Fails the records whose queued job has ended without them, as after the last attempt of a worker that was killed. */
export function failAbandonedRuns(db: Queries, now: Date): Promise<Moved[]> {
  return inTransaction(db, async (tx) => {
    const abandoned = await tx
      .selectFrom("provisioning_jobs as job")
      .select(["job.id", "job.cluster_id"])
      .where("job.status", "in", ["pending", "running"])
      .where("job.waits_until", "is", null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("jobs")
              .select("jobs.id")
              .where("jobs.lane", "=", sql<string>`job.cluster_id::text`)
              .where("jobs.kind", "in", PROVISIONING_KINDS)
              .where("jobs.status", "in", ["pending", "running"])
              .where(sql<string>`jobs.payload ->> 'provisioning_job_id'`, "=", sql<string>`job.id::text`),
          ),
        ),
      )
      .limit(BATCH_ROWS)
      .forUpdate()
      .skipLocked()
      .execute();
    const moved: Moved[] = [];
    for (const job of abandoned) moved.push(await fail(tx, job, ABANDONED, now));
    return moved;
  });
}
