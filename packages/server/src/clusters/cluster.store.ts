import { type Insertable, sql } from "kysely";
import {
  clusterSuspensionOf,
  DECISIVE_JOB,
  journalOf,
  operatorUpgradeOf,
  SHORT_CLUSTER_COLUMNS,
} from "../database/columns.ts";
import type { ClusterTable } from "../database/fleet-tables.ts";
import { isForeignKeyViolation, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { type Cluster, clusterNameTaken } from "./cluster.ts";
import { type Settings, type SettingsRow, settingsOf } from "./cluster-settings.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Selects clusters with the facts that decide their status; `newest` is their latest provisioning job. */
function clusters(db: Queries) {
  return db
    .selectFrom("clusters")
    .leftJoin("cluster_sessions", "cluster_sessions.cluster_id", "clusters.id")
    .leftJoinLateral(
      (select) =>
        select
          .selectFrom("provisioning_jobs")
          .select(["action", "status", "phase", "error_message"])
          .whereRef("provisioning_jobs.cluster_id", "=", "clusters.id")
          .where(sql.raw<boolean>(DECISIVE_JOB))
          .orderBy("provisioning_jobs.id", "desc")
          .limit(1)
          .as("newest"),
      (join) => join.onTrue(),
    )
    .select(SHORT_CLUSTER_COLUMNS.map((column) => `clusters.${column}` as const))
    .select([
      "clusters.egress",
      sql.raw<Cluster["install_journal"]>(journalOf("clusters")).as("install_journal"),
      sql.raw<Cluster["operator_upgrade"]>(operatorUpgradeOf("clusters")).as("operator_upgrade"),
      sql.raw<Cluster["suspension_reported"]>(clusterSuspensionOf("clusters")).as("suspension_reported"),
      "cluster_sessions.lease_until as session_lease_until",
      "newest.action as job_action",
      "newest.status as job_status",
      "newest.phase as job_phase",
      "newest.error_message as job_error_message",
    ]);
}

export function listClusterRows(db: Queries, orgId: string, page: Window): Promise<Cluster[]> {
  return clusters(db)
    .where("clusters.org_id", "=", orgId)
    .orderBy("clusters.id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

export function clustersById(db: Queries, ids: readonly string[]): Promise<Cluster[]> {
  return clusters(db).where("clusters.id", "=", sql<string>`any (${ids}::uuid[])`).execute();
}

export async function knownCluster(db: Queries, id: string): Promise<Cluster> {
  const cluster = await clusters(db).where("clusters.id", "=", id).executeTakeFirst();
  if (!cluster) throw notFound("Cluster");
  return cluster;
}

/**
 * Locks the cluster, so that decisions about it still hold at the write. Its facts are read after the lock is acquired.
 */
export async function lockCluster(tx: Tx, id: string): Promise<Cluster> {
  await tx.selectFrom("clusters").select("id").where("id", "=", id).forUpdate().execute();
  return knownCluster(tx, id);
}

type NewCluster = Omit<Insertable<ClusterTable>, "egress"> & Pick<Cluster, "egress">;

export async function insertCluster(tx: Tx, { egress, ...cluster }: NewCluster): Promise<void> {
  const row = { ...cluster, egress: egress && JSON.stringify(egress) };
  await tx.insertInto("clusters").values(row).execute().catch(rethrowRefused);
}

export async function describeCluster(
  tx: Tx,
  id: string,
  fields: { readonly name: string; readonly description: string | null; readonly updated_at: Date },
): Promise<void> {
  await tx.updateTable("clusters").set(fields).where("id", "=", id).execute().catch(rethrowRefused);
}

function rethrowRefused(error: unknown): never {
  if (isUniqueViolation(error, "clusters_name_taken")) throw clusterNameTaken();
  // The row was deleted after the guard had found it.
  if (isForeignKeyViolation(error, "clusters_org")) throw notFound("Organization");
  if (isForeignKeyViolation(error, "clusters_credential")) throw notFound("Credential");
  throw error;
}

export async function deleteClusterRow(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("clusters").where("id", "=", id).execute();
}

export async function markForDeletion(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable("clusters").set({ deletion_requested_at: now, updated_at: now }).where("id", "=", id).execute();
}

/** The projects that prevent the deletion of a cluster. Those of an abandoned one do not: they end with it. */
export async function blockingProjects(tx: Tx, clusterId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("projects")
    .select("name")
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "<>", "cleanup_degraded")
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}

/** Returns the version of the next token, which is unique. */
export function nextTokenVersion(tx: Tx, id: string, now: Date): Promise<number> {
  return raiseVersion(tx, id, { updated_at: now });
}

/** Returns the next version, which becomes the floor: every earlier token is refused after the commit. */
export function nextTokenFloor(tx: Tx, id: string, now: Date): Promise<number> {
  return raiseVersion(tx, id, { token_floor: sql<number>`token_version + 1`, updated_at: now });
}

async function raiseVersion(tx: Tx, id: string, also: object): Promise<number> {
  const row = await tx
    .updateTable("clusters")
    .set({ token_version: sql<number>`token_version + 1`, ...also })
    .where("id", "=", id)
    .returning("token_version")
    .executeTakeFirst();
  if (!row) throw notFound("Cluster");
  return row.token_version;
}

const COLUMNS = [
  "pod_security",
  "ingress_namespaces",
  "cluster_wide_charts",
  "exec_enabled",
] as const satisfies (keyof SettingsRow)[];

export async function readSettings(db: Queries, clusterId: string): Promise<Settings> {
  const row = await db
    .selectFrom("cluster_settings")
    .select(COLUMNS)
    .where("cluster_id", "=", clusterId)
    .executeTakeFirst();
  return settingsOf(row ?? null);
}

/** Fields that are not given stay null and follow the default. */
export async function saveSettings(tx: Tx, clusterId: string, given: Partial<Settings>, now: Date): Promise<void> {
  const { cluster_wide_charts: charts, ...plain } = given;
  const fields = { ...plain, ...(charts ? { cluster_wide_charts: JSON.stringify(charts) } : {}), updated_at: now };
  await tx
    .insertInto("cluster_settings")
    .values({ cluster_id: clusterId, ...fields })
    .onConflict((conflict) => conflict.column("cluster_id").doUpdateSet(fields))
    .execute();
}
