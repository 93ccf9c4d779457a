import {
  getProvisioningJob,
  getProvisioningLogs,
  listProvisioningJobs,
  retryProvisioningJob,
} from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { knownCluster, lockCluster } from "../clusters/cluster.store.ts";
import { statusAnnouncement } from "../clusters/status.ts";
import type { Queries } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { onCluster, onProvisioningJob } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import { listJobs, logLines, newestJob, requeue } from "./provisioning.store.ts";
import { logText, retryProblem, wireJob } from "./provisioning.ts";

export function provisioningRoutes(db: Queries, bus: Bus, clock: Clock): Route[] {
  return [
    route(
      listProvisioningJobs,
      onCluster("member", ({ params }) => params.id),
      async ({ cluster, query }) => {
        const { jobs, total } = await listJobs(db, cluster.id, pageOf(query));
        return envelope(jobs.map(wireJob), total, query);
      },
    ),

    route(getProvisioningJob, onProvisioningJob("member"), async ({ job }) => wireJob(job)),

    route(getProvisioningLogs, onProvisioningJob("member"), async ({ job }) => ({
      logs: logText(await logLines(db, job.id)),
    })),

    route(retryProvisioningJob, onProvisioningJob("org_admin"), async ({ job: seen, caller, change }) =>
      change(async ({ db: tx, record, announce, afterCommit }) => {
        const before = await lockCluster(tx, seen.cluster_id);
        const newest = await newestJob(tx, seen.cluster_id);
        if (!newest) throw notFound("Provisioning job");
        const current = newest.id === seen.id ? newest : seen;
        const problem = retryProblem(current, newest.id);
        if (problem) throw problem;
        const now = clock();
        const job = await requeue(tx, seen.id, caller.id, now);
        record({
          action: "provisioning_job.retry",
          resource: { type: "provisioning_job", id: job.id, name: before.name },
          orgId: job.org_id,
          place: { clusterId: job.cluster_id },
          changes: { action: job.action, cluster_id: job.cluster_id },
        });
        const announcement = statusAnnouncement(before, await knownCluster(tx, before.id), now);
        if (announcement) announce(announcement);
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return wireJob(job);
      }),
    ),
  ];
}
