import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import {
  AWS_KEYS,
  nextStatus,
  provisionedCluster,
  queuedInLane,
  registeredCluster,
  storedCredential,
  uniqueName,
} from "./clusters.fixture.ts";

let world: World;
let db: Queries;
let org: string;
let admin: Person;
let member: Person;
let stranger: Person;
let clusters: string;

beforeAll(async () => {
  // Without a worker: nothing takes the provisioning jobs that are queued here.
  world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_PUBLIC_URL: "https://binnacle.example.com" } });
  db = world.database.kysely;
  org = await world.org();
  admin = await world.person({ org, role: "admin" });
  member = await world.person({ org });
  stranger = await world.person();
  clusters = `/orgs/${org}/clusters`;
});
afterAll(() => world?.stop());

describe("POST /orgs/{org_id}/clusters, for a cluster of one's own", () => {
  test("[CL5] registers it as pending, with its token and its install command", async () => {
    const name = uniqueName("mine");
    const created = await admin.api.post(clusters, { name, description: "In the cellar." });
    expect(created).toMatchObject({
      status: 201,
      body: { name, description: "In the cellar.", status: "pending", provisioning_job_id: null, provider: null },
    });
    const { id, connection_token, install_command } = created.body;
    expect(connection_token.split(".")).toHaveLength(3);
    expect(install_command).toBe(
      "helm upgrade --install binnacle-operator binnacle-operator --repo https://binnacle.example.com/charts " +
        "--version 0.1.0 --namespace binnacle-system --create-namespace " +
        `--set-string hub.url=wss://binnacle.example.com/hub/v1 --set-string cluster.id=${id} ` +
        `--set-string cluster.token=${connection_token}`,
    );
    expect(await queuedInLane(db, id)).toEqual([]);
  });

  test("[CL8] keeps provisioning fields", async () => {
    const options = { region: "eu-west-1", instance_type: "m7i.large", agent_count: 20, disk_size_gb: 500 };
    const { body } = await admin.api.post(clusters, { name: uniqueName("mine"), ...options });
    expect(body).toMatchObject({ status: "pending", ...options });
  });

  test.each([
    [{ agent_count: -1 }, "agent_count", "greater_than_equal"],
    [{ agent_count: 21 }, "agent_count", "less_than_equal"],
    [{ disk_size_gb: 9 }, "disk_size_gb", "greater_than_equal"],
    [{ disk_size_gb: 501 }, "disk_size_gb", "less_than_equal"],
    [{ agent_count: "2" }, "agent_count", "int_type"],
    [{ provider: "manual", credential_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11" }, "provider", "enum"],
    [{ credential_id: "x", provider: "aws" }, "credential_id", "uuid_parsing"],
    [{ kubernetes_version: "1.34" }, "kubernetes_version", "extra_forbidden"],
  ])("[CL7] refuses %j", async (fields, field, type) => {
    const refused = await admin.api.post(clusters, { name: uniqueName("bad"), ...fields });
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field], type }] } });
  });

  test("[CL6] refuses a name that is missing, unprintable, too long or taken", async () => {
    const { name } = await registeredCluster(admin.api, org);
    expect(await admin.api.post(clusters, { name })).toMatchObject({
      status: 409,
      body: { detail: "A cluster with this name already exists." },
    });
    for (const bad of [{}, { name: "" }, { name: "a\nb" }, { name: "x".repeat(101) }]) {
      expect((await admin.api.post(clusters, bad)).status).toBe(422);
    }
    const elsewhere = await world.org();
    expect((await world.admin.api.post(`/orgs/${elsewhere}/clusters`, { name })).status).toBe(201);
  });

  test("[CL4] is an administrator's", async () => {
    const body = { name: uniqueName("cluster") };
    expect((await world.anyone.post(clusters, body)).status).toBe(401);
    expect((await member.api.post(clusters, body)).status).toBe(403);
    expect((await stranger.api.post(clusters, body)).status).toBe(403);
    expect((await admin.api.post(`/orgs/${newId()}/clusters`, body)).status).toBe(404);
  });

  test("[CL28] announces the first status", async () => {
    const name = uniqueName("mine");
    const announced = nextStatus(world, ({ resource }) => resource.name === name);
    const { body } = await admin.api.post(clusters, { name });
    expect(await announced).toMatchObject({ org_id: org, cluster_id: body.id, status: "pending", message: null });
  });
});

describe("POST /orgs/{org_id}/clusters, for provisioning", () => {
  test("[CL11] answers with the job, which is recorded and queued", async () => {
    const credential_id = await storedCredential(admin.api, org);
    const body = { name: uniqueName("cloud"), provider: "aws", credential_id, agent_count: 2 };
    const created = await admin.api.post(clusters, body);
    expect(created).toMatchObject({
      status: 201,
      body: { status: "provisioning", connection_token: null, install_command: null, provider: "aws", credential_id },
    });
    const { id, provisioning_job_id } = created.body;
    expect((await admin.api.get(`/provisioning-jobs/${provisioning_job_id}`)).body).toMatchObject({
      cluster_id: id,
      credential_id,
      action: "create",
      status: "pending",
      phase: "init",
      desired_node_count: 3,
    });
    expect(await queuedInLane(db, id)).toEqual([
      { kind: "provisioning", lane: id, payload: { provisioning_job_id }, status: "pending" },
    ]);
  });

  test("[CL12] takes the credential's region and the defaults", async () => {
    expect(await provisionedCluster(admin.api, org)).toMatchObject({
      region: AWS_KEYS.region,
      instance_type: "t3.large",
      agent_count: 0,
      disk_size_gb: 50,
    });
  });

  test("[CL9] needs both the provider and the credential", async () => {
    const credential_id = await storedCredential(admin.api, org);
    expect(await admin.api.post(clusters, { name: uniqueName("x"), provider: "aws" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "credential_id"], type: "missing" }] },
    });
    expect(await admin.api.post(clusters, { name: uniqueName("x"), credential_id })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "provider"], type: "missing" }] },
    });
  });

  test.each(["gcp", "azure", "do", "metal", "ssh"])("[CL10] on %s is coming soon", async (provider) => {
    const body = { name: uniqueName("x"), provider, credential_id: newId() };
    const refused = await admin.api.post(clusters, body);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "provider"] }] } });
    expect(refused.body.detail[0].msg).toContain("coming soon");
  });

  test("[CL13] needs a credential of the organization, and one for the provider", async () => {
    const foreign = await storedCredential(world.admin.api, await world.org());
    for (const credential_id of [newId(), foreign]) {
      const refused = await admin.api.post(clusters, { name: uniqueName("x"), provider: "aws", credential_id });
      expect(refused).toMatchObject({ status: 404, body: { detail: "Credential not found." } });
    }
    const google = await admin.api.post(`/orgs/${org}/credentials`, { name: uniqueName("gcp"), provider: "gcp" });
    const body = { name: uniqueName("x"), provider: "aws", credential_id: google.body.id };
    expect(await admin.api.post(clusters, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "credential_id"], type: "value_error" }] },
    });
  });
});
