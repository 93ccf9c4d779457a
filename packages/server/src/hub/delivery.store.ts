import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { PendingRow } from "../dispatch/kind.ts";
import type { Fence } from "./ports.ts";

export interface Asked {
  readonly clusterId: string;
  readonly most: number;
}

/** What a cluster has not confirmed, oldest first; complete where it is shorter than what was asked for. */
export interface PendingRows {
  /** The cluster's, in the same snapshot. */
  readonly revision: number;
  readonly rows: readonly PendingRow[];
}

type Row = PendingRow & { readonly cluster_revision: number };

/** Of all clusters at once. Removals that were confirmed are told once a session, when it begins, and are not among them. */
export async function findPending(db: Queries, asked: readonly Asked[]): Promise<ReadonlyMap<string, PendingRows>> {
  const { rows } = await sql<Row>`
    select asked.cluster_id, clusters.revision as cluster_revision, untold.*
    from unnest(${asked.map(({ clusterId }) => clusterId)}::uuid[], ${asked.map(({ most }) => most)}::integer[])
      as asked (cluster_id, most)
    join clusters on clusters.id = asked.cluster_id
    left join lateral (
      select kind, resource_id, key, generation, revision, removed_at
      from desired_resources desired
      where desired.cluster_id = asked.cluster_id and acked_generation is distinct from generation
      order by revision limit asked.most
    ) untold on true
  `.execute(db);
  const found = new Map<string, { revision: number; rows: PendingRow[] }>();
  for (const { cluster_revision, ...row } of rows) {
    const pending = found.get(row.cluster_id) ?? { revision: cluster_revision, rows: [] };
    found.set(row.cluster_id, pending);
    // Without any there is one row of nulls.
    if (row.kind !== null) pending.rows.push(row);
  }
  return found;
}

export interface Confirmation {
  readonly fence: Fence;
  readonly row: PendingRow;
  /** Null where the removal was confirmed. */
  readonly hash: string | null;
}

/** Writes what clusters have confirmed, for as long as the session that says so is the registered one. One statement. */
export async function recordConfirmations(db: Queries, given: readonly Confirmation[]): Promise<void> {
  await sql`
    update desired_resources desired set acked_generation = given.generation, acked_hash = given.hash
    from unnest(${given.map(({ fence }) => fence.clusterId)}::uuid[], ${given.map(({ fence }) => fence.hubId)}::text[],
      ${given.map(({ fence }) => fence.epoch)}::bigint[], ${given.map(({ row }) => row.kind)}::text[],
      ${given.map(({ row }) => row.resource_id)}::uuid[], ${given.map(({ row }) => row.generation)}::bigint[],
      ${given.map(({ hash }) => hash)}::text[]) as given (cluster_id, hub_id, epoch, kind, resource_id, generation, hash)
    join cluster_sessions session on session.cluster_id = given.cluster_id and session.hub_id = given.hub_id
      and session.epoch = given.epoch
    where desired.cluster_id = given.cluster_id and desired.kind = given.kind
      and desired.resource_id = given.resource_id and desired.generation >= given.generation
      and coalesce(desired.acked_generation, 0) <= given.generation
  `.execute(db);
}

/** Which of the clusters have something to be told. */
export async function clustersWithPending(db: Queries, clusterIds: readonly string[]): Promise<string[]> {
  if (clusterIds.length === 0) return [];
  const { rows } = await sql<{ cluster_id: string }>`
    select distinct cluster_id from desired_resources
    where acked_generation is distinct from generation and cluster_id = any (${clusterIds}::uuid[])
  `.execute(db);
  return rows.map(({ cluster_id }) => cluster_id);
}
