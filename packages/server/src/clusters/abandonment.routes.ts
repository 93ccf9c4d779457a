import { abandonCluster } from "@binnacle/contract";
import { announcementOf, dispatchedAddon } from "../addons/addon.ts";
import { appEvent, dispatchedApp } from "../apps/app.ts";
import type { Clock } from "../clock.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { onCluster } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { dispatchedProject, projectAnnouncement } from "../projects/project.ts";
import { dispatchedRegistrySecrets } from "../registry-secrets/registry-secret.ts";
import { countContents, lockContents, markAbandoned } from "./abandonment.store.ts";
import { abandonmentProblem, leftBehind } from "./abandonment.ts";
import { knownCluster, lockCluster } from "./cluster.store.ts";
import { statusAnnouncement } from "./status.ts";

interface Ports {
  readonly clock: Clock;
}

export const abandonmentRoutes = ({ clock }: Ports): Route[] => [
  route(
    abandonCluster,
    onCluster("org_admin", ({ params }) => params.id),
    async ({ cluster: { id }, body, change }) =>
      change(async ({ db: tx, record, announce, dispatch }) => {
        await lockContents(tx, id);
        const before = await lockCluster(tx, id);
        const now = clock();
        const problem = abandonmentProblem(before, body.name, now);
        if (problem) throw problem;
        const { active, projects, apps, instances } = await markAbandoned(tx, id, now);
        const cluster = await knownCluster(tx, id);
        const counted = await countContents(tx, id);
        const given = {
          ...counted,
          namespaces: [...counted.namespaces],
          left_behind: leftBehind(cluster, counted.namespaces),
        };
        record({
          action: "cluster.abandon",
          resource: { type: "cluster", id, name: cluster.name },
          orgId: cluster.org_id,
          changes: { ...given, confirmed_by_cluster: false },
        });
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
        if (unwanted.length > 0) await dispatch(id, unwanted.map(removalOf));
        return { cluster_id: id, name: cluster.name, ...given };
      }),
  ),
];
