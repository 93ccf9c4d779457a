import {
  attachClusterRegistrySecret,
  attachProjectRegistrySecret,
  detachClusterRegistrySecret,
  detachProjectRegistrySecret,
  listClusterRegistrySecrets,
  listEffectiveRegistrySecrets,
  listProjectRegistrySecrets,
} from "@binnacle/contract";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { listActiveProjects, lockActiveProject } from "../projects/project.store.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import { deleteSecret, insertSecret, listSecrets, type Owner } from "./registry-secret.store.ts";
import {
  dispatchedRegistrySecrets,
  effectiveSecrets,
  type RegistrySecret,
  wireRegistrySecret,
} from "./registry-secret.ts";

/** The audit entry does not contain the password. */
const entryOf = (action: string, orgId: string, { id, name, server_url, username, ...owner }: RegistrySecret) => ({
  action,
  resource: { type: "registry_secret", id, name },
  orgId,
  changes: { server_url, username, cluster_id: owner.cluster_id, project_id: owner.project_id },
});

export function registrySecretRoutes(ports: Ports<"db" | "clock" | "vault">): Route[] {
  async function list(owner: Owner) {
    const secrets = await listSecrets(ports.db, owner);
    return { data: secrets.map(wireRegistrySecret), total_count: secrets.length };
  }

  return [
    route(listClusterRegistrySecrets, at(clusterPlace, "member"), async ({ cluster }) =>
      list({ cluster_id: cluster.id }),
    ),

    route(attachClusterRegistrySecret, at(clusterPlace, "editor"), async ({ cluster, body, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        const secret = await insertSecret(tx, ports.vault, { cluster_id: cluster.id }, body, ports.clock());
        record(entryOf("registry_secret.attach", cluster.org_id, secret));
        dispatch(cluster.id, async () => (await listActiveProjects(tx, cluster.id)).map(dispatchedRegistrySecrets));
        return wireRegistrySecret(secret);
      }),
    ),

    route(detachClusterRegistrySecret, at(clusterPlace, "editor"), async ({ cluster, params, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        const secret = await deleteSecret(tx, { cluster_id: cluster.id }, params.secret_id);
        record(entryOf("registry_secret.detach", cluster.org_id, secret));
        dispatch(cluster.id, async () => (await listActiveProjects(tx, cluster.id)).map(dispatchedRegistrySecrets));
        return null;
      }),
    ),

    route(listProjectRegistrySecrets, at(projectPlace, "viewer"), async ({ project }) =>
      list({ project_id: project.id }),
    ),

    route(attachProjectRegistrySecret, at(projectPlace, "editor"), async ({ project, body, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        await lockActiveProject(tx, project.id);
        const secret = await insertSecret(tx, ports.vault, { project_id: project.id }, body, ports.clock());
        record(entryOf("registry_secret.attach", project.org_id, secret));
        dispatch(project.cluster_id, [dispatchedRegistrySecrets(project)]);
        return wireRegistrySecret(secret);
      }),
    ),

    route(detachProjectRegistrySecret, at(projectPlace, "editor"), async ({ project, params, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        await lockActiveProject(tx, project.id);
        const secret = await deleteSecret(tx, { project_id: project.id }, params.secret_id);
        record(entryOf("registry_secret.detach", project.org_id, secret));
        dispatch(project.cluster_id, [dispatchedRegistrySecrets(project)]);
        return null;
      }),
    ),

    route(listEffectiveRegistrySecrets, at(projectPlace, "viewer"), async ({ project }) => {
      const [ofProject, ofCluster] = await Promise.all([
        listSecrets(ports.db, { project_id: project.id }),
        listSecrets(ports.db, { cluster_id: project.cluster_id }),
      ]);
      const data = effectiveSecrets(ofProject, ofCluster).map(({ secret, inherited_from }) => ({
        ...wireRegistrySecret(secret),
        inherited_from,
      }));
      return { data, total_count: data.length };
    }),
  ];
}
