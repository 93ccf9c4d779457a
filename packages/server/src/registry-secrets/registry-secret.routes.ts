import {
  attachClusterRegistrySecret,
  attachProjectRegistrySecret,
  detachClusterRegistrySecret,
  detachProjectRegistrySecret,
  listClusterRegistrySecrets,
  listEffectiveRegistrySecrets,
  listProjectRegistrySecrets,
} from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { type Input, inProject, onCluster } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { listActiveProjects, lockActiveProject } from "../projects/project.store.ts";
import type { Vault } from "../vault/vault.ts";
import { deleteSecret, insertSecret, listSecrets, type Owner } from "./registry-secret.store.ts";
import {
  dispatchedRegistrySecrets,
  effectiveSecrets,
  type RegistrySecret,
  wireRegistrySecret,
} from "./registry-secret.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
  readonly vault: Vault;
}

const placeId = ({ params }: Input<{ id: string }>) => params.id;

/** The audit entry does not contain the password. */
const entryOf = (action: string, orgId: string, { id, name, server_url, username, ...owner }: RegistrySecret) => ({
  action,
  resource: { type: "registry_secret", id, name },
  orgId,
  changes: { server_url, username, cluster_id: owner.cluster_id, project_id: owner.project_id },
});

export function registrySecretRoutes(ports: Ports): Route[] {
  async function list(owner: Owner) {
    const secrets = await listSecrets(ports.db, owner);
    return { data: secrets.map(wireRegistrySecret), total_count: secrets.length };
  }

  return [
    route(listClusterRegistrySecrets, onCluster("member", placeId), async ({ cluster }) =>
      list({ cluster_id: cluster.id }),
    ),

    route(attachClusterRegistrySecret, onCluster("editor", placeId), async ({ cluster, body, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        const secret = await insertSecret(tx, ports.vault, { cluster_id: cluster.id }, body, ports.clock());
        record(entryOf("registry_secret.attach", cluster.org_id, secret));
        await dispatch(cluster.id, async () =>
          (await listActiveProjects(tx, cluster.id)).map(dispatchedRegistrySecrets),
        );
        return wireRegistrySecret(secret);
      }),
    ),

    route(detachClusterRegistrySecret, onCluster("editor", placeId), async ({ cluster, params, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        const secret = await deleteSecret(tx, { cluster_id: cluster.id }, params.secret_id);
        record(entryOf("registry_secret.detach", cluster.org_id, secret));
        await dispatch(cluster.id, async () =>
          (await listActiveProjects(tx, cluster.id)).map(dispatchedRegistrySecrets),
        );
        return null;
      }),
    ),

    route(listProjectRegistrySecrets, inProject("viewer", placeId), async ({ project }) =>
      list({ project_id: project.id }),
    ),

    route(attachProjectRegistrySecret, inProject("editor", placeId), async ({ project, body, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        await lockActiveProject(tx, project.id);
        const secret = await insertSecret(tx, ports.vault, { project_id: project.id }, body, ports.clock());
        record(entryOf("registry_secret.attach", project.org_id, secret));
        await dispatch(project.cluster_id, [dispatchedRegistrySecrets(project)]);
        return wireRegistrySecret(secret);
      }),
    ),

    route(detachProjectRegistrySecret, inProject("editor", placeId), async ({ project, params, change }) =>
      change(async ({ db: tx, record, dispatch }) => {
        await lockActiveProject(tx, project.id);
        const secret = await deleteSecret(tx, { project_id: project.id }, params.secret_id);
        record(entryOf("registry_secret.detach", project.org_id, secret));
        await dispatch(project.cluster_id, [dispatchedRegistrySecrets(project)]);
        return null;
      }),
    ),

    route(listEffectiveRegistrySecrets, inProject("viewer", placeId), async ({ project }) => {
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
