import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import {
  bringJob,
  nextStatus,
  provisionedCluster,
  queuedInLane,
  registeredCluster,
} from "../clusters/clusters.fixture.ts";
import { newId } from "../id.adapter.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const db = world.database.kysely;
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

async function failedCreation() {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "failed", { error_message: "No capacity.", phase: "apply", attempts: 1 });
  return { cluster: id as string, job: provisioning_job_id as string };
}

describe("GET /clusters/{id}/provisioning-jobs", () => {
  test("[PV1] GET /clusters/{id}/provisioning-jobs lists a cluster's jobs, newest first and in pages", async () => {
    const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
    await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
    const scaled = await admin.api.post(`/clusters/${id}/scale`, { desired_node_count: 2 });
    const path = `/clusters/${id}/provisioning-jobs`;
    const { status, body } = await member.api.get(path);
    expect([status, body.total_count, body.has_more]).toEqual([200, 2, false]);
    expect(body.data.map((job: { id: string }) => job.id)).toEqual([scaled.body.id, provisioning_job_id]);
    expect((await member.api.get(`${path}?page=2&items_per_page=1`)).body.data).toMatchObject([
      { id: provisioning_job_id },
    ]);
    expect((await stranger.api.get(path)).status).toBe(404);
    expect((await world.anyone.get(path)).status).toBe(401);
  });

  test("[PV1] GET /clusters/{id}/provisioning-jobs is empty for a bring-your-own cluster", async () => {
    const { id } = await registeredCluster(admin.api, org);
    expect((await member.api.get(`/clusters/${id}/provisioning-jobs`)).body).toMatchObject({
      data: [],
      total_count: 0,
    });
  });
});

describe("GET /provisioning-jobs/{id}", () => {
  test("[PV2] GET /provisioning-jobs/{id} shows the whole record [PV3] to members", async () => {
    const { id, credential_id, provisioning_job_id } = await provisionedCluster(admin.api, org);
    const now = world.clock.now().toISOString();
    const { status, body } = await member.api.get(`/provisioning-jobs/${provisioning_job_id}`);
    expect([status, body]).toEqual([
      200,
      {
        id: provisioning_job_id,
        cluster_id: id,
        credential_id,
        action: "create",
        status: "pending",
        phase: "init",
        progress_pct: 0,
        error_message: null,
        error_code: null,
        node: null,
        force: false,
        kubernetes_release: null,
        dry_run: false,
        plan_job_id: null,
        retry_at: null,
        cancel_requested_at: null,
        attempts: 0,
        desired_node_count: 1,
        created_at: now,
        updated_at: now,
        started_at: null,
        finished_at: null,
      },
    ]);
  });

  test("[PV3] a stranger gets the same 404 for a provisioning job as for one that does not exist", async () => {
    const { job } = await failedCreation();
    for (const path of [`/provisioning-jobs/${job}`, `/provisioning-jobs/${newId()}`]) {
      for (const answer of [
        await stranger.api.get(path),
        await stranger.api.get(`${path}/logs`),
        await stranger.api.post(`${path}/retry`),
        await stranger.api.get(`${path}/plan`),
        await stranger.api.post(`${path}/cancel`),
        await stranger.api.get(`${path}/logs`, { headers: { accept: "text/event-stream" } }),
      ]) {
        expect(answer).toMatchObject({ status: 404, body: { detail: "Provisioning job not found." } });
      }
    }
    expect((await world.anyone.get(`/provisioning-jobs/${job}`)).status).toBe(401);
    expect((await member.api.get("/provisioning-jobs/x")).status).toBe(422);
  });
});

describe("GET /provisioning-jobs/{id}/logs", () => {
  test("[PV4] GET /provisioning-jobs/{id}/logs is null at first, and then has every line in order", async () => {
    const { job } = await failedCreation();
    const path = `/provisioning-jobs/${job}/logs`;
    expect(await member.api.get(path)).toMatchObject({ status: 200, body: { logs: null } });
    const at = world.clock.now();
    for (const line of ["Plan: 7 to add.", "", "Apply complete!"]) {
      await db.insertInto("provisioning_log_lines").values({ job_id: job, at, line }).execute();
    }
    expect((await member.api.get(path)).body).toEqual({ logs: "Plan: 7 to add.\n\nApply complete!\n" });
  });
});

