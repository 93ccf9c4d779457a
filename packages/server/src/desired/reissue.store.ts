import type { DesiredKind } from "@binnacle/contract";
import { sql } from "kysely";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";

export interface Reissue {
  readonly kind: DesiredKind;
  readonly resourceId: string;
  /** The cluster holds this generation already, or may. */
  readonly above: number;
}

/**
 * Raises generations above those that a cluster holds, when the database was restored from a backup and is behind it:
 * what is on record now is told again, as the newest. Apps and addon instances go in step. Their rows are locked before
 * the cluster's, as everywhere.
 */
export async function reissueDesired(
  db: Queries,
  clusterId: string,
  reissues: readonly Reissue[],
  now: Date,
): Promise<void> {
  if (reissues.length === 0) return;
  const ids = reissues.map(({ resourceId }) => resourceId);
  await inTransaction(db, async (tx) => {
    await sql`select id from apps where id = any (${ids}::uuid[]) order by id for no key update`.execute(tx);
    await sql`select id from addon_instances where id = any (${ids}::uuid[]) order by id for no key update`.execute(tx);
    await sql`update clusters set revision = revision + 1 where id = ${clusterId}`.execute(tx);
    const raised = await raiseAbove(tx, clusterId, reissues, now);
    await follow(tx, raised);
  });
}

interface Raised {
  readonly resource_id: string;
  readonly generation: number;
}

async function raiseAbove(tx: Tx, clusterId: string, reissues: readonly Reissue[], now: Date): Promise<Raised[]> {
  const { rows } = await sql<Raised>`
    update desired_resources desired set generation = greatest(generation, given.above) + 1,
      revision = clusters.revision, acked_generation = null, acked_hash = null, updated_at = ${now}
    from unnest(${reissues.map(({ kind }) => kind)}::text[], ${reissues.map(({ resourceId }) => resourceId)}::uuid[],
      ${reissues.map(({ above }) => above)}::bigint[]) as given (kind, resource_id, above), clusters
    where clusters.id = ${clusterId} and desired.cluster_id = clusters.id and desired.kind = given.kind
      and desired.resource_id = given.resource_id
    returning desired.resource_id, generation
  `.execute(tx);
  return rows;
}

/** A deployment is known by its generation, and so is a forced one. */
async function follow(tx: Tx, raised: readonly Raised[]): Promise<void> {
  const ids = raised.map(({ resource_id }) => resource_id);
  const generations = raised.map(({ generation }) => generation);
  const given = sql`unnest(${ids}::uuid[], ${generations}::bigint[]) as given (id, generation)`;
  await sql`
    update app_deployments set generation = given.generation from ${given}, apps
    where apps.id = given.id and app_deployments.app_id = apps.id and app_deployments.revision = apps.revision
  `.execute(tx);
  await sql`
    update apps set generation = given.generation,
      forced_generation = case when forced_generation = apps.generation then given.generation else forced_generation end
    from ${given} where apps.id = given.id
  `.execute(tx);
  await sql`
    update addon_instances set generation = given.generation from ${given} where addon_instances.id = given.id
  `.execute(tx);
}
