import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { ReportedRow, StatusFrame } from "../dispatch/kind.ts";
import { kindOfKey } from "./frame-reader.ts";
import type { Fence } from "./ports.ts";

/**
 * What the cluster is to hold of what was reported on, and nothing where the session is not the registered one any more.
 * The session stays so to the end of the transaction: whoever takes it over waits. Call it once the resources are
 * locked: whoever changes them holds them too, and may wait for the cluster that an arriving session holds.
 */
export async function fencedRows(tx: Tx, fence: Fence, frames: readonly StatusFrame[]): Promise<ReportedRow[]> {
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

/** There is nothing more to tell about them. */
export async function forgetRemoved(tx: Tx, clusterId: string, rows: readonly ReportedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    delete from desired_resources d using unnest(${rows.map(({ kind }) => kind)}::text[],
      ${rows.map(({ resource_id }) => resource_id)}::uuid[], ${rows.map(({ generation }) => generation)}::bigint[])
      as gone (kind, resource_id, generation)
    where d.cluster_id = ${clusterId} and d.kind = gone.kind and d.resource_id = gone.resource_id
      and d.removed_at is not null and d.generation = gone.generation
  `.execute(tx);
}

export interface Lost {
  readonly kind: ReportedRow["kind"];
  readonly resource_id: string;
  readonly generation: number;
}

/** The cluster does not hold what it had confirmed, up to these generations. */
export async function setPending(tx: Tx, clusterId: string, lost: readonly Lost[]): Promise<void> {
  if (lost.length === 0) return;
  await sql`
    update desired_resources d set acked_generation = null, acked_hash = null
    from unnest(${lost.map(({ kind }) => kind)}::text[], ${lost.map(({ resource_id }) => resource_id)}::uuid[],
      ${lost.map(({ generation }) => generation)}::bigint[]) as lost (kind, resource_id, generation)
    where d.cluster_id = ${clusterId} and d.kind = lost.kind and d.resource_id = lost.resource_id
      and d.removed_at is null and d.acked_generation <= lost.generation
  `.execute(tx);
}
