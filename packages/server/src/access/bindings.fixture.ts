import type { BindingRole } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";

const times = () => ({ created_at: new Date(), updated_at: new Date() });

/** A cluster of the organization, as a row. */
export async function insertCluster(db: Queries, orgId: string): Promise<string> {
  const id = newId();
  await db
    .insertInto("clusters")
    .values({ id, org_id: orgId, name: `cluster ${id}`, ...times() })
    .execute();
  return id;
}

/** A project on the cluster, as a row. */
export async function insertProject(db: Queries, orgId: string, clusterId: string): Promise<string> {
  const id = newId();
  const name = `project-${id}`;
  await db
    .insertInto("projects")
    .values({ id, org_id: orgId, cluster_id: clusterId, name, namespace: name, ...times() })
    .execute();
  return id;
}

/** Binds the user to a role on one cluster or one project. */
export async function bindRole(
  db: Queries,
  userId: string,
  role: BindingRole,
  place: { readonly cluster: string } | { readonly project: string },
): Promise<string> {
  const id = newId();
  const cluster_id = "cluster" in place ? place.cluster : null;
  const project_id = "project" in place ? place.project : null;
  await db
    .insertInto("role_bindings")
    .values({ id, user_id: userId, role, cluster_id, project_id, ...times() })
    .execute();
  return id;
}
