import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { ClusterConnection, Surroundings } from "./freshness.ts";

/** The text of the columns of `ClusterConnection` for rows `page`. Each is found by a primary key. */
export const CONNECTION = `
  (select last_heartbeat from clusters where id = page.cluster_id) as last_heartbeat,
  (select lease_until from cluster_sessions where cluster_id = page.cluster_id) as session_lease_until`;

/** The same of `Surroundings`, for rows of apps and addon instances. */
export const SURROUNDINGS = `${CONNECTION},
  (select lifecycle_reason from projects where id = page.project_id) as project_reason,
  (select lifecycle_message from projects where id = page.project_id) as project_message`;

export async function surroundingsOf(
  db: Queries,
  page: { readonly cluster_id: string; readonly project_id: string },
): Promise<Surroundings> {
  const { rows } = await sql<Surroundings>`
    select ${sql.raw(SURROUNDINGS)} from (select ${page.cluster_id}::uuid as cluster_id, ${page.project_id}::uuid as project_id) page
  `.execute(db);
  return rows[0] ?? { last_heartbeat: null, session_lease_until: null, project_reason: null, project_message: null };
}

export async function connectionsOf(
  db: Queries,
  clusterIds: readonly string[],
): Promise<ReadonlyMap<string, ClusterConnection>> {
  const { rows } = await sql<ClusterConnection & { cluster_id: string }>`
    select page.cluster_id, ${sql.raw(CONNECTION)} from unnest(${[...new Set(clusterIds)]}::uuid[]) as page (cluster_id)
  `.execute(db);
  return new Map(rows.map(({ cluster_id, ...connection }) => [cluster_id, connection]));
}
