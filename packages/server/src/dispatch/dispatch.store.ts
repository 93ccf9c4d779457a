import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { DispatchedResource } from "./dispatch.ts";

export type FindResources = () => Promise<readonly DispatchedResource[]>;

/**
 * Writes, in the transaction that changes the resources, that their cluster has to be sent them: the generation of each
 * and the revision of the cluster go up together. The row of the cluster is locked from here to the commit, so this is
 * the last write of a change: everything that is locked before it is locked in one order. Resources that are found by a
 * query are found under that lock: a transaction that is adding one meanwhile waits for it and dispatches its own.
 */
export async function dispatchResources(
  tx: Tx,
  clusterId: string,
  resources: readonly DispatchedResource[] | FindResources,
  now: Date,
): Promise<void> {
  const revision = await nextRevision(tx, clusterId);
  const given = typeof resources === "function" ? await resources() : resources;
  await sql`
    insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, removed_at, updated_at)
    select ${clusterId}::uuid, kind, resource_id, key, coalesce(generation, 1), ${revision}::bigint,
      case when is_removed then ${now}::timestamptz end, ${now}::timestamptz
    from unnest(${given.map(({ kind }) => kind)}::text[], ${given.map(({ resourceId }) => resourceId)}::uuid[],
      ${given.map(({ key }) => key)}::text[], ${given.map(({ generation }) => generation ?? null)}::bigint[],
      ${given.map(({ isRemoved = false }) => isRemoved)}::boolean[])
      as given (kind, resource_id, key, generation, is_removed)
    on conflict (cluster_id, kind, resource_id) do update
      set generation = greatest(excluded.generation, desired_resources.generation + 1), revision = excluded.revision,
        removed_at = excluded.removed_at, updated_at = excluded.updated_at
  `.execute(tx);
}

async function nextRevision(tx: Tx, clusterId: string): Promise<number> {
  const { revision } = await tx
    .updateTable("clusters")
    .set({ revision: sql`revision + 1` })
    .where("id", "=", clusterId)
    .returning("revision")
    .executeTakeFirstOrThrow();
  return revision;
}
