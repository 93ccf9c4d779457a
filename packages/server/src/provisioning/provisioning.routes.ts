import {
  cancelProvisioningJob,
  getProvisioningJob,
  getProvisioningLogs,
  getProvisioningPlan,
  listProvisioningJobs,
  planCluster,
  retryProvisioningJob,
} from "@binnacle/contract";
import type { FastifyReply } from "fastify";
import { type Caller, type Credential, readerOf } from "../access/caller.ts";
import { allows } from "../access/role.ts";
import { abandonedProblem } from "../clusters/abandonment.ts";
import { blockingProjects, knownCluster, lockCluster } from "../clusters/cluster.store.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { statusAnnouncement } from "../clusters/status.ts";
import { Fault, notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { openStream } from "../http/sse.adapter.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import type { Ports } from "../ports.ts";
import { jobPlace } from "./job-place.ts";
import { followLog } from "./log-follow.runner.ts";
import {
  failCancelled,
  isPlanning,
  listJobs,
  lockJob,
  logLines,
  newestJob,
  requestCancellation,
  requeue,
  startProvisioning,
} from "./provisioning.store.ts";
import {
  acceptsEvents,
  cancellationOf,
  cancelledMessage,
  lineAfter,
  logText,
  PROVISIONING_TOPIC,
  type ProvisioningJob,
  plannedNodeCount,
  planProblem,
  planUnderWay,
  retryProblem,
  wireJob,
} from "./provisioning.ts";

interface LogReader {
  readonly job: ProvisioningJob;
  readonly caller: Caller;
  readonly credential: Credential | null;
  readonly reply: FastifyReply;
}

const aboutJob = (job: ProvisioningJob, clusterName: string) => ({
  resource: { type: "provisioning_job", id: job.id, name: clusterName },
  orgId: job.org_id,
  changes: { action: job.action, cluster_id: job.cluster_id },
});

export function provisioningRoutes({ db, bus, broadcast }: Ports<"db" | "bus" | "broadcast">): Route[] {
  /** Resolves once the stream has begun. */
  async function streamLog({ job, caller, credential, reply }: LogReader, after: number): Promise<void> {
    const leaving = new AbortController();
    reply.raw.once("close", () => leaving.abort());
    const unwatch = await broadcast.watch(
      readerOf(credential, caller),
      (access) => allows(access, { needs: "cluster_role", role: "member" }, job),
      () => leaving.abort(),
    );
    leaving.signal.addEventListener("abort", unwatch);
    // The client may have disconnected while its access was read; without this, the stream would count until the token
    // expires.
    if (leaving.signal.aborted) unwatch();
    const stream = openStream(reply);
    // The answer has begun, so an error can only end the stream; the client comes back with its position.
    followLog({ db, bus }, { jobId: job.id, after, signal: leaving.signal }, stream).catch((error: unknown) =>
      reply.log.warn({ err: error }, "the log of a provisioning job broke off"),
    );
  }

  return [
    route(listProvisioningJobs, at(clusterPlace, "member"), async ({ cluster, query }) => {
      const { jobs, total } = await listJobs(db, cluster.id, pageOf(query));
      return envelope(jobs.map(wireJob), total, query);
    }),

    route(getProvisioningJob, at(jobPlace, "member"), async ({ job }) => wireJob(job)),

    route(getProvisioningLogs, at(jobPlace, "member"), async (call) => {
      const { job, headers } = call;
      if (!acceptsEvents(headers.accept)) return { logs: logText(await logLines(db, job.id)) };
      await streamLog(call, lineAfter(headers["last-event-id"]));
      // The stream has taken over the reply, so this is not sent.
      return { logs: null };
    }),

    route(getProvisioningPlan, at(jobPlace, "member"), async ({ job }) => {
      if (!job.plan) throw notFound("Plan");
      return { job_id: job.id, ...job.plan, volumes: job.plan.volumes ?? [] };
    }),
  ];
}

export function provisioningChangeRoutes({ bus, clock }: Ports<"bus" | "clock">): Route[] {
  return [
    route(planCluster, at(clusterPlace, "org_admin"), async ({ cluster: { id }, caller, body, change }) =>
      change(async ({ db: tx, record, afterCommit }) => {
        const cluster = await lockCluster(tx, id);
        const problem = planProblem(cluster, body, await blockingProjects(tx, id));
        if (problem) throw problem;
        if (await isPlanning(tx, id)) throw planUnderWay();
        const job = await startProvisioning(tx, {
          cluster,
          action: body.action,
          desiredNodeCount: plannedNodeCount(cluster, body),
          ...(body.node === undefined ? {} : { node: body.node }),
          createdBy: caller.id,
          now: clock(),
          isDryRun: true,
        });
        record({
          action: "cluster.plan",
          resource: { type: "cluster", id, name: cluster.name },
          orgId: cluster.org_id,
          changes: body,
        });
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return wireJob(job);
      }),
    ),

    route(cancelProvisioningJob, at(jobPlace, "org_admin"), async ({ job: seen, change }) =>
      change(async ({ db: tx, record, unchanged, announce, afterCommit }) => {
        const before = await lockCluster(tx, seen.cluster_id);
        const current = await lockJob(tx, seen.id);
        if (!current) throw notFound("Provisioning job");
        const cancellation = cancellationOf(current);
        if (cancellation instanceof Fault) throw cancellation;
        if (cancellation === "requested") {
          unchanged();
          return wireJob(current);
        }
        const now = clock();
        const job = await (cancellation === "fail"
          ? failCancelled(tx, seen.id, cancelledMessage(current), now)
          : requestCancellation(tx, seen.id, now));
        record({ action: "provisioning_job.cancel", ...aboutJob(job, before.name) });
        const announcement = statusAnnouncement(before, await knownCluster(tx, before.id), now);
        if (announcement) announce(announcement);
        afterCommit(() => bus.publish(PROVISIONING_TOPIC, { job_id: job.id }));
        return wireJob(job);
      }),
    ),

    route(retryProvisioningJob, at(jobPlace, "org_admin"), async ({ job: seen, caller, change }) =>
      change(async ({ db: tx, record, announce, afterCommit }) => {
        const before = await lockCluster(tx, seen.cluster_id);
        const newest = await newestJob(tx, seen.cluster_id);
        const current = newest?.id === seen.id ? newest : seen;
        const problem = abandonedProblem(before, retryProvisioningJob) ?? retryProblem(current, newest?.id);
        if (problem) throw problem;
        const now = clock();
        const job = await requeue(tx, seen.id, caller.id, now);
        record({ action: "provisioning_job.retry", ...aboutJob(job, before.name) });
        const announcement = statusAnnouncement(before, await knownCluster(tx, before.id), now);
        if (announcement) announce(announcement);
        afterCommit(() => bus.publish(JOBS_TOPIC, {}));
        return wireJob(job);
      }),
    ),
  ];
}
