import type { DispatchedKind } from "../dispatch/kind.ts";
import type { Vault } from "../vault/vault.ts";
import { registrySecretsBody } from "./desired-registry-secrets.ts";

/** The pull secrets of a namespace as they are dispatched. They have no status of their own, so reports change nothing. */
export const registrySecretsKind = (vault: Vault): DispatchedKind<"registry_secrets", null> => ({
  kind: "registry_secrets",

  async loadBodies(db, rows) {
    const ids = rows.map(({ resource_id }) => resource_id);
    const clusterIds = [...new Set(rows.map(({ cluster_id }) => cluster_id))];
    const found = await db.selectFrom("projects").selectAll().where("id", "in", ids).execute();
    const projects = new Map(found.map((project) => [project.id, project]));
    const secrets = await db
      .selectFrom("registry_secrets")
      .selectAll()
      .where(({ or, eb }) => or([eb("project_id", "in", ids), eb("cluster_id", "in", clusterIds)]))
      .orderBy("id", "desc")
      .execute();
    const byOwner = Map.groupBy(secrets, ({ project_id, cluster_id }) => project_id ?? cluster_id ?? "");
    const opened = (owner: string) =>
      (byOwner.get(owner) ?? []).map(({ sealed_password, ...secret }) => ({
        ...secret,
        password: vault.open(sealed_password, { table: "registry_secrets", row: secret.id, column: "sealed_password" }),
      }));
    return ({ resource_id }) => {
      const project = projects.get(resource_id);
      return project ? registrySecretsBody(project, opened(project.id), opened(project.cluster_id)) : null;
    };
  },

  rejected: (message) => ({ state: "apply_failed", message }),
  lock: async (_tx, _clusterId, ids) => new Map(ids.map((id) => [id, null])),
  afterReport: () => null,
  afterLoss: () => null,
  isDeleting: () => true,
  store: async () => [],
});
