import { sql } from "kysely";
import type { Queries, Tx } from "../database/transaction.ts";
import type { PendingRow, ReportedRow, StatusFrame } from "../dispatch/kind.ts";
import { kindOfKey } from "./frame-reader.ts";
import type { ExpectedRow } from "./inventory-diff.ts";
import type { Fence } from "./ports.ts";

export interface PendingQuery {
  readonly clusterId: string;
  readonly limit: number;
}

/** The rows that a cluster has not confirmed, oldest first. They are complete where they are fewer than the limit. */
export interface PendingRows {
  /** The revision of the cluster, read in the same snapshot. */
  readonly revision: number;
  readonly rows: readonly PendingRow[];
}

type Row = PendingRow & { readonly cluster_revision: number };

/** Reads all clusters at once. Confirmed removals are not among the rows: they are sent once, when a session begins. */
export async function findPending(
  db: Queries,
  queries: readonly PendingQuery[],
): Promise<ReadonlyMap<string, PendingRows>> {
  const { rows } = await sql<Row>`
    select query.cluster_id, clusters.revision as cluster_revision, pending.*
    from unnest(${queries.map(({ clusterId }) => clusterId)}::uuid[], ${queries.map(({ limit }) => limit)}::integer[])
      as query (cluster_id, max_rows)
    join clusters on clusters.id = query.cluster_id
    left join lateral (
      select kind, resource_id, key, generation, revision, removed_at, updated_at, traceparent
      from desired_resources desired
      where desired.cluster_id = query.cluster_id and acked_generation is distinct from generation
      order by revision limit query.max_rows
    ) pending on true
  `.execute(db);
  const found = new Map<string, { revision: number; rows: PendingRow[] }>();
  for (const { cluster_revision, ...row } of rows) {
    const pending = found.get(row.cluster_id) ?? { revision: cluster_revision, rows: [] };
    found.set(row.cluster_id, pending);
    // A cluster without pending rows is one row of nulls.
    if (row.kind !== null) pending.rows.push(row);
  }
  return found;
}

/** PostgreSQL expects nearly all rows to be pending. By the order of the partial index it reads none that is not. */
export async function clustersWithPending(db: Queries, clusterIds: readonly string[]): Promise<string[]> {
  if (clusterIds.length === 0) return [];
  const { rows } = await sql<{ cluster_id: string }>`
    select given.id as cluster_id from unnest(${clusterIds}::uuid[]) as given (id) cross join lateral (
      select from desired_resources desired
      where desired.cluster_id = given.id and acked_generation is distinct from generation
      order by revision limit 1
    ) pending
  `.execute(db);
  return rows.map(({ cluster_id }) => cluster_id);
}

export interface Confirmation {
  readonly fence: Fence;
  readonly row: PendingRow;
  /** Null for a confirmed removal. */
  readonly hash: string | null;
}

/** Stores what clusters have confirmed, in one statement. A session that is not the registered one any more is ignored. */
export async function storeConfirmations(db: Queries, given: readonly Confirmation[]): Promise<void> {
  await sql`
    update desired_resources desired set acked_generation = given.generation, acked_hash = given.hash,
      traceparent = case when desired.generation > given.generation then traceparent end
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

/** All rows of clusters, with what each is expected to hold. A cluster without rows is missing. */
export async function findExpected(
  db: Queries,
  clusterIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ExpectedRow[]>> {
  const { rows } = await sql<ExpectedRow>`
    select cluster_id, kind, resource_id, key, generation, revision, removed_at, acked_generation, acked_hash
    from desired_resources where cluster_id = any (${clusterIds}::uuid[]) order by revision
  `.execute(db);
  return Map.groupBy(rows, ({ cluster_id }) => cluster_id);
}

/** Makes rows pending again, unless another generation has been confirmed since they were read. */
export async function clearConfirmations(db: Queries, clusterId: string, rows: readonly ExpectedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update desired_resources desired set acked_generation = null, acked_hash = null
    from unnest(${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ resource_id }) => resource_id)}::uuid[],
      ${rows.map(({ acked_generation }) => acked_generation)}::bigint[]) as given (kind, resource_id, acked_generation)
    where desired.cluster_id = ${clusterId} and desired.kind = given.kind and desired.resource_id = given.resource_id
      and desired.acked_generation is not distinct from given.acked_generation
  `.execute(db);
}

/**
 * The rows that reports are about, and none where the session is not the registered one any more. A session that takes
 * over waits until the end of the transaction. Lock the resources before: whoever changes them holds them too, and may
 * wait for the cluster that an arriving session holds.
 */
export async function findReported(tx: Tx, fence: Fence, frames: readonly StatusFrame[]): Promise<ReportedRow[]> {
  const { rows } = await sql<ReportedRow>`
    select d.kind, d.resource_id, d.key, d.generation, d.removed_at, d.acked_generation
    from desired_resources d join cluster_sessions s on s.cluster_id = d.cluster_id
    where d.cluster_id = ${fence.clusterId} and s.hub_id = ${fence.hubId} and s.epoch = ${fence.epoch}
      and (d.kind, d.resource_id) in (
        select * from unnest(${frames.map(({ key }) => kindOfKey(key))}::text[],
          ${frames.map(({ resource_id }) => resource_id)}::uuid[])
      )
    for share of s
  `.execute(tx);
  return rows;
}

/** Deletes tombstones whose removal is complete. */
export async function deleteTombstones(tx: Tx, clusterId: string, rows: readonly ReportedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    delete from desired_resources d using unnest(${rows.map(({ kind }) => kind)}::text[],
      ${rows.map(({ resource_id }) => resource_id)}::uuid[], ${rows.map(({ generation }) => generation)}::bigint[])
      as gone (kind, resource_id, generation)
    where d.cluster_id = ${clusterId} and d.kind = gone.kind and d.resource_id = gone.resource_id
      and d.removed_at is not null and d.generation = gone.generation
  `.execute(tx);
}

export interface LostResource {
  readonly kind: ReportedRow["kind"];
  readonly resource_id: string;
  readonly generation: number;
}

/** Makes rows pending again that the cluster has lost, up to these generations. */
export async function setPending(tx: Tx, clusterId: string, lost: readonly LostResource[]): Promise<void> {
  if (lost.length === 0) return;
  await sql`
    update desired_resources d set acked_generation = null, acked_hash = null
    from unnest(${lost.map(({ kind }) => kind)}::text[], ${lost.map(({ resource_id }) => resource_id)}::uuid[],
      ${lost.map(({ generation }) => generation)}::bigint[]) as lost (kind, resource_id, generation)
    where d.cluster_id = ${clusterId} and d.kind = lost.kind and d.resource_id = lost.resource_id
      and d.removed_at is null and d.acked_generation <= lost.generation
  `.execute(tx);
}
