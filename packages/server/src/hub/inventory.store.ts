import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { BelievedRow } from "./inventory-diff.ts";

/** All rows of a cluster. */
export function believedRows(db: Queries, clusterId: string): Promise<BelievedRow[]> {
  return db
    .selectFrom("desired_resources")
    .select(["cluster_id", "kind", "resource_id", "key", "generation", "revision", "removed_at"])
    .select(["acked_generation", "acked_hash"])
    .where("cluster_id", "=", clusterId)
    .orderBy("revision")
    .execute();
}

/** Takes back what is believed of these, unless something else has been confirmed of them since they were read. */
export async function takeBack(db: Queries, clusterId: string, rows: readonly BelievedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update desired_resources desired set acked_generation = null, acked_hash = null
    from unnest(${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ resource_id }) => resource_id)}::uuid[],
      ${rows.map(({ acked_generation }) => acked_generation)}::bigint[]) as given (kind, resource_id, believed)
    where desired.cluster_id = ${clusterId} and desired.kind = given.kind
      and desired.resource_id = given.resource_id and desired.acked_generation is not distinct from given.believed
  `.execute(db);
}
