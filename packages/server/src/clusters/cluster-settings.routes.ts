import { getClusterSettings, updateClusterSettings } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { onCluster, wellFormed } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { listActiveProjects } from "../projects/project.store.ts";
import { dispatchedProject } from "../projects/project.ts";
import { lockCluster, readSettings, saveSettings } from "./cluster.store.ts";
import { changedFields, chartListProblems, concernsProjects } from "./cluster-settings.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
}

export function clusterSettingsRoutes({ db, clock }: Ports): Route[] {
  return [
    route(
      getClusterSettings,
      onCluster("member", ({ params }) => params.id),
      async ({ cluster }) => ({
        cluster_id: cluster.id,
        ...(await readSettings(db, cluster.id)),
      }),
    ),

    route(
      updateClusterSettings,
      wellFormed(
        ({ body }) => chartListProblems(body.cluster_wide_charts),
        onCluster("org_admin", ({ params }) => params.id),
      ),
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
            await dispatch(id, async () => (await listActiveProjects(tx, id)).map(dispatchedProject));
          }
          return { cluster_id: id, ...settings };
        }),
    ),
  ];
}
