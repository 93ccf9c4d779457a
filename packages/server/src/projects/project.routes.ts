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
import { countExports, listExports } from "../addons/exports.store.ts";
import { availableExport, exportsOfCatalog } from "../addons/exports.ts";
import { appEvent, dispatchedApp, listedApp } from "../apps/app.ts";
import { appList } from "../apps/app-place.store.ts";
import { refuseSuspendedApps } from "../apps/suspension.store.ts";
import { readSettings } from "../clusters/cluster.store.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { volumesBefore } from "../deletions/deletion-outlook.runner.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { at, listBelow, listOf } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import { listSecrets } from "../registry-secrets/registry-secret.store.ts";
import { dispatchedRegistrySecrets, effectiveSecrets } from "../registry-secrets/registry-secret.ts";
import { readProjectSurroundings } from "../suspensions/suspension.store.ts";
import { NEVER_SUSPENDED, refuseSuspended } from "../suspensions/suspension.ts";
import {
  clusterNameOf,
  insertProject,
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
import { projectList, projectPlace } from "./project-place.store.ts";
import { changePolicy, FIRST_POLICY, refuseIngressNamespace } from "./project-policy.ts";
import { listHolders } from "./secrets-overview.store.ts";
import { heldSecretsSeen, registrySecretsSeen } from "./secrets-overview.ts";

const appsBelow = listBelow(at(projectPlace, "viewer"), appList, ({ project }) => ({ project_id: project.id }));
const resourceOf = ({ id, name }: Project) => ({ type: "project", id, name });

export function projectRoutes({ clock, operators }: Ports<"clock" | "operators">): Route[] {
  return [
    route(
      createProject,
      at(clusterPlace, "editor", ({ body }) => body.cluster_id),
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
            ...NEVER_SUSPENDED,
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
          dispatch(cluster.id, [dispatchedProject(project), dispatchedRegistrySecrets(project)]);
          return wireProject(project, await readProjectSurroundings(tx, project), now);
        }),
    ),

    route(listProjects, listOf(projectList), async ({ rows, total, query }) => {
      const now = clock();
      return envelope(
        rows.map((project) => wireProject(project, project, now)),
        total,
        query,
      );
    }),

    route(getProject, at(projectPlace, "viewer"), async ({ project }) => wireProject(project, project, clock())),

    route(deleteProject, at(projectPlace, "org_admin"), async ({ project: connection, params, change }) => {
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
        refuseSuspended(current, await readProjectSurroundings(tx, current), "project");
        await refuseSuspendedApps(tx, current.id);
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
        dispatch(project.cluster_id, unwanted.map(removalOf));
        return wireProject(project, connection, now);
      });
    }),
  ];
}

export function projectContentsRoutes({ db, clock, catalog }: Ports<"db" | "clock" | "catalog">): Route[] {
  const exported = exportsOfCatalog(catalog.addons);
  return [
    route(listProjectApps, appsBelow, async ({ rows, total, query }) => {
      const now = clock();
      return envelope(
        rows.map((app) => listedApp(app, now)),
        total,
        query,
      );
    }),

    route(listAvailableExports, at(projectPlace, "viewer"), async ({ project, query }) => {
      const [exports, total] = await Promise.all([
        listExports(db, project.id, exported, pageOf(query)),
        countExports(db, project.id, exported),
      ]);
      return envelope(exports.map(availableExport), total, query);
    }),

    route(getSecretsOverview, at(projectPlace, "viewer"), async ({ project, query }) => {
      const [clusterName, ofProject, ofCluster] = await Promise.all([
        clusterNameOf(db, project.cluster_id),
        listSecrets(db, { project_id: project.id }),
        listSecrets(db, { cluster_id: project.cluster_id }),
      ]);
      const cluster = { id: project.cluster_id, name: clusterName };
      const registries = registrySecretsSeen(effectiveSecrets(ofProject, ofCluster), { cluster, project });
      const { limit, offset } = pageOf(query);
      const window = { limit, offset: Math.max(0, offset - registries.length) };
      const { held, total } = await listHolders(db, project.id, window);
      const data = [...registries.slice(offset), ...held.map(heldSecretsSeen)];
      return envelope(data, registries.length + total, query);
    }),
  ];
}
