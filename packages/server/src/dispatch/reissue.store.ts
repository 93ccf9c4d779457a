import type { DesiredKind } from "@binnacle/contract";
import { sql } from "kysely";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import type { DispatchedKind, RaisedRow } from "./kind.ts";

export interface Reissue {
  readonly kind: DesiredKind;
  readonly resourceId: string;
  /** The cluster holds this generation already, or may. */
  readonly above: number;
}

/**
 * Raises generations above those that a cluster holds, when the database was restored from a backup and is behind it:
 * what is on record now is sent again, as the newest. Records that count their generation follow. They are locked before
 * the row of the cluster, as everywhere.
 */
export async function reissueResources(
  db: Queries,
  kinds: readonly DispatchedKind[],
  clusterId: string,
  reissues: readonly Reissue[],
  now: Date,
): Promise<void> {
  if (reissues.length === 0) return;
  const counting = kinds.filter(({ followGeneration }) => followGeneration !== undefined);
  await inTransaction(db, async (tx) => {
    for (const kind of counting) {
      const ids = reissues.filter((reissue) => reissue.kind === kind.kind).map(({ resourceId }) => resourceId);
      if (ids.length > 0) await kind.lock(tx, clusterId, ids);
    }
    await sql`update clusters set revision = revision + 1 where id = ${clusterId}`.execute(tx);
    const raised = await raiseAbove(tx, clusterId, reissues, now);
    for (const kind of counting) {
      const ofKind = raised.filter((row) => row.kind === kind.kind);
      if (ofKind.length > 0) await kind.followGeneration?.(tx, ofKind);
    }
  });
}

async function raiseAbove(
  tx: Tx,
  clusterId: string,
  reissues: readonly Reissue[],
  now: Date,
): Promise<(RaisedRow & { readonly kind: DesiredKind })[]> {
  const { rows } = await sql<RaisedRow & { readonly kind: DesiredKind }>`
    update desired_resources desired set generation = greatest(generation, given.above) + 1,
      revision = clusters.revision, acked_generation = null, acked_hash = null, updated_at = ${now}
    from unnest(${reissues.map(({ kind }) => kind)}::text[], ${reissues.map(({ resourceId }) => resourceId)}::uuid[],
      ${reissues.map(({ above }) => above)}::bigint[]) as given (kind, resource_id, above), clusters
    where clusters.id = ${clusterId} and desired.cluster_id = clusters.id and desired.kind = given.kind
      and desired.resource_id = given.resource_id
    returning desired.kind, desired.resource_id, generation
  `.execute(tx);
  return rows;
}
