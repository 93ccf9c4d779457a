import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { bringJob, provisionedCluster, queuedInLane, registeredCluster } from "./clusters.fixture.ts";

const VAULT_KEYS = `test:${Buffer.alloc(32, 7).toString("base64")}`;

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_VAULT_KEYS: VAULT_KEYS } });
const db = world.database.kysely;
const { org, admin, member: operator, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

async function createdCluster(): Promise<string> {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
  await bindRole(db, operator.id, "admin", { cluster: id });
  return id;
}

describe("POST /clusters/{id}/scale", () => {
  test("[CL40] POST /clusters/{id}/scale records and queues a job, and answers with it", async () => {
    const id = await createdCluster();
    const scaled = await admin.api.post(`/clusters/${id}/scale`, { desired_node_count: 5 });
    expect(scaled).toMatchObject({
      status: 202,
      body: { cluster_id: id, action: "scale", status: "pending", phase: "init", desired_node_count: 5 },
    });
    expect((await queuedInLane(db, id)).at(-1)).toMatchObject({ payload: { provisioning_job_id: scaled.body.id } });
    expect((await admin.api.get(`/clusters/${id}`)).body.status).toBe("awaiting_operator");
  });

  test.each([
    [{ desired_node_count: 0 }, "greater_than_equal"],
    [{ desired_node_count: 22 }, "less_than_equal"],
    [{ desired_node_count: 2.5 }, "int_type"],
    [{}, "missing"],
  ])("[CL40] POST /clusters/{id}/scale with %j is a 422", async (body, type) => {
    const id = await createdCluster();
    expect(await admin.api.post(`/clusters/${id}/scale`, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "desired_node_count"], type }] },
    });
  });

  test.each([1, 21])("[CL40] POST /clusters/{id}/scale accepts %i nodes", async (desired_node_count) => {
    const id = await createdCluster();
    expect((await admin.api.post(`/clusters/${id}/scale`, { desired_node_count })).status).toBe(202);
  });

  test("[CL437] POST /clusters/{id}/scale asks for the loss of local volumes with `force` alone", async () => {
    const [guarded, forced] = [await createdCluster(), await createdCluster()];
    const body = { desired_node_count: 2 };
    expect(await admin.api.post(`/clusters/${guarded}/scale`, body)).toMatchObject({ body: { force: false } });
    expect(await admin.api.post(`/clusters/${forced}/scale`, { ...body, force: true })).toMatchObject({
      body: { force: true },
    });
  });

  test("[CL40] POST /clusters/{id}/scale is for administrators of the organization", async () => {
    const path = `/clusters/${await createdCluster()}/scale`;
    const body = { desired_node_count: 2 };
    expect((await operator.api.post(path, body)).status).toBe(403);
    expect((await stranger.api.post(path, body)).status).toBe(404);
    expect((await world.anyone.post(path, body)).status).toBe(401);
  });

  test("[CL41] scaling is a 409 on a bring-your-own cluster, and while another job is running", async () => {
    const body = { desired_node_count: 2 };
    const own = await registeredCluster(admin.api, org);
    expect(await admin.api.post(`/clusters/${own.id}/scale`, body)).toMatchObject({
      status: 409,
      body: { detail: "A bring-your-own cluster is not scaled by Binnacle." },
    });
    const id = await createdCluster();
    const answers = await Promise.all([1, 2, 3].map(() => admin.api.post(`/clusters/${id}/scale`, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });
});

describe("POST /clusters/{id}/nodes/{name}/replace", () => {
  async function clusterOf(agents: number): Promise<string> {
    const id = await createdCluster();
    await db.updateTable("clusters").set({ agent_count: agents }).where("id", "=", id).execute();
    return id;
  }

  test("[CL435] POST /clusters/{id}/nodes/{name}/replace records and queues a job for the node, and leaves an audit entry", async () => {
    const id = await clusterOf(2);
    const asked = await admin.api.post(`/clusters/${id}/nodes/agent-2/replace`, { force: true });
    expect(asked).toMatchObject({
      status: 202,
      body: { action: "replace", status: "pending", node: "agent-2", force: true, desired_node_count: 3 },
    });
    expect((await queuedInLane(db, id)).at(-1)).toMatchObject({ payload: { provisioning_job_id: asked.body.id } });
    const { body: log } = await admin.api.get(`/orgs/${org}/audit-log?action=cluster.node_replace`);
    const entries = log.data.filter((entry: { resource: { id: string } }) => entry.resource.id === id);
    expect(entries).toMatchObject([{ changes: { node: "agent-2", force: true } }]);
  });

  test("[CL435] POST /clusters/{id}/nodes/{name}/replace is for administrators of the organization", async () => {
    const path = `/clusters/${await clusterOf(1)}/nodes/agent-1/replace`;
    expect((await operator.api.post(path, {})).status).toBe(403);
    expect((await stranger.api.post(path, {})).status).toBe(404);
    expect((await world.anyone.post(path, {})).status).toBe(401);
  });

  test("[CL436] a node that the cluster does not have is a 404, and the control plane a 409", async () => {
    const id = await clusterOf(1);
    const answerFor = (node: string) => admin.api.post(`/clusters/${id}/nodes/${node}/replace`, {});
    for (const node of ["agent-2", "agent-0", "agent-01", "other"]) {
      expect(await answerFor(node)).toMatchObject({ status: 404, body: { detail: "Node not found." } });
    }
    expect(await answerFor("control-plane")).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("The control plane cannot be replaced") },
    });
    expect((await answerFor("Agent-1")).status).toBe(422);
  });

  test("[CL438] a control plane with snapshots is made anew by a job, which takes force", async () => {
    const id = await clusterOf(1);
    await db.updateTable("clusters").set({ snapshot_bucket: "snapshots" }).where("id", "=", id).execute();
    const ask = (body: object) => admin.api.post(`/clusters/${id}/nodes/control-plane/replace`, body);
    expect(await ask({})).toMatchObject({ status: 409, body: { detail: expect.stringContaining("newest snapshot") } });
    expect(await ask({ force: true })).toMatchObject({
      status: 202,
      body: { action: "replace", node: "control-plane", force: true },
    });
  });
});

