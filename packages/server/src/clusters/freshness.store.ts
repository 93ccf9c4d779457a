import { sql } from "kysely";
import { connectionOf, surroundingsOf } from "../database/columns.ts";
import type { Queries } from "../database/transaction.ts";
import type { ClusterConnection, Surroundings } from "./freshness.ts";

export async function readSurroundings(
  db: Queries,
  page: { readonly cluster_id: string; readonly project_id: string },
): Promise<Surroundings> {
  const { rows } = await sql<Surroundings>`
    select ${sql.raw(surroundingsOf("page"))} from (select ${page.cluster_id}::uuid as cluster_id, ${page.project_id}::uuid as project_id) page
  `.execute(db);
  return rows[0] ?? { last_heartbeat: null, session_lease_until: null, project_reason: null, project_message: null };
}

export async function readConnections(
  db: Queries,
  clusterIds: readonly string[],
): Promise<ReadonlyMap<string, ClusterConnection>> {
  const { rows } = await sql<ClusterConnection & { cluster_id: string }>`
    select page.cluster_id, ${sql.raw(connectionOf("page"))} from unnest(${[...new Set(clusterIds)]}::uuid[]) as page (cluster_id)
  `.execute(db);
  return new Map(rows.map(({ cluster_id, ...connection }) => [cluster_id, connection]));
}
