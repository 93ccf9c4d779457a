import { getClusterMetrics, getSshKey, scaleCluster } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { metricsOf } from "../cluster-metrics/cluster-metrics.store.ts";
import { rangeSeconds } from "../cluster-metrics/series.ts";
import type { Queries } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { onCluster } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import { startProvisioning } from "../provisioning/provisioning.store.ts";
import { scaleProblem, wireJob } from "../provisioning/provisioning.ts";
import type { Vault } from "../vault/vault.ts";
import { lockCluster } from "./cluster.store.ts";

interface NodePorts {
  readonly db: Queries;
  readonly bus: Bus;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly operators: Pick<OperatorRequests, "metrics">;
}

/** Routes about the nodes of a cluster: their number, their SSH key and their capacity. */
export function nodeRoutes(ports: NodePorts): Route[] {
  const { bus, vault, clock } = ports;
  return [
    route(
      scaleCluster,
      onCluster("org_admin", ({ params }) => params.id),
      async ({ cluster: { id }, caller, body, change }) =>
        change(async ({ db: tx, record, afterCommit }) => {
          const cluster = await lockCluster(tx, id);
          const problem = scaleProblem(cluster);
          if (problem) throw problem;
          const job = await startProvisioning(tx, {
            cluster,
            action: "scale",
            desiredNodeCount: body.desired_node_count,
            createdBy: caller.id,
            now: clock(),
          });
          record({
            action: "cluster.scale",
            resource: { type: "cluster", id, name: cluster.name },
            orgId: cluster.org_id,
            changes: body,
          });
          afterCommit(() => bus.publish(JOBS_TOPIC, {}));
          return wireJob(job);
        }),
    ),

    route(
      getSshKey,
      onCluster("org_admin", ({ params }) => params.id),
      async ({ cluster: { id, sealed_ssh_key } }) => {
        if (sealed_ssh_key === null) throw notFound("SSH key");
        return { private_key: vault.open(sealed_ssh_key, { table: "clusters", row: id, column: "sealed_ssh_key" }) };
      },
    ),

    route(
      getClusterMetrics,
      onCluster("member", ({ params }) => params.id),
      async ({ cluster, query: { range } }) => {
        const request = { clusterId: cluster.id, app: null, rangeSeconds: rangeSeconds(range) };
        return { range, ...(await metricsOf(ports, request)) };
      },
    ),
  ];
}
