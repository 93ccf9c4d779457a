import {
  createProject,
  deleteProject,
  getProject,
  getSecretsOverview,
  listAvailableExports,
  listProjectApps,
  listProjects,
} from "@binnacle/contract";
import { announcementOf, dispatchedAddon } from "../addons/addon.ts";
import { availableExports } from "../addons/exports.ts";
import { appEvent, dispatchedApp, listedApp } from "../apps/app.ts";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import type { Clock } from "../clock.ts";
import { readSettings } from "../clusters/cluster.store.ts";
import type { Queries } from "../database/transaction.ts";
import { volumesBefore } from "../deletions/deletion-outlook.runner.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { appsOfProject, type Input, inProject, onCluster, projectList } from "../http/guard.ts";
import { envelope } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { newId } from "../id.adapter.ts";
import { listSecrets } from "../registry-secrets/registry-secret.store.ts";
import { dispatchedRegistrySecrets, effectiveSecrets } from "../registry-secrets/registry-secret.ts";
import {
  addonKeys,
  clusterNameOf,
  componentKeys,
  insertProject,
  listActiveInstances,
  lockActiveCluster,
  lockProject,
  markContentsDeleting,
  saveLifecycle,
} from "./project.store.ts";
import {
  CREATED,
  dispatchedProject,
  type Project,
  projectAnnouncement,
  requestDeletion,
  wireProject,
} from "./project.ts";
import { changePolicy, FIRST_POLICY, refuseIngressNamespace } from "./project-policy.ts";
import { addonSecretsSeen, componentSecretsSeen, registrySecretsSeen } from "./secrets-overview.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
  readonly operators: Pick<OperatorRequests, "observe">;
}

const projectId = ({ params }: Input<{ id: string }>) => params.id;
const resourceOf = ({ id, name }: Project) => ({ type: "project", id, name });

export function projectRoutes({ db, clock, operators }: Ports, definitions: readonly AddonDefinition[]): Route[] {
  return [
    route(
      createProject,
      onCluster("editor", ({ body }) => body.cluster_id),
      async ({ cluster, body, standing, change }) =>
        change(async ({ db: tx, record, announce, dispatch }) => {
          const { name, cluster_id: _, ...asked } = body;
          const now = clock();
          await lockActiveCluster(tx, cluster.id);
          const settings = await readSettings(tx, cluster.id);
          refuseIngressNamespace(name, settings, standing);
          const policy = changePolicy(FIRST_POLICY, asked, settings.pod_security, standing);
          const project: Project = {
            id: newId(),
            org_id: cluster.org_id,
            cluster_id: cluster.id,
            name,
            namespace: name,
            ...CREATED,
            ...policy,
            reported_at: null,
            created_at: now,
            updated_at: now,
          };
          await insertProject(tx, project);
          record({
            action: "project.create",
            resource: resourceOf(project),
            orgId: project.org_id,
            changes: { name, cluster_id: cluster.id, ...asked },
          });
          announce(projectAnnouncement(project, cluster, now));
          // The pull secrets are dispatched too, even if there are none, because those of the cluster may be changing.
          await dispatch(cluster.id, [dispatchedProject(project), dispatchedRegistrySecrets(project)]);
          return wireProject(project, cluster, now);
        }),
    ),

    route(listProjects, projectList, async ({ rows, total, query }) => {
      const now = clock();
      return envelope(
        rows.map((project) => wireProject(project, project, now)),
        total,
        query,
      );
    }),

    route(getProject, inProject("viewer", projectId), async ({ project }) => wireProject(project, project, clock())),

    route(deleteProject, inProject("org_admin", projectId), async ({ project: connection, params, change }) => {
      const { cluster_id: clusterId, namespace } = connection;
      const isFirst = requestDeletion(connection) !== null;
      const changes = isFirst ? await volumesBefore(operators, { clusterId, namespace }) : {};
      return change(async ({ db: tx, record, unchanged, announce, dispatch }) => {
        const current = await lockProject(tx, params.id);
        const next = requestDeletion(current);
        const now = clock();
        if (!next) {
          unchanged();
          return wireProject(current, connection, now);
        }
        record({ action: "project.delete", resource: resourceOf(current), orgId: current.org_id, changes });
        const project: Project = { ...current, ...next, updated_at: now };
        await saveLifecycle(tx, project.id, next, now);
        const { apps, instances } = await markContentsDeleting(tx, "project_id", project.id, now);
        for (const app of apps) announce(appEvent(app, connection, now));
        for (const instance of instances) announce(announcementOf(instance, connection, now));
        announce(projectAnnouncement(project, connection, now));
        const unwanted = [
          dispatchedProject(project),
          dispatchedRegistrySecrets(project),
          ...apps.map(dispatchedApp),
          ...instances.map(dispatchedAddon),
        ];
        await dispatch(project.cluster_id, unwanted.map(removalOf));
        return wireProject(project, connection, now);
      });
    }),

    route(listProjectApps, appsOfProject(), async ({ rows, total, query }) => {
      const now = clock();
      return envelope(
        rows.map((app) => listedApp(app, now)),
        total,
        query,
      );
    }),

    route(listAvailableExports, inProject("viewer", projectId), async ({ project }) => {
      const instances = await listActiveInstances(db, project.id);
      const data = instances.flatMap((instance) =>
        availableExports(
          instance,
          definitions.find(({ id }) => id === instance.definition_id),
        ),
      );
      return { data, total_count: data.length };
    }),

    route(getSecretsOverview, inProject("viewer", projectId), async ({ project }) => {
      const [clusterName, ofProject, ofCluster, inApps, inAddons] = await Promise.all([
        clusterNameOf(db, project.cluster_id),
        listSecrets(db, { project_id: project.id }),
        listSecrets(db, { cluster_id: project.cluster_id }),
        componentKeys(db, project.id),
        addonKeys(db, project.id),
      ]);
      const cluster = { id: project.cluster_id, name: clusterName };
      const data = [
        ...registrySecretsSeen(effectiveSecrets(ofProject, ofCluster), { cluster, project }),
        ...componentSecretsSeen(inApps),
        ...addonSecretsSeen(inAddons),
      ];
      return { data, total_count: data.length };
    }),
  ];
}
