import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import type { Queries } from "../database/transaction.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { bringJob, provisionedCluster, queuedInLane, registeredCluster } from "./clusters.fixture.ts";

const VAULT_KEYS = `test:${Buffer.alloc(32, 7).toString("base64")}`;

let world: World;
let db: Queries;
let org: string;
let admin: Person;
let operator: Person;
let stranger: Person;

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_VAULT_KEYS: VAULT_KEYS } });
  db = world.database.kysely;
  org = await world.org();
  admin = await world.person({ org, role: "admin" });
  operator = await world.person({ org });
  stranger = await world.person();
});
afterAll(() => world?.stop());

async function createdCluster(): Promise<string> {
  const { id, provisioning_job_id } = await provisionedCluster(admin.api, org);
  await bringJob(db, provisioning_job_id, "succeeded", { phase: "done" });
  await bindRole(db, operator.id, "admin", { cluster: id });
  return id;
}

describe("POST /clusters/{id}/scale", () => {
  test("[CL40] records and queues a job, and answers with it", async () => {
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
  ])("[CL40] refuses %j", async (body, type) => {
    const id = await createdCluster();
    expect(await admin.api.post(`/clusters/${id}/scale`, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "desired_node_count"], type }] },
    });
  });

  test.each([1, 21])("[CL40] takes %i", async (desired_node_count) => {
    const id = await createdCluster();
    expect((await admin.api.post(`/clusters/${id}/scale`, { desired_node_count })).status).toBe(202);
  });

  test("[CL40] is for administrators of the organization", async () => {
    const path = `/clusters/${await createdCluster()}/scale`;
    const body = { desired_node_count: 2 };
    expect((await operator.api.post(path, body)).status).toBe(403);
    expect((await stranger.api.post(path, body)).status).toBe(404);
    expect((await world.anyone.post(path, body)).status).toBe(401);
  });

  test("[CL41] is refused for a bring-your-own cluster, and while something else is under way", async () => {
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

describe("GET /clusters/{id}/ssh-key", () => {
  test("[CL42] opens the sealed key for administrators of the organization", async () => {
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

  test("[CL42] is not there where none was made", async () => {
    const { id } = await registeredCluster(admin.api, org);
    expect(await admin.api.get(`/clusters/${id}/ssh-key`)).toMatchObject({
      status: 404,
      body: { detail: "SSH key not found." },
    });
  });
});

describe("GET /clusters/{id}/metrics", () => {
  test("[CL43] is unavailable while there is nobody to ask", async () => {
    const { id } = await registeredCluster(admin.api, org);
    for (const query of ["", "?range=1h", "?range=30d", "?range=1m"]) {
      expect((await operator.api.get(`/clusters/${id}/metrics${query}`)).status).toBe(503);
    }
    expect((await stranger.api.get(`/clusters/${id}/metrics`)).status).toBe(404);
  });

  test.each(["1y", "h", "1.5h", "-1h", "", "31d", "59s", "1h "])("[CL43] refuses a range of %j", async (range) => {
    const { id } = await registeredCluster(admin.api, org);
    const refused = await operator.api.get(`/clusters/${id}/metrics?range=${encodeURIComponent(range)}`);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["query", "range"] }] } });
  });
});
