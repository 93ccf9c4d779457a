import { sql } from "kysely";
import { connectionOf, holdingOf } from "../database/columns.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import type { ProjectSurroundings } from "../projects/project.ts";
import { type Holding, NOT_SUSPENDED, type SuspensionColumns } from "./suspension.ts";

/** What holds a project, with the connection of its cluster. */
export async function readProjectSurroundings(
  db: Queries,
  { id, cluster_id }: { readonly id: string; readonly cluster_id: string },
): Promise<ProjectSurroundings> {
  const { rows } = await sql<ProjectSurroundings>`
    select ${sql.raw(connectionOf("page"))}, ${sql.raw(holdingOf("page.id", "page.cluster_id"))}
    from (select ${id}::uuid as id, ${cluster_id}::uuid as cluster_id) page
  `.execute(db);
  return rows[0] ?? { last_heartbeat: null, session_lease_until: null };
}

export const readHolding = (
  db: Queries,
  place: { readonly project_id: string; readonly cluster_id: string },
): Promise<Holding> => readProjectSurroundings(db, { id: place.project_id, cluster_id: place.cluster_id });

const endedAt = ({ suspended_at }: SuspensionColumns, now: Date) =>
  suspended_at === null ? { suspension_ended_at: now } : {};

export async function saveProjectSuspension(tx: Tx, id: string, columns: SuspensionColumns, now: Date): Promise<void> {
  const { suspension_reported } = NOT_SUSPENDED;
  await tx
    .updateTable("projects")
    .set({ ...columns, ...endedAt(columns, now), suspension_reported, updated_at: now })
    .where("id", "=", id)
    .execute();
}

/** Locks the projects of a cluster before the cluster itself is locked, as everywhere. */
export async function lockProjects(tx: Tx, clusterId: string): Promise<void> {
  await tx
    .selectFrom("projects")
    .select("id")
    .where("cluster_id", "=", clusterId)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
}

/** Requires the projects to be locked: what they have reported is about the state before. */
export async function saveClusterSuspension(tx: Tx, id: string, columns: SuspensionColumns, now: Date): Promise<void> {
  await tx
    .updateTable("clusters")
    .set({ ...columns, ...endedAt(columns, now), updated_at: now })
    .where("id", "=", id)
    .execute();
  await tx
    .updateTable("projects")
    .set({ suspension_reported: null })
    .where("cluster_id", "=", id)
    .where("suspension_reported", "is not", null)
    .execute();
}
