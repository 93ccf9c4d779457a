import { abandonCluster, detachCluster } from "@binnacle/contract";
import { announcementOf, dispatchedAddon } from "../addons/addon.ts";
import { appEvent, dispatchedApp } from "../apps/app.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import type { Unit } from "../http/change.runner.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { dispatchedProject, projectAnnouncement } from "../projects/project.ts";
import { dispatchedRegistrySecrets } from "../registry-secrets/registry-secret.ts";
import { countContents, lockContents, markAbandoned } from "./abandonment.store.ts";
import { abandonmentProblem, detachmentProblem, leftBehind } from "./abandonment.ts";
import { knownCluster, lockCluster } from "./cluster.store.ts";
import type { Cluster } from "./cluster.ts";
import { clusterPlace } from "./cluster-place.store.ts";
import { statusAnnouncement } from "./status.ts";

/** Marks the cluster and everything on it, and announces that. The operator is not told anything here. */
async function giveUp(
  { db: tx, announce }: Pick<Unit, "db" | "announce">,
  before: Cluster,
  now: Date,
  isDetached: boolean,
) {
  const { id } = before;
  const { active, projects, apps, instances } = await markAbandoned(tx, id, now, { isDetached });
  const cluster = await knownCluster(tx, id);
  const counted = await countContents(tx, id);
  for (const app of apps) announce(appEvent(app, cluster, now));
  for (const instance of instances) announce(announcementOf(instance, cluster, now));
  for (const project of projects) announce(projectAnnouncement(project, cluster, now));
  const announcement = statusAnnouncement(before, cluster, now);
  if (announcement) announce(announcement);
  const unwanted = [
    ...active.map(dispatchedProject),
    ...active.map(dispatchedRegistrySecrets),
    ...apps.map(dispatchedApp),
    ...instances.map(dispatchedAddon),
  ];
  return { cluster, counted: { ...counted, namespaces: [...counted.namespaces] }, unwanted };
}

const auditedCluster = ({ id, name, org_id: orgId }: Cluster) => ({ resource: { type: "cluster", id, name }, orgId });

export const abandonmentRoutes = ({ clock }: Ports<"clock">): Route[] => [
  route(abandonCluster, at(clusterPlace, "org_admin"), async ({ cluster: { id }, body, change }) =>
    change(async (unit) => {
      await lockContents(unit.db, id);
      const before = await lockCluster(unit.db, id);
      const now = clock();
      const problem = abandonmentProblem(before, body.name, now);
      if (problem) throw problem;
      const { cluster, counted, unwanted } = await giveUp(unit, before, now, false);
      const given = { ...counted, left_behind: leftBehind(cluster, counted.namespaces) };
      const about = { ...auditedCluster(cluster), changes: { ...given, confirmed_by_cluster: false } };
      if (before.abandoned_at !== null) unit.unchanged();
      else unit.record({ action: "cluster.abandon", ...about });
      if (unwanted.length > 0) unit.dispatch(id, unwanted.map(removalOf));
      return { cluster_id: id, name: cluster.name, ...given };
    }),
  ),

  // Nothing is dispatched: what is on record as wanted stays so until the operator has let go of it and the record ends.
  route(detachCluster, at(clusterPlace, "org_admin"), async ({ cluster: { id }, body, change }) =>
    change(async (unit) => {
      await lockContents(unit.db, id);
      const before = await lockCluster(unit.db, id);
      const now = clock();
      const problem = detachmentProblem(before, body.name, now);
      if (problem) throw problem;
      if (before.detach_requested_at !== null) {
        unit.unchanged();
        const { namespaces, ...counts } = await countContents(unit.db, id);
        return { cluster_id: id, name: before.name, namespaces: [...namespaces], ...counts };
      }
      const { cluster, counted } = await giveUp(unit, before, now, true);
      unit.record({ action: "cluster.detach", ...auditedCluster(cluster), changes: counted });
      return { cluster_id: id, name: cluster.name, ...counted };
    }),
  ),
];
