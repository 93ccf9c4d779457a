import { abandonCluster } from "@binnacle/contract";
import { announcementOf } from "../addons/addon.ts";
import { appEvent } from "../apps/app.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { deletionOf } from "../dispatch/kind.ts";
import { onCluster } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { projectAnnouncement } from "../projects/project.ts";
import { deleteContents, lockContents } from "./abandonment.store.ts";
import { abandonmentProblem, leftBehind } from "./abandonment.ts";
import { lockCluster, nextTokenFloor } from "./cluster.store.ts";

interface Ports {
  readonly bus: Bus;
  readonly clock: Clock;
}

export const abandonmentRoutes = ({ bus, clock }: Ports): Route[] => [
  route(
    abandonCluster,
    onCluster("org_admin", ({ params }) => params.id),
    async ({ cluster: { id }, body, change }) =>
      change(async ({ db: tx, record, announce, afterCommit }) => {
        await lockContents(tx, id);
        const cluster = await lockCluster(tx, id);
        const now = clock();
        const problem = abandonmentProblem(cluster, body.name, now);
        if (problem) throw problem;
        const { projects, apps, instances } = await deleteContents(tx, id);
        const floor = await nextTokenFloor(tx, id, now);
        const namespaces = projects.map(({ namespace }) => namespace).sort();
        const left_behind = leftBehind(cluster, namespaces);
        const released = { namespaces, apps: apps.length, addon_instances: instances.length, left_behind };
        record({
          action: "cluster.abandon",
          resource: { type: "cluster", id, name: cluster.name },
          orgId: cluster.org_id,
          changes: { ...released, confirmed_by_cluster: false },
        });
        for (const event of [
          ...apps.map((app) => appEvent(app, cluster, now)),
          ...instances.map((instance) => announcementOf(instance, cluster, now)),
          ...projects.map((project) => projectAnnouncement(project, cluster, now)),
        ]) {
          announce(deletionOf(event));
        }
        afterCommit(() => bus.publish(FLOOR_RAISED_TOPIC, { ask: newId(), cluster_id: id, floor }));
        return { cluster_id: id, name: cluster.name, ...released };
      }),
  ),
];
