import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { Project } from "./project.ts";

/** Those of the ids that are projects of the cluster, locked. */
export async function lockReportedProjects(tx: Tx, clusterId: string, ids: readonly string[]): Promise<Project[]> {
  if (ids.length === 0) return [];
  return tx
    .selectFrom("projects")
    .selectAll()
    .where("id", "in", ids)
    .where("cluster_id", "=", clusterId)
    .orderBy("id")
    .forUpdate()
    .execute();
}

export async function saveReportedProjects(tx: Tx, projects: readonly Project[], now: Date): Promise<void> {
  if (projects.length === 0) return;
  await sql`
    update projects set lifecycle = seen.lifecycle, lifecycle_reason = seen.lifecycle_reason,
      lifecycle_message = seen.lifecycle_message, updated_at = ${now}
    from jsonb_to_recordset(${JSON.stringify(projects)}::jsonb)
      as seen (id uuid, lifecycle text, lifecycle_reason text, lifecycle_message text)
    where projects.id = seen.id
  `.execute(tx);
}

/**
 * Deletes those that were to go and of which nothing is left: the cluster holds no namespace any more, which shows in
 * that it is not to be told of one, and the last of what was in them is gone.
 */
export async function deleteEmptyProjects(tx: Tx, clusterId: string, ids: readonly string[]): Promise<Project[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Project>`
    delete from projects p where p.id = any(${ids}::uuid[]) and p.cluster_id = ${clusterId} and p.lifecycle = 'cleanup_pending'
      and not exists (select 1 from desired_resources d
        where d.cluster_id = p.cluster_id and d.kind = 'project' and d.resource_id = p.id)
      and not exists (select 1 from apps a where a.project_id = p.id)
      and not exists (select 1 from addon_instances i where i.project_id = p.id)
    returning p.*
  `.execute(tx);
  return rows;
}