describe("GET /clusters/{id}/ssh-key", () => {
  test("[CL42] GET /clusters/{id}/ssh-key gives administrators of the organization the decrypted key", async () => {
    const id = await createdCluster();
    const private_key = "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n-----END OPENSSH PRIVATE KEY-----\n";
    const place = { table: "clusters", row: id, column: "sealed_ssh_key" };
    const sealed_ssh_key = createVault(parseVaultKeys(VAULT_KEYS)).seal(private_key, place);
    await db.updateTable("clusters").set({ sealed_ssh_key }).where("id", "=", id).execute();
    const answer = await admin.api.get(`/clusters/${id}/ssh-key`);
    expect([answer.status, answer.body]).toEqual([200, { private_key }]);
    expect((await operator.api.get(`/clusters/${id}/ssh-key`)).status).toBe(403);
    expect((await stranger.api.get(`/clusters/${id}/ssh-key`)).status).toBe(404);
    expect(JSON.stringify((await admin.api.get(`/clusters/${id}`)).body)).not.toContain("OPENSSH");
  });

  test("[CL42] GET /clusters/{id}/ssh-key is a 404 for a cluster without one", async () => {
    const { id } = await registeredCluster(admin.api, org);
    expect(await admin.api.get(`/clusters/${id}/ssh-key`)).toMatchObject({
      status: 404,
      body: { detail: "SSH key not found." },
    });
  });
});

describe("GET /clusters/{id}/metrics", () => {
  test("[CL43] GET /clusters/{id}/metrics is a 503 without an operator", async () => {
    const { id } = await registeredCluster(admin.api, org);
    for (const query of ["", "?range=1h", "?range=30d", "?range=1m"]) {
      expect((await operator.api.get(`/clusters/${id}/metrics${query}`)).status).toBe(503);
    }
    expect((await stranger.api.get(`/clusters/${id}/metrics`)).status).toBe(404);
  });

  test.each(["1y", "h", "1.5h", "-1h", "", "31d", "59s", "1h "])(
    "[CL43] GET /clusters/{id}/metrics with a range of %j is a 422",
    async (range) => {
      const { id } = await registeredCluster(admin.api, org);
      const refused = await operator.api.get(`/clusters/${id}/metrics?range=${encodeURIComponent(range)}`);
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["query", "range"] }] } });
    },
  );
});
