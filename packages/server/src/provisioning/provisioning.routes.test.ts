import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  bringJob,
  nextStatus,
  provisionedCluster,
  queuedInLane,
  registeredCluster,
} from "../clusters/clusters.fixture.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";

let world: World;
let db: Queries;
let org: string;
let admin: Person;
let member: Person;
let stranger: Person;

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  db = world.database.kysely;
  org = await world.org();
  admin = await world.person({ org, role: "admin" });
  member = await world.person({ org });
  stranger = await world.person();
});
afterAll(() => world?.stop());

async function failedCreation() {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "failed", { error_message: "No capacity.", phase: "apply", attempts: 1 });
  return { cluster: id as string, job: provisioning_job_id as string };
}

describe("GET /clusters/{id}/provisioning-jobs", () => {
  test("[PV1] lists a cluster's jobs, newest first and in pages", async () => {
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

  test("[PV1] is empty for a bring-your-own cluster", async () => {
    const { id } = await registeredCluster(admin.api, org);
    expect((await member.api.get(`/clusters/${id}/provisioning-jobs`)).body).toMatchObject({
      data: [],
      total_count: 0,
    });
  });
});

describe("GET /provisioning-jobs/{id}", () => {
  test("[PV2] shows the whole record [PV3] to members", async () => {
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
        attempts: 0,
        desired_node_count: 1,
        created_at: now,
        updated_at: now,
        started_at: null,
        finished_at: null,
      },
    ]);
  });

  test("[PV3] is not there for strangers, and says the same of jobs that do not exist", async () => {
    const { job } = await failedCreation();
    for (const path of [`/provisioning-jobs/${job}`, `/provisioning-jobs/${newId()}`]) {
      for (const answer of [
        await stranger.api.get(path),
        await stranger.api.get(`${path}/logs`),
        await stranger.api.post(`${path}/retry`),
      ]) {
        expect(answer).toMatchObject({ status: 404, body: { detail: "Provisioning job not found." } });
      }
    }
    expect((await world.anyone.get(`/provisioning-jobs/${job}`)).status).toBe(401);
    expect((await member.api.get("/provisioning-jobs/x")).status).toBe(422);
  });
});

describe("GET /provisioning-jobs/{id}/logs", () => {
  test("[PV4] is null at first, and then every line in order", async () => {
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
  test("[PV5] queues the same job again, [PV7] in the lane of its cluster", async () => {
    const { cluster, job } = await failedCreation();
    const retried = await admin.api.post(`/provisioning-jobs/${job}/retry`);
    expect(retried).toMatchObject({
      status: 202,
      body: { id: job, status: "pending", phase: "apply", attempts: 1, error_message: null, finished_at: null },
    });
    const queued = { kind: "provisioning", lane: cluster, payload: { provisioning_job_id: job }, status: "pending" };
    expect(await queuedInLane(db, cluster)).toEqual([queued, queued]);
  });

  test("[PV5] is for administrators of the organization", async () => {
    const { job } = await failedCreation();
    expect((await member.api.post(`/provisioning-jobs/${job}/retry`)).status).toBe(403);
    expect((await world.anyone.post(`/provisioning-jobs/${job}/retry`)).status).toBe(401);
  });

  test("[PV6] is refused unless the job has failed, also for the second of two at once", async () => {
    const { provisioning_job_id } = await provisionedCluster(admin.api, org);
    expect(await admin.api.post(`/provisioning-jobs/${provisioning_job_id}/retry`)).toMatchObject({
      status: 409,
      body: { detail: "Only a failed job can be retried; this one is pending." },
    });
    const { job } = await failedCreation();
    const answers = await Promise.all([1, 2, 3].map(() => admin.api.post(`/provisioning-jobs/${job}/retry`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });

  test("[PV6] is refused once the cluster is being destroyed", async () => {
    const { cluster, job } = await failedCreation();
    await admin.api.delete(`/clusters/${cluster}`);
    expect((await admin.api.post(`/provisioning-jobs/${job}/retry`)).status).toBe(409);
  });

  test("[PV8] announces that the cluster is being provisioned again", async () => {
    const { cluster, job } = await failedCreation();
    const announced = nextStatus(world, ({ cluster_id }) => cluster_id === cluster);
    await admin.api.post(`/provisioning-jobs/${job}/retry`);
    expect(await announced).toMatchObject({ status: "provisioning", message: null });
  });
});
