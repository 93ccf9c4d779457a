import { sql } from "kysely";
import type { Instance } from "../addons/addon.ts";
import type { App } from "../apps/app.ts";
import { clusterIsAbandoned } from "../clusters/abandonment.ts";
import { isForeignKeyViolation, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { clusterIsDeleting, type Lifecycle, type Project, projectNameTaken, refuseDeleting } from "./project.ts";

export async function insertProject(tx: Tx, project: Project): Promise<void> {
  await tx
    .insertInto("projects")
    .values(project)
    .execute()
    .catch((error: unknown) => {
      if (isUniqueViolation(error, "projects_namespace_taken")) throw projectNameTaken();
      if (isForeignKeyViolation(error, "projects_cluster")) throw notFound("Cluster");
      throw error;
    });
}

/** Locks the cluster, so that no project is created while it is being deleted. */
export async function lockActiveCluster(tx: Tx, id: string): Promise<void> {
  const cluster = await tx
    .selectFrom("clusters")
    .select(["deletion_requested_at", "abandoned_at"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!cluster) throw notFound("Cluster");
  if (cluster.deletion_requested_at !== null) throw clusterIsDeleting();
  if (cluster.abandoned_at !== null) throw clusterIsAbandoned();
}

export async function lockProject(tx: Tx, id: string): Promise<Project> {
  const project = await tx.selectFrom("projects").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!project) throw notFound("Project");
  return project;
}

/**
 * Call this before creating something in a project: a concurrent deletion of the project would miss it. The lock is
 * shared.
 */
export async function lockActiveProject(tx: Tx, id: string): Promise<void> {
  const project = await tx
    .selectFrom("projects")
    .select("lifecycle")
    .where("id", "=", id)
    .forShare()
    .executeTakeFirst();
  requireActive(project);
}

/** Throws where the project is gone or being deleted. */
export function requireActive(project: Pick<Project, "lifecycle"> | undefined): void {
  if (!project) throw notFound("Project");
  refuseDeleting(project);
}

/** Locks the names of a project until the commit, so that a free name stays free. */
export async function lockNames(tx: Tx, id: string): Promise<void> {
  await tx.selectFrom("projects").select("id").where("id", "=", id).forNoKeyUpdate().execute();
}

export async function saveLifecycle(tx: Tx, id: string, lifecycle: Lifecycle, now: Date): Promise<void> {
  await tx
    .updateTable("projects")
    .set({ ...lifecycle, updated_at: now })
    .where("id", "=", id)
    .execute();
}

export async function savePolicy(
  tx: Tx,
  id: string,
  policy: Pick<Project, "pod_security" | "weaker_pod_security_allowed" | "isolation">,
  now: Date,
): Promise<void> {
  await tx
    .updateTable("projects")
    .set({ ...policy, updated_at: now })
    .where("id", "=", id)
    .execute();
}

/** Marks the contents of a project or of a whole cluster as deleting. Returns those that were not marked before. */
export async function markContentsDeleting(tx: Tx, place: "project_id" | "cluster_id", id: string, now: Date) {
  const deleting = {
    phase: "deleting" as const,
    phase_since: now,
    phase_reason: null,
    phase_message: null,
    generation: sql<number>`generation + 1`,
    updated_at: now,
  };
  const apps: App[] = await tx
    .updateTable("apps")
    .set(deleting)
    .where(place, "=", id)
    .where("phase", "<>", "deleting")
    .returningAll()
    .execute();
  await tx
    .updateTable("app_deployments")
    .set({ status: "superseded", finished_at: now, updated_at: now })
    .where("app_id", "in", tx.selectFrom("apps").select("id").where(place, "=", id))
    .where("status", "=", "pending")
    .execute();
  const instances: Instance[] = await tx
    .updateTable("addon_instances")
    .set(deleting)
    .where(place, "=", id)
    .where("phase", "<>", "deleting")
    .returningAll()
    .execute();
  return { apps, instances };
}

/** Lists the projects of a cluster except those being deleted, for which nothing is dispatched any more. */
export function listActiveProjects(db: Queries, clusterId: string): Promise<Pick<Project, "id" | "namespace">[]> {
  return db
    .selectFrom("projects")
    .select(["id", "namespace"])
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "not in", ["cleanup_pending", "cleanup_degraded"])
    .execute();
}

export async function clusterNameOf(db: Queries, id: string): Promise<string> {
  const { name } = await db.selectFrom("clusters").select("name").where("id", "=", id).executeTakeFirstOrThrow();
  return name;
}
