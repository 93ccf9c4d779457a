import type { Instance } from "../addons/addon.ts";
import type { App } from "../apps/app.ts";
import type { Tx } from "../database/transaction.ts";
import type { Project } from "../projects/project.ts";

export interface ClusterContents {
  readonly projects: readonly Project[];
  readonly apps: readonly App[];
  readonly instances: readonly Instance[];
}

/** Locks what is on a cluster before the cluster itself is locked: projects before their contents, as everywhere. */
export async function lockContents(tx: Tx, clusterId: string): Promise<void> {
  for (const table of ["projects", "apps", "addon_instances"] as const) {
    await tx.selectFrom(table).select("id").where("cluster_id", "=", clusterId).orderBy("id").forUpdate().execute();
  }
}

/**
 * Deletes what is on a cluster, also what is being deleted already and waits for a confirmation. Requires the cluster to
 * be locked, so that nothing is added meanwhile.
 */
export async function deleteContents(tx: Tx, clusterId: string): Promise<ClusterContents> {
  const apps: App[] = await tx.deleteFrom("apps").where("cluster_id", "=", clusterId).returningAll().execute();
  const instances: Instance[] = await tx
    .deleteFrom("addon_instances")
    .where("cluster_id", "=", clusterId)
    .returningAll()
    .execute();
  const projects: Project[] = await tx
    .deleteFrom("projects")
    .where("cluster_id", "=", clusterId)
    .returningAll()
    .execute();
  await tx.deleteFrom("desired_resources").where("cluster_id", "=", clusterId).execute();
  return { projects, apps, instances };
}
