import { sql } from "kysely";
import { appendAudit } from "../audit/audit.store.ts";
import { type AuditRow, auditRow } from "../audit/audit.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { listActiveProjects, markContentsDeleting } from "../projects/project.store.ts";
import { CLUSTER_ABANDONED, type Project } from "../projects/project.ts";

/** Locks what is on a cluster before the cluster itself is locked: projects before their contents, as everywhere. */
export async function lockContents(tx: Tx, clusterId: string): Promise<void> {
  for (const table of ["projects", "apps", "addon_instances"] as const) {
    await tx.selectFrom(table).select("id").where("cluster_id", "=", clusterId).orderBy("id").forUpdate().execute();
  }
}

/**
 * Marks a cluster and what is on it as given up. Requires the cluster to be locked, so that nothing is added meanwhile.
 * Returns all of its projects, and what its operator is to remove and was not told to remove before.
 */
export async function markAbandoned(tx: Tx, clusterId: string, now: Date) {
  await tx
    .updateTable("clusters")
    .set({ abandoned_at: now, updated_at: now })
    .where("id", "=", clusterId)
    .where("abandoned_at", "is", null)
    .execute();
  const active = await listActiveProjects(tx, clusterId);
  const projects: Project[] = await tx
    .updateTable("projects")
    .set({ ...CLUSTER_ABANDONED, updated_at: now })
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "<>", "cleanup_degraded")
    .returningAll()
    .execute();
  return { active, projects, ...(await markContentsDeleting(tx, "cluster_id", clusterId, now)) };
}

export interface CountedContents {
  readonly namespaces: readonly string[];
  readonly apps: number;
  readonly addon_instances: number;
}

export async function countContents(tx: Tx, clusterId: string): Promise<CountedContents> {
  const { rows } = await sql<CountedContents>`
    select array(select namespace from projects where cluster_id = ${clusterId} order by namespace) as namespaces,
      (select count(*) from apps where cluster_id = ${clusterId}) as apps,
      (select count(*) from addon_instances where cluster_id = ${clusterId}) as addon_instances
  `.execute(tx);
  return rows[0] ?? { namespaces: [], apps: 0, addon_instances: 0 };
}

/** Deletes the projects of an abandoned cluster with their contents, before the cluster itself. Others prevent its deletion. */
export function deleteAbandonedProjects(tx: Tx, clusterId: string): Promise<Project[]> {
  return tx
    .deleteFrom("projects")
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "=", "cleanup_degraded")
    .returningAll()
    .execute();
}

/** Small enough that the locks are held for milliseconds only. */
const BATCH_ROWS = 100;

export interface EndedCluster {
  readonly id: string;
  readonly token_version: number;
  readonly audit: AuditRow;
}

/**
 * Ends the records of abandoned clusters whose operator has come back and has removed everything. One that was made by
 * Binnacle stays until its infrastructure is destroyed.
 */
export function endCleanedUp(db: Queries, now: Date): Promise<EndedCluster[]> {
  return inTransaction(db, async (tx) => {
    const found = await tx
      .selectFrom("clusters")
      .select(["id", "org_id", "name", "token_version"])
      .where("abandoned_at", "is not", null)
      .where("credential_id", "is", null)
      .whereRef("last_heartbeat", ">", "abandoned_at")
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("projects").select("projects.id").whereRef("projects.cluster_id", "=", "clusters.id"))),
      )
      .limit(BATCH_ROWS)
      .forUpdate()
      .skipLocked()
      .execute();
    const ended = found.map(({ id, org_id, name, token_version }) => {
      const resource = { type: "cluster", id, name };
      const record = { action: "cluster.delete", resource, orgId: org_id, changes: { confirmed_by_cluster: true } };
      const system = { actor: { id: null, email: null, via: "system" as const }, sourceAddress: null, requestId: null };
      return { id, token_version, audit: auditRow(record, system, newId(), now) };
    });
    if (ended.length === 0) return [];
    await appendAudit(
      tx,
      ended.map(({ audit }) => audit),
    );
    await tx
      .deleteFrom("clusters")
      .where(
        "id",
        "in",
        ended.map(({ id }) => id),
      )
      .execute();
    return ended;
  });
}
