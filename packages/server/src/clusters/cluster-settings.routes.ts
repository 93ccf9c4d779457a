import { getClusterSettings, updateClusterSettings } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { DESIRED_TOPIC } from "../desired/desired.ts";
import { onCluster } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { wellFormed } from "../http/well-formed.ts";
import { lockCluster } from "./cluster.store.ts";
import { raiseProjectsOfCluster, readSettings, saveSettings } from "./cluster-settings.store.ts";
import { changedFields, chartListProblems } from "./cluster-settings.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

export function clusterSettingsRoutes({ db, bus, clock }: Ports): Route[] {
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
        change(async ({ db: tx, record, afterCommit }) => {
          // Locked first: the next change sees this one, and a project that is being made waits for it.
          const { name, org_id } = await lockCluster(tx, id);
          const current = await readSettings(tx, id);
          const settings = { ...current, ...body };
          const changes = changedFields(current, settings);
          record({
            action: "cluster.update_settings",
            resource: { type: "cluster", id, name },
            orgId: org_id,
            changes,
          });
          if (Object.keys(changes.after).length > 0) {
            const now = clock();
            await saveSettings(tx, id, changes.after, now);
            await raiseProjectsOfCluster(tx, id, now);
            afterCommit(() => bus.publish(DESIRED_TOPIC, { cluster_id: id }));
          }
          return { cluster_id: id, ...settings };
        }),
    ),
  ];
}
