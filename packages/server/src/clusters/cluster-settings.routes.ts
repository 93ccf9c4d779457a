import { getClusterSettings, updateClusterSettings } from "@binnacle/contract";
import { at, wellFormed } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { listActiveProjects } from "../projects/project.store.ts";
import { dispatchedProject } from "../projects/project.ts";
import { lockCluster, readSettings, saveSettings } from "./cluster.store.ts";
import { clusterPlace } from "./cluster-place.store.ts";
import { changedFields, chartListProblems, concernsProjects } from "./cluster-settings.ts";

export function clusterSettingsRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(getClusterSettings, at(clusterPlace, "member"), async ({ cluster }) => ({
      cluster_id: cluster.id,
      ...(await readSettings(db, cluster.id)),
    })),

    route(
      updateClusterSettings,
      wellFormed(({ body }) => chartListProblems(body.cluster_wide_charts), at(clusterPlace, "org_admin")),
      async ({ cluster: { id }, body, change }) =>
        change(async ({ db: tx, record, dispatch }) => {
          // The cluster is locked first, so that concurrent changes and new projects wait.
          const { name, org_id } = await lockCluster(tx, id);
          const current = await readSettings(tx, id);
          const settings = { ...current, ...body };
          const changes = changedFields(current, settings);
          record({
            action: "cluster.update_settings",
            resource: { type: "cluster", id, name },
            orgId: org_id,
            changes: changes.after,
            before: changes.before,
          });
          if (Object.keys(changes.after).length > 0) {
            await saveSettings(tx, id, changes.after, clock());
          }
          if (concernsProjects(changes.after)) {
            dispatch(id, async () => (await listActiveProjects(tx, id)).map(dispatchedProject));
          }
          return { cluster_id: id, ...settings };
        }),
    ),
  ];
}
