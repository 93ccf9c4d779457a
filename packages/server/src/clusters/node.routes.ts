import { getClusterMetrics, getSshKey, replaceNode, scaleCluster } from "@binnacle/contract";
import { metricsOf } from "../cluster-metrics/cluster-metrics.store.ts";
import { rangeSeconds } from "../cluster-metrics/series.ts";
import { notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { Ports } from "../ports.ts";
import { requireFreshPlan, startProvisioning } from "../provisioning/provisioning.store.ts";
import { replaceProblem, scaleProblem, wireJob } from "../provisioning/provisioning.ts";
import { lockCluster } from "./cluster.store.ts";
import { clusterPlace } from "./cluster-place.store.ts";

/** Routes about the nodes of a cluster: their number, their SSH key and their capacity. */
export function nodeRoutes(ports: Ports<"db" | "bus" | "vault" | "clock" | "operators">): Route[] {
  const { bus, vault, clock } = ports;
  return [
    route(scaleCluster, at(clusterPlace, "org_admin"), async ({ cluster: { id }, caller, body, change }) =>
      change(async ({ db: tx, record, afterCommit }) => {
        const cluster = await lockCluster(tx, id);
        const problem = scaleProblem(cluster);
        if (problem) throw problem;
        const { desired_node_count, plan_job_id } = body;
        const wanted = { cluster_id: id, action: "scale", desired_node_count, node: null } as const;
        await requireFreshPlan(tx, plan_job_id, wanted);
        const job = await startProvisioning(tx, {
          cluster,
          action: "scale",
          desiredNodeCount: desired_node_count,
          createdBy: caller.id,
          now: clock(),
          force: body.force ?? false,
          planJobId: plan_job_id,
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

    route(replaceNode, at(clusterPlace, "org_admin"), async ({ cluster: { id }, params, caller, body, change }) =>
      change(async ({ db: tx, record, afterCommit }) => {
        const cluster = await lockCluster(tx, id);
        const problem = replaceProblem(cluster, params.name, body.force ?? false);
        if (problem) throw problem;
        const desiredNodeCount = 1 + (cluster.agent_count ?? 0);
        const wanted = {
          cluster_id: id,
          action: "replace",
          desired_node_count: desiredNodeCount,
          node: params.name,
        } as const;
        await requireFreshPlan(tx, body.plan_job_id, wanted);
        const job = await startProvisioning(tx, {
          cluster,
          action: "replace",
          desiredNodeCount,
          createdBy: caller.id,
          now: clock(),
          node: params.name,
          force: body.force ?? false,
          planJobId: body.plan_job_id,
        });
        record({
          action: "cluster.node_replace",
          resource: { type: "cluster", id, name: cluster.name },
          orgId: cluster.org_id,
          changes: { node: params.name, ...body },
        });
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return wireJob(job);
      }),
    ),

    route(getSshKey, at(clusterPlace, "org_admin"), async ({ cluster: { id, sealed_ssh_key } }) => {
      if (sealed_ssh_key === null) throw notFound("SSH key");
      return { private_key: vault.open(sealed_ssh_key, { table: "clusters", row: id, column: "sealed_ssh_key" }) };
    }),

    route(getClusterMetrics, at(clusterPlace, "member"), async ({ cluster, query: { range } }) => {
      const request = { clusterId: cluster.id, app: null, rangeSeconds: rangeSeconds(range) };
      return { range, ...(await metricsOf(ports, request)) };
    }),
  ];
}
