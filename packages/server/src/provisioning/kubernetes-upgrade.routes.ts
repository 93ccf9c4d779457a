import { upgradeKubernetes } from "@binnacle/contract";
import { lockCluster } from "../clusters/cluster.store.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { Fault } from "../fault.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { Ports } from "../ports.ts";
import { upgradeStart } from "./kubernetes-upgrade.ts";
import { newestUpgrade, startProvisioning } from "./provisioning.store.ts";
import { wireJob } from "./provisioning.ts";

export function kubernetesUpgradeRoutes({ bus, clock }: Ports<"bus" | "clock">): Route[] {
  return [
    route(upgradeKubernetes, at(clusterPlace, "org_admin"), async ({ cluster: { id }, caller, body, change }) =>
      change(async ({ db: tx, record, afterCommit }) => {
        const cluster = await lockCluster(tx, id);
        const now = clock();
        const wanted = { release: body.release, force: body.force ?? false, last: await newestUpgrade(tx, id) };
        const start = upgradeStart(cluster, wanted, now);
        if (start instanceof Fault) throw start;
        const job = await startProvisioning(tx, {
          cluster,
          action: "upgrade",
          desiredNodeCount: 1 + (cluster.agent_count ?? 0),
          createdBy: caller.id,
          now,
          node: start.node,
          release: start.target,
          force: wanted.force,
        });
        record({
          action: "cluster.kubernetes_upgrade",
          resource: { type: "cluster", id, name: cluster.name },
          orgId: cluster.org_id,
          changes: { from: cluster.kubernetes_release?.version ?? null, ...body },
        });
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return wireJob(job);
      }),
    ),
  ];
}
