import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole, insertProject } from "../access/bindings.fixture.ts";
import { newId } from "../id.adapter.ts";
import {
  bringJob,
  connectOperator,
  nextStatus,
  provisionedCluster,
  queuedInLane,
  registeredCluster,
  uniqueName,
} from "./clusters.fixture.ts";

// Without a worker: nothing takes the provisioning jobs that are queued here.
const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_PUBLIC_URL: "https://binnacle.example.com" } });
const db = world.database.kysely;
const { org, admin, member, stranger } = await world.orgWithPeople();
const clusters = `/orgs/${org}/clusters`;
afterAll(() => world.stop());

async function cliToken(owner: Person, scope: string): Promise<Client> {
  const { body } = await owner.api.post("/cli-tokens", { name: scope, scopes: [scope] });
  return world.anyone.with({ authorization: `Bearer ${body.token}` });
}

describe("reading clusters", () => {
  test("[CL1] GET /orgs/{org_id}/clusters lists the clusters newest first, in pages", async () => {
    const own = await world.org();
    const reader = await world.person({ org: own });
    const [older, newer] = [
      await registeredCluster(world.admin.api, own),
      await provisionedCluster(world.admin.api, own),
    ];
    const { status, body } = await reader.api.get(`/orgs/${own}/clusters`);
    expect([status, body.total_count, body.has_more]).toEqual([200, 2, false]);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([newer.id, older.id]);
    expect(body.data.map((cluster: { status: string }) => cluster.status)).toEqual(["provisioning", "pending"]);
    expect(JSON.stringify(body)).not.toContain("token");
    expect((await reader.api.get(`/orgs/${own}/clusters?page=2&items_per_page=1`)).body).toMatchObject({
      data: [{ id: older.id }],
      total_count: 2,
    });
    expect((await stranger.api.get(`/orgs/${own}/clusters`)).status).toBe(403);
  });

  test("[CL2] GET /clusters/{id} shows a cluster to the members of its organization, and to nobody else", async () => {
    const { id, name } = await registeredCluster(admin.api, org);
    const now = world.clock.now().toISOString();
    expect(await member.api.get(`/clusters/${id}`)).toMatchObject({ status: 200 });
    expect((await member.api.get(`/clusters/${id}`)).body).toEqual({
      id,
      org_id: org,
      name,
      description: null,
      status: "pending",
      current_stage: null,
      message: null,
      provider: null,
      credential_id: null,
      region: null,
      instance_type: null,
      agent_count: null,
      disk_size_gb: null,
      egress: null,
      node_count: null,
      operator_version: null,
      operator_skew: null,
      operator_self_upgrade: false,
      operator_upgrade: null,
      suspended: null,
      kubernetes_version: null,
      last_heartbeat: null,
      observed_at: null,
      stale: true,
      metrics: null,
      created_at: now,
      updated_at: now,
    });
    expect((await world.anyone.get(`/clusters/${id}`)).status).toBe(401);
    expect(await stranger.api.get(`/clusters/${id}`)).toMatchObject({
      status: 404,
      body: { detail: "Cluster not found." },
    });
    expect((await admin.api.get(`/clusters/${newId()}`)).status).toBe(404);
  });

  test("[CL3] GET /clusters/{id} shows the capacity that the operator last reported", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const heartbeat = world.clock.now();
    const capacity = { cpu_cores: 12.5, memory_bytes: 51_539_607_552, pods: 330 };
    await db
      .updateTable("clusters")
      .set({ capacity: JSON.stringify(capacity), node_count: 3, last_heartbeat: heartbeat, operator_version: "0.1.0" })
      .where("id", "=", id)
      .execute();
    expect((await member.api.get(`/clusters/${id}`)).body).toMatchObject({
      metrics: capacity,
      node_count: 3,
      operator_version: "0.1.0",
      last_heartbeat: heartbeat.toISOString(),
    });
  });

  test("[CL23] the status of a cluster follows the lease of its session, without anything being written", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await connectOperator(db, id, world.clock.now(), 60_000);
    expect((await member.api.get(`/clusters/${id}`)).body.status).toBe("connected");
    world.clock.advance(60_000);
    expect((await member.api.get(`/clusters/${id}`)).body.status).toBe("disconnected");
  });

  test("[CL26] a cluster whose job failed has the status error with the message of the newest job", async () => {
    const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
    await bringJob(db, provisioning_job_id, "failed", { error_message: "No capacity." });
    for (const path of [`/clusters/${id}`, clusters]) {
      const { body } = await member.api.get(path);
      const cluster = body.data?.find((each: { id: string }) => each.id === id) ?? body;
      expect(cluster).toMatchObject({ status: "error", message: "No capacity." });
    }
  });

  test("[CL19] /clusters/{id}/config does not exist", async () => {
    const { id } = await registeredCluster(admin.api, org);
    expect(await admin.api.get(`/clusters/${id}/config`)).toMatchObject({ status: 404, body: { detail: "Not Found" } });
    expect((await admin.api.put(`/clusters/${id}/config`, {})).status).toBe(404);
  });

  test("[CL18] CLI tokens with either cluster scope read clusters, and only clusters:register registers them", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const [reading, registering] = [await cliToken(admin, "clusters:read"), await cliToken(admin, "clusters:register")];
    for (const token of [reading, registering]) {
      for (const path of [clusters, `/clusters/${id}`, `/clusters/${id}/install-instructions`]) {
        expect((await token.get(path)).status).toBe(200);
      }
    }
    expect((await registering.post(clusters, { name: uniqueName("cli") })).status).toBe(201);
    expect((await reading.post(clusters, { name: uniqueName("cli") })).status).toBe(403);
    expect((await registering.patch(`/clusters/${id}`, { name: uniqueName("cli") })).status).toBe(403);
    expect((await registering.delete(`/clusters/${id}`)).status).toBe(403);
  });
});

