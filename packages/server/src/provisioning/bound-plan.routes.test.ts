import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bringJob, provisionedCluster, queuedInLane, registeredCluster } from "../clusters/clusters.fixture.ts";
import { newId } from "../id.adapter.ts";
import { failRun } from "./provisioning-run.store.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const db = world.database.kysely;
const { org, admin } = await world.orgWithPeople();
afterAll(() => world.stop());

async function createdCluster(): Promise<string> {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
  const ended = { finished_at: world.clock.now() };
  await db.updateTable("provisioning_jobs").set(ended).where("id", "=", provisioning_job_id).execute();
  await db.updateTable("clusters").set({ agent_count: 2 }).where("id", "=", id).execute();
  return id;
}

/** A plan that the worker has made. */
async function planOf(cluster: string, body: object): Promise<string> {
  const { body: job } = await admin.api.post(`/clusters/${cluster}/plan`, body);
  const made = { status: "succeeded", plan_digest: "digest", started_at: world.clock.now() } as const;
  await db.updateTable("provisioning_jobs").set(made).where("id", "=", job.id).execute();
  return job.id;
}

const SCALE = { action: "scale", desired_node_count: 4 };

describe("a change that is bound to a plan", () => {
  test("[PV100] a change of size, a replacement and a deletion name the plan that they are bound to", async () => {
    const scaled = await createdCluster();
    const seen = await planOf(scaled, SCALE);
    expect(
      await admin.api.post(`/clusters/${scaled}/scale`, { desired_node_count: 4, plan_job_id: seen }),
    ).toMatchObject({ status: 202, body: { action: "scale", plan_job_id: seen, dry_run: false } });

    const replaced = await createdCluster();
    const node = await planOf(replaced, { action: "replace", node: "agent-2" });
    expect(await admin.api.post(`/clusters/${replaced}/nodes/agent-2/replace`, { plan_job_id: node })).toMatchObject({
      status: 202,
      body: { action: "replace", node: "agent-2", plan_job_id: node },
    });

    const gone = await createdCluster();
    const destruction = await planOf(gone, { action: "destroy" });
    expect((await admin.api.delete(`/clusters/${gone}?plan_job_id=${destruction}`)).status).toBe(204);
    // A worker of the release before, which knows no plans to be bound to, must not take it.
    expect((await queuedInLane(db, gone)).at(-1)).toMatchObject({ kind: "provisioning-guarded" });
    const { body: jobs } = await admin.api.get(`/clusters/${gone}/provisioning-jobs`);
    expect(jobs.data[0]).toMatchObject({ action: "destroy", dry_run: false, plan_job_id: destruction });
    const { body: log } = await admin.api.get(`/orgs/${org}/audit-log?action=cluster.delete`);
    const entries = log.data.filter((entry: { resource: { id: string } }) => entry.resource.id === gone);
    expect(entries).toMatchObject([{ changes: { plan_job_id: destruction } }]);
  });

  test("[PV9] a plan of a replacement is a dry run of it, with the node and without a number of nodes", async () => {
    const cluster = await createdCluster();
    const path = `/clusters/${cluster}/plan`;
    expect(await admin.api.post(path, { action: "replace", node: "agent-1" })).toMatchObject({
      status: 202,
      body: { action: "replace", node: "agent-1", dry_run: true, desired_node_count: 3 },
    });
    for (const body of [
      { action: "replace" },
      { action: "replace", node: "agent-1", desired_node_count: 2 },
      { action: "scale", desired_node_count: 2, node: "agent-1" },
      { action: "destroy", node: "agent-1" },
    ])
      expect((await admin.api.post(path, body)).status).toBe(422);
    const other = await createdCluster();
    expect((await admin.api.post(`/clusters/${other}/plan`, { action: "replace", node: "agent-9" })).status).toBe(404);
  });

  test("[PV100] a plan that is stale, of another change or of another cluster is a 409, and nothing is queued", async () => {
    const [cluster, other] = [await createdCluster(), await createdCluster()];
    const [seen, elsewhere] = [await planOf(cluster, SCALE), await planOf(other, SCALE)];
    const queued = (await queuedInLane(db, cluster)).length;
    const scale = (plan_job_id: string, desired_node_count = 4) =>
      admin.api.post(`/clusters/${cluster}/scale`, { desired_node_count, plan_job_id });
    for (const [plan, detail] of [
      [newId(), "The cluster has no such plan."],
      [elsewhere, "The cluster has no such plan."],
    ] as const)
      expect(await scale(plan)).toMatchObject({ status: 409, body: { detail } });
    expect((await scale(seen, 3)).status).toBe(409);
    expect((await admin.api.delete(`/clusters/${cluster}?plan_job_id=${seen}`)).status).toBe(409);
    expect((await scale("plan")).status).toBe(422);
    expect((await admin.api.get(`/clusters/${cluster}`)).body.status).toBe("awaiting_operator");
    expect(await queuedInLane(db, cluster)).toHaveLength(queued);

    const { body: job } = await scale(seen);
    const later = new Date(world.clock.now().getTime() + 60_000);
    const done = { status: "succeeded", finished_at: later } as const;
    await db.updateTable("provisioning_jobs").set(done).where("id", "=", job.id).execute();
    expect(await scale(seen)).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/out of date/) } });
  });

  test("[PV100] a bring-your-own cluster has no plans, and is not deleted as if it had", async () => {
    const own = await registeredCluster(admin.api, org);
    expect((await admin.api.delete(`/clusters/${own.id}?plan_job_id=${newId()}`)).status).toBe(409);
    expect((await admin.api.get(`/clusters/${own.id}`)).status).toBe(200);
  });
});

