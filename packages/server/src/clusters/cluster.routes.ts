import {
  type ClusterInput,
  type ClusterStatus,
  createCluster,
  deleteCluster,
  getCluster,
  listClusters,
  updateCluster,
} from "@binnacle/contract";
import { findOrgCredential } from "../credentials/credential.store.ts";
import { type Credential, providerMismatch } from "../credentials/credential.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { deletionOf } from "../dispatch/kind.ts";
import { notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { envelope, type Page, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { JOBS_TOPIC } from "../jobs/job.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import { projectAnnouncement } from "../projects/project.ts";
import { egressProblem } from "../provisioning/egress.ts";
import {
  newestJob,
  requeue,
  requireFreshPlan,
  startProvisioning,
  stopJobs,
} from "../provisioning/provisioning.store.ts";
import { CANCELLED_BY_DELETION } from "../provisioning/provisioning.ts";
import { deleteAbandonedProjects, lockContents } from "./abandonment.store.ts";
import {
  blockingProjects,
  clustersById,
  deleteClusterRow,
  describeCluster,
  insertCluster,
  knownCluster,
  listClusterRows,
  lockCluster,
  markForDeletion,
} from "./cluster.store.ts";
import {
  type Cluster,
  hasProjects,
  isProvisioned,
  noOperatorImage,
  provisioningOptions,
  wireCluster,
} from "./cluster.ts";
import { readClusterFacts } from "./cluster-facts.store.ts";
import { clusterPlace } from "./cluster-place.store.ts";
import { hasOperatorImage, installCommand } from "./connection.ts";
import { statusAnnouncement, statusOf } from "./status.ts";

const FIRST_TOKEN_VERSION = 1;

async function allClusters(db: Queries, orgId: string, page: Page) {
  const [clusters, total] = await Promise.all([
    listClusterRows(db, orgId, pageOf(page)),
    totalRows(db, "clusters", orgId),
  ]);
  return { clusters, total };
}

interface ClusterFilter extends Page {
  readonly status?: readonly ClusterStatus[] | undefined;
  readonly search?: string | undefined;
}

/** A status is not stored, so the facts of all clusters are read to find those in it. */
async function filteredClusters(db: Queries, orgId: string, { status, search, ...page }: ClusterFilter, now: Date) {
  const facts = await readClusterFacts(db, orgId, { search });
  const ids = facts
    .filter((cluster) => status === undefined || status.includes(statusOf(cluster, now)))
    .map(({ id }) => id)
    .sort()
    .reverse();
  const { limit, offset } = pageOf(page);
  const shown = ids.slice(offset, offset + limit);
  const rows = new Map((await clustersById(db, shown)).map((cluster) => [cluster.id, cluster]));
  return { clusters: shown.flatMap((id) => rows.get(id) ?? []), total: ids.length };
}

const resourceOf = ({ id, name }: Pick<Cluster, "id" | "name">) => ({ type: "cluster", id, name });

export function clusterRoutes({
  db,
  bus,
  clock,
  agentTokens,
  operatorChart,
  publicUrl,
}: Ports<"db" | "bus" | "clock" | "agentTokens" | "operatorChart" | "publicUrl">): Route[] {
  return [
    route(
      listClusters,
      at(orgPlace, "member", ({ params }) => params.org_id),
      async ({ org, query }) => {
        const now = clock();
        const { clusters, total } = await (query.status || query.search
          ? filteredClusters(db, org.id, query, now)
          : allClusters(db, org.id, query));
        return envelope(
          clusters.map((cluster) => wireCluster(cluster, now, operatorChart.version)),
          total,
          query,
        );
      },
    ),

    route(
      createCluster,
      at(orgPlace, "admin", ({ params }) => params.org_id),
      async ({ org, caller, body, change }) =>
        change(async ({ db: tx, record, announce, afterCommit }) => {
          const [id, now] = [newId(), clock()];
          const credential = await credentialFor(tx, org.id, body);
          if (credential && !hasOperatorImage(publicUrl(), operatorChart.image)) throw noOperatorImage();
          const { name, description = null, provider = null, egress = null } = body;
          const options = provisioningOptions(body, credential?.region ?? null);
          const fields = { name, description, provider, credential_id: credential?.id ?? null, egress, ...options };
          const token_version = credential ? 0 : FIRST_TOKEN_VERSION;
          await insertCluster(tx, { id, org_id: org.id, ...fields, token_version, created_at: now, updated_at: now });
          const job =
            credential &&
            (await startProvisioning(tx, {
              cluster: { id, org_id: org.id, credential_id: credential.id },
              action: "create",
              desiredNodeCount: 1 + (options.agent_count ?? 0),
              createdBy: caller.id,
              now,
            }));
          const cluster = await knownCluster(tx, id);
          const minted = credential ? null : await agentTokens.mint(id, FIRST_TOKEN_VERSION);
          record({
            action: "cluster.create",
            resource: resourceOf(cluster),
            orgId: org.id,
            place: { clusterId: id },
            changes: fields,
          });
          const announcement = statusAnnouncement(null, cluster, now);
          if (announcement) announce(announcement);
          if (job) afterCommit(() => bus.publish(JOBS_TOPIC, {}));
          return {
            ...wireCluster(cluster, now, operatorChart.version),
            connection_token: minted?.token ?? null,
            install_command: minted && installCommand(publicUrl(), operatorChart, id, minted.token),
            provisioning_job_id: job?.id ?? null,
          };
        }),
    ),

    route(getCluster, at(clusterPlace, "member"), async ({ cluster }) =>
      wireCluster(cluster, clock(), operatorChart.version),
    ),

    route(updateCluster, at(clusterPlace, "admin"), async ({ cluster: { id }, body, change }) =>
      change(async ({ db: tx, record }) => {
        const before = await lockCluster(tx, id);
        const { name, description } = { ...before, ...body };
        const now = clock();
        await describeCluster(tx, id, { name, description, updated_at: now });
        const cluster = await knownCluster(tx, id);
        const about = { resource: resourceOf(cluster), orgId: cluster.org_id };
        record({ action: "cluster.update", ...about, changes: body, before });
        return wireCluster(cluster, now, operatorChart.version);
      }),
    ),
  ];
}

export function clusterDeletionRoutes({ bus, clock }: Ports<"bus" | "clock">): Route[] {
  return [
    route(
      deleteCluster,
      at(clusterPlace, "org_admin"),
      async ({ cluster: { id, abandoned_at }, query, caller, change }) =>
        change(async ({ db: tx, record, unchanged, announce, afterCommit }) => {
          if (abandoned_at !== null) await lockContents(tx, id);
          const cluster = await lockCluster(tx, id);
          const projects = await blockingProjects(tx, id);
          if (projects.length > 0) throw hasProjects(projects);
          const now = clock();
          const { plan_job_id } = query;
          const wanted = { cluster_id: id, action: "destroy", desired_node_count: null, node: null } as const;
          await requireFreshPlan(tx, plan_job_id, wanted);
          let changes: Readonly<Record<string, unknown>> = plan_job_id === undefined ? {} : { plan_job_id };
          if (isProvisioned(cluster)) {
            if (!(await requestDestruction(tx, cluster, plan_job_id, caller.id, now))) {
              unchanged();
              return null;
            }
            const announcement = statusAnnouncement(cluster, await knownCluster(tx, id), now);
            if (announcement) announce(announcement);
            afterCommit(() => bus.publish(JOBS_TOPIC, {}));
          } else {
            const ended = await deleteAbandonedProjects(tx, id);
            for (const project of ended) announce(deletionOf(projectAnnouncement(project, cluster, now)));
            const namespaces = ended.map(({ namespace }) => namespace).sort();
            if (namespaces.length > 0) changes = { namespaces, confirmed_by_cluster: false };
            await deleteClusterRow(tx, id);
            // The raised floor revokes every token, so that the hub ends the session.
            const floor = cluster.token_version + 1;
            afterCommit(() => bus.publish(FLOOR_RAISED_TOPIC, { ask: newId(), cluster_id: id, floor, deleted: true }));
          }
          record({ action: "cluster.delete", resource: resourceOf(cluster), orgId: cluster.org_id, changes });
          return null;
        }),
    ),
  ];
}

/** Returns null for a bring-your-own cluster, which has nothing else of a provisioning request. */
async function credentialFor(tx: Tx, orgId: string, body: ClusterInput): Promise<Credential | null> {
  if (body.credential_id === undefined) return null;
  const problem = egressProblem(body.egress);
  if (problem) throw problem;
  const credential = await findOrgCredential(tx, orgId, body.credential_id);
  if (!credential) throw notFound("Credential");
  const mismatch = providerMismatch(credential, body.provider);
  if (mismatch) throw mismatch;
  return credential;
}

/** A repeated request leaves a running destroy job alone, and returns false, or retries a failed one. */
async function requestDestruction(
  tx: Tx,
  cluster: Cluster,
  planJobId: string | undefined,
  callerId: string,
  now: Date,
): Promise<boolean> {
  const newest = await newestJob(tx, cluster.id);
  if (newest?.action === "destroy") {
    if (newest.status !== "failed") return false;
    await requeue(tx, newest.id, callerId, now);
    return true;
  }
  await stopJobs(tx, cluster.id, CANCELLED_BY_DELETION, now);
  await markForDeletion(tx, cluster.id, now);
  const destroy = { action: "destroy", desiredNodeCount: null, planJobId } as const;
  await startProvisioning(tx, { cluster, ...destroy, createdBy: callerId, now });
  return true;
}
