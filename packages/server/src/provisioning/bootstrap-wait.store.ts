import { sql } from "kysely";
import { lockCluster } from "../clusters/cluster.store.ts";
import { hasLiveSession } from "../clusters/cluster.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { type NodeBoot, type WaitStep, waitStep } from "./bootstrap.ts";
import { nodeAfter } from "./kubernetes-upgrade.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";
import { lockJob, queueNextNode } from "./provisioning.store.ts";
import type { ProvisioningJob } from "./provisioning.ts";
import { appendLines, type Moved, movedCluster, type RunHold, whileHeld } from "./provisioning-run.store.ts";
import { isRestore } from "./provisioning-run.ts";

export const bootsOf = (db: Queries, clusterId: string): Promise<NodeBoot[]> =>
  db.selectFrom("node_boots").selectAll().where("cluster_id", "=", clusterId).orderBy("node").execute();

/** From now on the machines that a plan makes are expected to report, also after a crash of this worker. */
export async function expectMachines(
  tx: Tx,
  job: Pick<ProvisioningJob, "id" | "cluster_id">,
  {
    made,
    wanted,
    hashes,
  }: { readonly made: readonly string[]; readonly wanted: readonly string[]; readonly hashes: readonly string[] },
  now: Date,
): Promise<void> {
  const { id: job_id, cluster_id } = job;
  const gone = tx.deleteFrom("node_boots").where("cluster_id", "=", cluster_id);
  await gone.where("node", "!=", sql<string>`all (${wanted}::text[])`).execute();
  if (made.length === 0) return;
  // The machine that is replaced must not report in the place of the new one.
  await tx
    .deleteFrom("node_tokens")
    .where("cluster_id", "=", cluster_id)
    .where("node", "in", made)
    .where("token_hash", "!=", sql<string>`all (${hashes}::text[])`)
    .execute();
  await tx
    .insertInto("node_boots")
    .values(made.map((node) => ({ cluster_id, node, job_id, status: "pending" as const, updated_at: now })))
    .onConflict((on) =>
      on.columns(["cluster_id", "node"]).doUpdateSet({
        job_id,
        status: "pending",
        stage: null,
        message: null,
        lines: 0,
        // What a machine may print is bounded for each job, however often it is retried.
        log_bytes: sql<number>`case when node_boots.job_id = excluded.job_id then node_boots.log_bytes else 0 end`,
        updated_at: now,
      }),
    )
    .execute();
}

/** The infrastructure is there: from now on the job waits without a worker. */
export async function beginWait(
  db: Queries,
  hold: RunHold,
  job: ProvisioningJob,
  until: Date,
  now: Date,
): Promise<Moved> {
  return whileHeld(db, hold, async (tx) => {
    const before = await lockCluster(tx, job.cluster_id);
    const fields = { phase: "bootstrap", waits_until: until, updated_at: now } as const;
    await tx.updateTable("provisioning_jobs").set(fields).where("id", "=", job.id).execute();
    if (job.desired_node_count !== null) {
      const size = { agent_count: job.desired_node_count - 1, updated_at: now };
      await tx.updateTable("clusters").set(size).where("id", "=", before.id).execute();
    }
    const missing = (await bootsOf(tx, before.id)).filter(({ status }) => status !== "completed");
    const names = missing.map(({ node }) => node).join(", ");
    if (names)
      await appendLines(tx, job.id, [`The infrastructure is there. Waiting for ${names} to become nodes.`], now);
    return movedCluster(tx, before, now);
  });
}

/** The jobs that wait, of one cluster or of all. */
export async function waitingJobs(db: Queries, clusterId: string | null): Promise<string[]> {
  const waiting = db
    .selectFrom("provisioning_jobs")
    .select("id")
    .where("status", "=", "running")
    .where("waits_until", "is not", null)
    .orderBy("waits_until");
  const rows = await (clusterId === null ? waiting : waiting.where("cluster_id", "=", clusterId)).execute();
  return rows.map(({ id }) => id);
}

/** Brings a job that waits as far as its machines and its operator are. Returns null where nothing has changed. */
export function settleWait(db: Queries, jobId: string, minutes: number, now: Date): Promise<Moved | null> {
  return inTransaction(db, async (tx) => {
    const seen = await tx
      .selectFrom("provisioning_jobs")
      .select("cluster_id")
      .where("id", "=", jobId)
      .executeTakeFirst();
    if (!seen) return null;
    const before = await lockCluster(tx, seen.cluster_id);
    const job = await lockJob(tx, jobId);
    if (job?.status !== "running" || job.waits_until === null) return null;
    const boots = await bootsOf(tx, before.id);
    const hasConnected = before.first_connected_at !== null;
    const { action, waits_until: until } = job;
    const isCancelled = job.cancel_requested_at !== null;
    const next = action === "upgrade" ? nodeAfter(job.node, before.agent_count ?? 0) : null;
    const operator = { needsOperator: next !== null && !job.force, isOperatorHere: hasLiveSession(before, now) };
    const wait = { action, boots, hasConnected, isRestore: isRestore(job), ...operator, isCancelled, until, minutes };
    const step = waitStep(wait, now);
    if (step.is === "done" && action === "upgrade") await endUpgradeOf(tx, job, next, now);
    else if (!(await store(tx, job, step, now))) return null;
    return movedCluster(tx, before, now);
  });
}

/** A machine has the release: the next one is replaced by a further run, or the job is done. */
async function endUpgradeOf(tx: Tx, job: ProvisioningJob, next: string | null, now: Date): Promise<void> {
  if (job.node === CONTROL_PLANE_NODE && job.kubernetes_release) {
    // From now on new agents get it too: none may be newer than the control plane.
    const fields = { kubernetes_release: JSON.stringify(job.kubernetes_release), updated_at: now };
    await tx.updateTable("clusters").set(fields).where("id", "=", job.cluster_id).execute();
  }
  await appendLines(
    tx,
    job.id,
    [`${job.node} has ${job.kubernetes_release?.version}.${next ? ` ${next} is next.` : ""}`],
    now,
  );
  if (next === null) {
    await store(tx, job, { is: "done" }, now);
    return;
  }
  await queueNextNode(tx, job, next, now);
}

async function store(tx: Tx, job: ProvisioningJob, step: WaitStep, now: Date): Promise<boolean> {
  const change = (fields: object) =>
    tx
      .updateTable("provisioning_jobs")
      .set({ ...fields, updated_at: now })
      .where("id", "=", job.id)
      .execute();
  if (step.is === "done") {
    await change({ status: "succeeded", phase: "done", progress_pct: 100, waits_until: null, finished_at: now });
    return true;
  }
  const { phase, percent } = step.progress;
  const reached = { phase, progress_pct: percent };
  if (step.is === "waiting") {
    if (job.phase === phase && job.progress_pct === percent) return false;
    await change(reached);
    if (phase === "operator" && job.phase !== phase)
      await appendLines(tx, job.id, ["All machines are nodes. The operator is expected to connect."], now);
    return true;
  }
  const { code, message } = step.failure;
  const failed = { status: "failed", error_code: code, error_message: message, waits_until: null, finished_at: now };
  await change({ ...reached, ...failed });
  await appendLines(tx, job.id, [`The job has failed: ${message}`], now);
  // The next run replaces them.
  if (phase === "bootstrap" && code === "timed_out") {
    const late = tx.updateTable("node_boots").set({ status: "failed", message: "It took too long.", updated_at: now });
    await late.where("cluster_id", "=", job.cluster_id).where("status", "!=", "completed").execute();
  }
  return true;
}