describe("PATCH /clusters/{id}", () => {
  test("[CL14] PATCH /clusters/{id} changes the given fields and keeps the others", async () => {
    const { id, name } = await registeredCluster(admin.api, org);
    const operator = await world.person({ org });
    await bindRole(db, operator.id, "admin", { cluster: id });
    world.clock.advance(1000);
    const described = await operator.api.patch(`/clusters/${id}`, { description: "Ours." });
    expect(described).toMatchObject({ status: 200, body: { id, name, description: "Ours." } });
    expect(described.body.updated_at).toBe(world.clock.now().toISOString());
    const renamed = uniqueName("renamed");
    expect((await operator.api.patch(`/clusters/${id}`, { name: renamed })).body).toMatchObject({
      name: renamed,
      description: "Ours.",
    });
    expect((await operator.api.patch(`/clusters/${id}`, { description: null })).body.description).toBeNull();
  });

  test("[CL14] PATCH /clusters/{id} is for administrators of the cluster", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const editor = await world.person({ org });
    await bindRole(db, editor.id, "editor", { cluster: id });
    expect((await editor.api.patch(`/clusters/${id}`, { name: "x" })).status).toBe(403);
    expect((await member.api.patch(`/clusters/${id}`, { name: "x" })).status).toBe(403);
    expect((await stranger.api.patch(`/clusters/${id}`, { name: "x" })).status).toBe(404);
  });

  test("[CL6] [CL7] PATCH /clusters/{id} refuses the name of another cluster, and unknown fields", async () => {
    const [one, other] = [await registeredCluster(admin.api, org), await registeredCluster(admin.api, org)];
    expect((await admin.api.patch(`/clusters/${one.id}`, { name: other.name })).status).toBe(409);
    expect(await admin.api.patch(`/clusters/${one.id}`, { region: "x" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "region"], type: "extra_forbidden" }] },
    });
  });
});

describe("DELETE /clusters/{id}", () => {
  test("[CL16] DELETE /clusters/{id} deletes a bring-your-own cluster at once", async () => {
    const { id } = await registeredCluster(admin.api, org);
    await connectOperator(db, id, world.clock.now());
    expect((await admin.api.delete(`/clusters/${id}`)).status).toBe(204);
    expect((await admin.api.get(`/clusters/${id}`)).status).toBe(404);
    expect((await admin.api.delete(`/clusters/${id}`)).status).toBe(404);
  });

  test("[CL15] DELETE /clusters/{id} is a 409 while projects exist, and names them", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const project = await insertProject(db, org, id);
    const refused = await admin.api.delete(`/clusters/${id}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: `The cluster still has projects: project-${project}. Delete them first.` },
    });
    expect((await admin.api.get(`/clusters/${id}`)).status).toBe(200);
  });

  test("[CL15] DELETE /clusters/{id} is for administrators of the organization", async () => {
    const { id } = await registeredCluster(admin.api, org);
    const operator = await world.person({ org });
    await bindRole(db, operator.id, "admin", { cluster: id });
    expect((await operator.api.delete(`/clusters/${id}`)).status).toBe(403);
    expect((await stranger.api.delete(`/clusters/${id}`)).status).toBe(404);
    expect((await world.anyone.delete(`/clusters/${id}`)).status).toBe(401);
  });

  test("[CL17] DELETE /clusters/{id} has the infrastructure of a provisioned cluster destroyed", async () => {
    const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
    await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
    const announced = nextStatus(world, ({ cluster_id, status }) => cluster_id === id && status === "destroying");
    expect((await admin.api.delete(`/clusters/${id}`)).status).toBe(204);
    await announced;
    expect((await member.api.get(`/clusters/${id}`)).body).toMatchObject({ status: "destroying", message: null });
    const jobs = (await admin.api.get(`/clusters/${id}/provisioning-jobs`)).body.data;
    expect(jobs).toMatchObject([{ action: "destroy", status: "pending" }, { action: "create" }]);
    expect((await queuedInLane(db, id)).map(({ payload }) => payload)).toEqual([
      { provisioning_job_id },
      { provisioning_job_id: jobs[0].id },
    ]);
  });

  test("[CL17] [AL44] deleting a cluster again leaves a running destruction alone, and retries one that failed", async () => {
    const { id } = await provisionedCluster(admin.api, org);
    const deletionsOnRecord = async () =>
      (
        await db
          .selectFrom("audit_log")
          .select("id")
          .where("action", "=", "cluster.delete")
          .where("resource_id", "=", id)
          .execute()
      ).length;
    await admin.api.delete(`/clusters/${id}`);
    expect((await admin.api.delete(`/clusters/${id}`)).status).toBe(204);
    expect(await queuedInLane(db, id)).toHaveLength(2);
    expect(await deletionsOnRecord()).toBe(1);

    const [{ id: destruction }] = (await admin.api.get(`/clusters/${id}/provisioning-jobs`)).body.data;
    await bringJob(db, destruction, "failed", { error_message: "A volume is in use." });
    expect((await admin.api.get(`/clusters/${id}`)).body).toMatchObject({
      status: "error",
      message: "A volume is in use.",
    });
    expect((await admin.api.delete(`/clusters/${id}`)).status).toBe(204);
    expect((await admin.api.get(`/clusters/${id}`)).body.status).toBe("destroying");
    expect((await admin.api.get(`/clusters/${id}/provisioning-jobs`)).body.total_count).toBe(2);
    expect(await queuedInLane(db, id)).toHaveLength(3);
    expect(await deletionsOnRecord()).toBe(2);
  });
});