describe("a job whose plan has changed", () => {
  /** As the worker fails it. */
  async function failed(jobId: string, cluster: string) {
    const lease = { worker_id: newId(), lease_until: new Date(Date.now() + 60_000), started_at: new Date() };
    const claimed = { status: "running", fence: 1, attempts: 1, max_attempts: 5, ...lease } as const;
    const queued = await db
      .updateTable("jobs")
      .set(claimed)
      .where("lane", "=", cluster)
      .where("id", "in", (jobs) =>
        jobs.selectFrom("jobs").select("id").where("lane", "=", cluster).orderBy("id", "desc").limit(1),
      )
      .returning("id")
      .executeTakeFirstOrThrow();
    const failure = { code: "plan_changed", message: "The change is no longer the one that was planned." } as const;
    await failRun(db, { id: queued.id, fence: 1 }, { id: jobId, cluster_id: cluster }, failure, world.clock.now());
    await db
      .updateTable("jobs")
      .set({ status: "succeeded", lease_until: null, finished_at: new Date() })
      .where("id", "=", queued.id)
      .execute();
  }

  test("[PV101] it decides nothing: the cluster can be changed on, and the job is not retried", async () => {
    const cluster = await createdCluster();
    const seen = await planOf(cluster, SCALE);
    const { body: job } = await admin.api.post(`/clusters/${cluster}/scale`, {
      desired_node_count: 4,
      plan_job_id: seen,
    });
    await failed(job.id, cluster);
    expect((await admin.api.get(`/provisioning-jobs/${job.id}`)).body).toMatchObject({ error_code: "plan_changed" });
    expect(await admin.api.post(`/provisioning-jobs/${job.id}/retry`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/Look at a new plan/) },
    });
    expect((await admin.api.post(`/clusters/${cluster}/nodes/agent-1/replace`, {})).status).toBe(202);
  });

  test("[PV101] a deletion is taken back: the cluster is what it was, and can be deleted again", async () => {
    const cluster = await createdCluster();
    const before = (await admin.api.get(`/clusters/${cluster}`)).body.status;
    const seen = await planOf(cluster, { action: "destroy" });
    await admin.api.delete(`/clusters/${cluster}?plan_job_id=${seen}`);
    expect((await admin.api.get(`/clusters/${cluster}`)).body.status).toBe("destroying");
    const { body: jobs } = await admin.api.get(`/clusters/${cluster}/provisioning-jobs`);
    await failed(jobs.data[0].id, cluster);
    expect((await admin.api.get(`/clusters/${cluster}`)).body.status).toBe(before);
    expect((await admin.api.get(`/orgs/${org}/clusters?status=${before}`)).body.data).toContainEqual(
      expect.objectContaining({ id: cluster }),
    );
    expect((await admin.api.delete(`/clusters/${cluster}`)).status).toBe(204);
    expect((await admin.api.get(`/clusters/${cluster}`)).body.status).toBe("destroying");
    const { body: after } = await admin.api.get(`/clusters/${cluster}/provisioning-jobs`);
    expect(after.data[0]).toMatchObject({ action: "destroy", status: "pending", plan_job_id: null });
    expect(after.data[0].id).not.toBe(jobs.data[0].id);
  });
});