describe("POST /provisioning-jobs/{id}/retry", () => {
  test("[PV5] a retry queues the same job again, [PV7] in the lane of its cluster", async () => {
    const { cluster, job } = await failedCreation();
    const retried = await admin.api.post(`/provisioning-jobs/${job}/retry`);
    expect(retried).toMatchObject({
      status: 202,
      body: { id: job, status: "pending", phase: "apply", attempts: 1, error_message: null, finished_at: null },
    });
    const queued = { kind: "provisioning", lane: cluster, payload: { provisioning_job_id: job }, status: "pending" };
    expect(await queuedInLane(db, cluster)).toEqual([queued, queued]);
  });

  test("[PV5] a retry of a provisioning job is for administrators of the organization", async () => {
    const { job } = await failedCreation();
    expect((await member.api.post(`/provisioning-jobs/${job}/retry`)).status).toBe(403);
    expect((await world.anyone.post(`/provisioning-jobs/${job}/retry`)).status).toBe(401);
  });

  test("[PV6] a retry is refused unless the job has failed, also for the second of two at once", async () => {
    const { provisioning_job_id } = await provisionedCluster(admin.api, org);
    expect(await admin.api.post(`/provisioning-jobs/${provisioning_job_id}/retry`)).toMatchObject({
      status: 409,
      body: { detail: "Only a failed job can be retried; this one is pending." },
    });
    const { job } = await failedCreation();
    const answers = await Promise.all([1, 2, 3].map(() => admin.api.post(`/provisioning-jobs/${job}/retry`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });

  test("[PV6] a retry is refused once the cluster is being destroyed", async () => {
    const { cluster, job } = await failedCreation();
    await admin.api.delete(`/clusters/${cluster}`);
    expect((await admin.api.post(`/provisioning-jobs/${job}/retry`)).status).toBe(409);
  });

  test("[PV8] a retry announces that the cluster is being provisioned again", async () => {
    const { cluster, job } = await failedCreation();
    const announced = nextStatus(world, ({ cluster_id }) => cluster_id === cluster);
    await admin.api.post(`/provisioning-jobs/${job}/retry`);
    expect(await announced).toMatchObject({ status: "provisioning", message: null });
  });
});

const createdCluster = async () => {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
  return id as string;
};

describe("POST /clusters/{id}/plan", () => {
  test("[PV9] POST /clusters/{id}/plan starts a dry run in the lane of the cluster, for administrators", async () => {
    const cluster = await createdCluster();
    const path = `/clusters/${cluster}/plan`;
    expect((await member.api.post(path, { action: "destroy" })).status).toBe(403);
    const { status, body } = await admin.api.post(path, { action: "scale", desired_node_count: 3 });
    expect([status, body]).toMatchObject([
      202,
      { cluster_id: cluster, action: "scale", dry_run: true, status: "pending", desired_node_count: 3 },
    ]);
    expect((await queuedInLane(db, cluster)).at(-1)).toMatchObject({ payload: { provisioning_job_id: body.id } });
  });

  test.each([
    ["a scale without a number", { action: "scale" }],
    ["a destroy with one", { action: "destroy", desired_node_count: 2 }],
    ["no node at all", { action: "scale", desired_node_count: 0 }],
    ["a creation", { action: "create" }],
    ["an unknown field", { action: "destroy", force: true }],
  ])("[PV9] POST /clusters/{id}/plan refuses %s", async (_, body) => {
    const cluster = await createdCluster();
    expect((await admin.api.post(`/clusters/${cluster}/plan`, body)).status).toBe(422);
    expect(await queuedInLane(db, cluster)).toHaveLength(1);
  });

  test("[PV10] a plan is refused where its change would be refused, and while another plan is made", async () => {
    const own = await registeredCluster(admin.api, org);
    const body = { action: "scale", desired_node_count: 2 };
    expect((await admin.api.post(`/clusters/${own.id}/plan`, body)).status).toBe(409);
    const cluster = await createdCluster();
    const answers = await Promise.all([1, 2].map(() => admin.api.post(`/clusters/${cluster}/plan`, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  });

  test("[PV11] a plan changes neither the cluster's status nor its newest job, and does not block a change of size", async () => {
    const cluster = await createdCluster();
    const before = (await member.api.get(`/clusters/${cluster}`)).body;
    const { body: plan } = await admin.api.post(`/clusters/${cluster}/plan`, { action: "destroy" });
    expect((await member.api.get(`/clusters/${cluster}`)).body).toEqual(before);
    await bringJob(db, plan.id, "failed", { error_message: "No plan." });
    expect((await member.api.get(`/clusters/${cluster}`)).body).toEqual(before);
    await bringJob(db, plan.id, "running");
    expect((await admin.api.post(`/clusters/${cluster}/scale`, { desired_node_count: 2 })).status).toBe(202);
  });

  test("[PV12] a failed plan cannot be retried", async () => {
    const cluster = await createdCluster();
    const { body: plan } = await admin.api.post(`/clusters/${cluster}/plan`, { action: "destroy" });
    await bringJob(db, plan.id, "failed");
    expect(await admin.api.post(`/provisioning-jobs/${plan.id}/retry`)).toMatchObject({
      status: 409,
      body: { detail: "A plan is not retried. Ask for a new one." },
    });
  });
});

describe("GET /provisioning-jobs/{id}/plan", () => {
  test("[PV13] GET /provisioning-jobs/{id}/plan is a 404 until there is a plan, and then tells what changes and what it costs", async () => {
    const { provisioning_job_id: id } = await provisionedCluster(admin.api, org);
    const path = `/provisioning-jobs/${id}/plan`;
    expect(await member.api.get(path)).toMatchObject({ status: 404, body: { detail: "Plan not found." } });
    const plan = {
      planned_at: world.clock.now().toISOString(),
      summary: { add: 1, change: 0, remove: 0 },
      changes: [{ action: "create" as const, address: "aws_vpc.main", type: "aws_vpc", id: null }],
      estimate: {
        monthly: null,
        currency: "USD",
        prices_of: "2026-11-01",
        note: "An estimate.",
        items: [{ name: "t9.huge", count: 1, monthly: null }],
      },
    };
    await db
      .updateTable("provisioning_jobs")
      .set({ plan: JSON.stringify(plan) })
      .where("id", "=", id)
      .execute();
    expect(await member.api.get(path)).toMatchObject({ status: 200, body: { job_id: id, ...plan } });
  });
});

describe("POST /provisioning-jobs/{id}/cancel", () => {
  test("[PV14] a cancellation fails a pending job at once, which can be retried, and announces it [PV17]", async () => {
    const { id: cluster, provisioning_job_id: job } = await provisionedCluster(admin.api, org);
    const announced = nextStatus(world, ({ cluster_id }) => cluster_id === cluster);
    const { status, body } = await admin.api.post(`/provisioning-jobs/${job}/cancel`);
    const now = world.clock.now().toISOString();
    expect([status, body]).toMatchObject([
      202,
      { id: job, status: "failed", error_code: "cancelled", cancel_requested_at: now, finished_at: now },
    ]);
    expect(await announced).toMatchObject({ status: "error", message: expect.stringContaining("cancelled") });
    expect((await admin.api.post(`/provisioning-jobs/${job}/retry`)).body).toMatchObject({
      status: "pending",
      error_code: null,
      cancel_requested_at: null,
    });
  });

  test("[PV41] the deletion of a cluster stops the jobs that make and plan it, and queues its destroy", async () => {
    const { id: cluster, provisioning_job_id: create } = await provisionedCluster(admin.api, org);
    await bringJob(db, create, "running");
    const plan = (await admin.api.post(`/clusters/${cluster}/plan`, { action: "destroy" })).body.id as string;
    const now = world.clock.now().toISOString();
    expect((await admin.api.delete(`/clusters/${cluster}`)).status).toBe(204);
    expect((await admin.api.get(`/provisioning-jobs/${create}`)).body).toMatchObject({
      status: "running",
      cancel_requested_at: now,
    });
    expect((await admin.api.get(`/provisioning-jobs/${plan}`)).body).toMatchObject({
      status: "failed",
      error_code: "cancelled",
      error_message: expect.stringContaining("because the cluster was deleted"),
    });
    const jobs = (await admin.api.get(`/clusters/${cluster}/provisioning-jobs`)).body.data;
    expect(jobs[0]).toMatchObject({ action: "destroy", status: "pending", cancel_requested_at: null });
    // A repeated request leaves the destroy alone.
    expect((await admin.api.delete(`/clusters/${cluster}`)).status).toBe(204);
    expect((await admin.api.get(`/provisioning-jobs/${jobs[0].id}`)).body).toEqual(jobs[0]);
    expect((await admin.api.get(`/clusters/${cluster}`)).body.status).toBe("destroying");
  });

  test("[PV15] a cancellation asks a running job to stop and announces that on the bus; a second one changes nothing", async () => {
    const { provisioning_job_id: job } = await provisionedCluster(admin.api, org);
    await bringJob(db, job, "running");
    const hinted = Promise.withResolvers<unknown>();
    const unsubscribe = world.bus.subscribe(PROVISIONING_TOPIC, hinted.resolve);
    const requested = world.clock.now().toISOString();
    const { body } = await admin.api.post(`/provisioning-jobs/${job}/cancel`);
    expect(body).toMatchObject({ status: "running", cancel_requested_at: requested, finished_at: null });
    expect(await hinted.promise).toEqual({ job_id: job });
    unsubscribe();
    world.clock.advance(1_000);
    const again = await admin.api.post(`/provisioning-jobs/${job}/cancel`);
    expect([again.status, again.body.cancel_requested_at]).toEqual([202, requested]);
    const entries = await db
      .selectFrom("audit_log")
      .select("action")
      .where("action", "=", "provisioning_job.cancel")
      .where("resource_id", "=", job)
      .execute();
    expect(entries).toHaveLength(1);
  });

  test("[PV16] a cancellation is refused once the job has ended, and for members", async () => {
    const { job } = await failedCreation();
    expect((await member.api.post(`/provisioning-jobs/${job}/cancel`)).status).toBe(403);
    expect(await admin.api.post(`/provisioning-jobs/${job}/cancel`)).toMatchObject({
      status: 409,
      body: { detail: "The job has ended already: it has failed." },
    });
  });
});
