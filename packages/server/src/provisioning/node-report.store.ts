import type { Queries, Tx } from "../database/transaction.ts";
import { afterReport, type NodeBoot, type Report } from "./bootstrap.ts";
import type { joinTokensOf } from "./join-tokens.ts";
import { lockJob } from "./provisioning.store.ts";
import { hasEnded, type ProvisioningJob } from "./provisioning.ts";
import { appendLines } from "./provisioning-run.store.ts";

type SealedJoinTokens = Parameters<typeof joinTokensOf>[1];

interface Presented {
  readonly cluster_id: string;
  readonly node: string;
  readonly tokenHash: string;
}

/**
 * Locks the job that the token belongs to, and then the boot of the machine that presents it. The first lock also gives the lines
 * of a job one order, while its apply goes on and other machines report.
 */
export async function lockReporter(
  tx: Tx,
  { cluster_id, node, tokenHash }: Presented,
  now: Date,
): Promise<{ readonly boot: NodeBoot; readonly job: ProvisioningJob; readonly sealed: SealedJoinTokens } | null> {
  const token = await tx
    .selectFrom("node_tokens")
    .innerJoin("clusters", "clusters.id", "node_tokens.cluster_id")
    .select(["node_tokens.job_id", "clusters.id", "clusters.sealed_join_token", "clusters.sealed_agent_token"])
    .where("token_hash", "=", tokenHash)
    .where("purpose", "=", "report")
    .where("cluster_id", "=", cluster_id)
    .where("node", "=", node)
    .where("expires_at", ">", now)
    .where("clusters.deletion_requested_at", "is", null)
    .executeTakeFirst();
  const job = token?.job_id && (await lockJob(tx, token.job_id));
  if (!job) return null;
  const boot = await tx
    .selectFrom("node_boots")
    .selectAll()
    .where("cluster_id", "=", cluster_id)
    .where("node", "=", node)
    .forUpdate()
    .executeTakeFirst();
  return boot ? { boot, job, sealed: token } : null;
}

/** The hashes of all tokens of a cluster, by which its tokens are found in the logs of its machines. */
export async function tokenHashes(db: Queries, clusterId: string): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom("node_tokens").select("token_hash").where("cluster_id", "=", clusterId).execute();
  return new Set(rows.map(({ token_hash }) => token_hash));
}

/** Stores what a machine has reported. Lines of a job that has ended are dropped: its log is closed. */
export async function saveReport(
  tx: Tx,
  boot: NodeBoot,
  job: ProvisioningJob,
  report: Report,
  now: Date,
): Promise<number> {
  const { fields, stored } = afterReport(boot, report, now);
  const { cluster_id, node } = boot;
  await tx
    .updateTable("node_boots")
    .set(fields)
    .where("cluster_id", "=", cluster_id)
    .where("node", "=", node)
    .execute();
  if (!hasEnded(job.status)) await appendLines(tx, job.id, stored, now);
  // The machine has its secrets, so nobody may ask for them again.
  if (report.stage !== "secrets") {
    const used = tx.deleteFrom("node_tokens").where("cluster_id", "=", cluster_id).where("node", "=", node);
    await used.where("purpose", "=", "bootstrap").where("used_at", "is not", null).execute();
  }
  return fields.lines;
}
