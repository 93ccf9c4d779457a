import { cloudOf, PROVIDERS } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";
import { productVersion } from "../product-version.adapter.ts";
import { AUTHORITY } from "../provisioning/egress.fixture.ts";
import {
  AWS_KEYS,
  nextStatus,
  provisionedCluster,
  queuedInLane,
  registeredCluster,
  storedCredential,
  uniqueName,
} from "./clusters.fixture.ts";

// Without a worker: nothing takes the provisioning jobs that are queued here.
const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_PUBLIC_URL: "https://binnacle.example.com" } });
const db = world.database.kysely;
const { org, admin, member, stranger } = await world.orgWithPeople();
const clusters = `/orgs/${org}/clusters`;
afterAll(() => world.stop());

describe("POST /orgs/{org_id}/clusters, for a cluster of one's own", () => {
  test("[CL5] a bring-your-own cluster is registered as pending, with its token and its install command", async () => {
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
        `--version ${await productVersion()} --namespace binnacle-system --create-namespace ` +
        `--set-string hub.url=wss://binnacle.example.com/hub/v1 --set-string cluster.id=${id} ` +
        `--set-string cluster.token=${connection_token} --set-string image.registry=registry.example.com`,
    );
    expect(await queuedInLane(db, id)).toEqual([]);
  });

  test("[CL8] provisioning fields of a bring-your-own cluster are stored", async () => {
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
  ])("[CL7] a new cluster with %j is a 422", async (fields, field, type) => {
    const refused = await admin.api.post(clusters, { name: uniqueName("bad"), ...fields });
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field], type }] } });
  });

  test("[CL6] POST /orgs/{org_id}/clusters refuses a name that is missing, unprintable, too long or taken", async () => {
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

  test("[CL4] POST /orgs/{org_id}/clusters needs an administrator of the organization", async () => {
    const body = { name: uniqueName("cluster") };
    expect((await world.anyone.post(clusters, body)).status).toBe(401);
    expect((await member.api.post(clusters, body)).status).toBe(403);
    expect((await stranger.api.post(clusters, body)).status).toBe(403);
    expect((await admin.api.post(`/orgs/${newId()}/clusters`, body)).status).toBe(404);
  });

  test("[CL28] a new cluster is announced with its first status", async () => {
    const name = uniqueName("mine");
    const announced = nextStatus(world, ({ resource }) => resource.name === name);
    const { body } = await admin.api.post(clusters, { name });
    expect(await announced).toMatchObject({ org_id: org, cluster_id: body.id, status: "pending", message: null });
  });
});

describe("POST /orgs/{org_id}/clusters, for provisioning", () => {
  test("[CL11] creating a provisioned cluster answers with the job, which is recorded and queued", async () => {
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

  test("[CL12] a provisioned cluster gets the credential's region and the default options", async () => {
    expect(await provisionedCluster(admin.api, org)).toMatchObject({
      region: AWS_KEYS.region,
      instance_type: "t3.large",
      agent_count: 0,
      disk_size_gb: 50,
    });
  });

  test("[CL439] how machines reach the internet is stored with the cluster, shown, and in the audit log", async () => {
    const egress = {
      proxy: "http://proxy.example.com:3128",
      no_proxy: [".example.com"],
      registry_mirrors: [{ registry: "docker.io", endpoints: ["https://mirror.example.com/v2/docker.io"] }],
      k3s_url: "https://mirror.example.com/k3s",
    };
    const { id } = await provisionedCluster(admin.api, org, undefined, { egress });
    expect((await member.api.get(`/clusters/${id}`)).body).toMatchObject({ egress });
    const listed = await admin.api.get(`${clusters}?items_per_page=100`);
    expect(listed.body.data.find((each: { id: string }) => each.id === id)).toMatchObject({ egress });
    const { data } = (await admin.api.get(`/orgs/${org}/audit-log`)).body;
    const entry = data.find((each: { resource: { id: string } }) => each.resource.id === id);
    expect(entry).toMatchObject({ action: "cluster.create", changes: { egress } });
    const plain = await provisionedCluster(admin.api, org);
    expect(plain.egress).toBeNull();
  });

  test("[CL440] a way to the internet that could leave the boot script, or cannot be read, is a 422 and makes nothing", async () => {
    const credential_id = await storedCredential(admin.api, org);
    const body = { name: uniqueName("x"), provider: "aws", credential_id };
    const before = (await admin.api.get(clusters)).body.total_count;
    for (const [egress, ...field] of [
      [{ proxy: "http://proxy.example.com/$(reboot)" }, "proxy"],
      [{ proxy: "http://proxy.example.com", no_proxy: ["a\nb: c"] }, "no_proxy", 0],
      [{ k3s_url: "https://a'" }, "k3s_url"],
      [{ registry_mirrors: [{ registry: "&a", endpoints: ["https://a"] }] }, "registry_mirrors", 0, "registry"],
      [{ ca_certificates: AUTHORITY.replace("MII", "AAA") }, "ca_certificates"],
    ] as const) {
      const refused = await admin.api.post(clusters, { ...body, egress });
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "egress", ...field] }] } });
    }
    expect((await admin.api.get(clusters)).body.total_count).toBe(before);
  });

  test("[CL441] a proxy with a password is a 422 that says why and does not repeat it", async () => {
    const credential_id = await storedCredential(admin.api, org);
    const egress = { proxy: "http://user:hunter22@proxy.example.com:3128" };
    const refused = await admin.api.post(clusters, { name: uniqueName("x"), provider: "aws", credential_id, egress });
    expect(refused).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "egress", "proxy"], msg: expect.stringContaining("everything on a machine") }] },
    });
    expect(JSON.stringify(refused.body)).not.toContain("hunter22");
  });

  test("[CL442] a cluster of one's own takes no way to the internet, because Binnacle does not make its machines", async () => {
    const egress = { proxy: "http://proxy.example.com:3128" };
    expect(await admin.api.post(clusters, { name: uniqueName("mine"), egress })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "provider"], type: "missing" }] },
    });
  });

  test("[CL9] creating a provisioned cluster needs both the provider and the credential", async () => {
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

  test.each(PROVIDERS.filter((provider) => !cloudOf(provider)))(
    "[CL10] creating a cluster on %s is a 422 that says coming soon",
    async (provider) => {
      const body = { name: uniqueName("x"), provider, credential_id: newId() };
      const refused = await admin.api.post(clusters, body);
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "provider"] }] } });
      expect(refused.body.detail[0].msg).toContain("coming soon");
    },
  );

  test("[CL434] creating a provisioned cluster without an image of the operator is a 422 that says what to set", async () => {
    const bare = await startWorld({ beside: world, env: { BINNACLE_ROLES: "api", BINNACLE_IMAGE_REGISTRY: "" } });
    try {
      const people = await bare.orgWithPeople();
      const credential_id = await storedCredential(people.admin.api, people.org);
      const path = `/orgs/${people.org}/clusters`;
      const refused = await people.admin.api.post(path, { name: uniqueName("x"), provider: "aws", credential_id });
      expect(refused).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "provider"], msg: expect.stringContaining("BINNACLE_IMAGE_REGISTRY") }] },
      });
      expect((await people.admin.api.get(path)).body.data).toEqual([]);
      // A cluster that exists already can be given the image by hand.
      expect((await people.admin.api.post(path, { name: uniqueName("mine") })).status).toBe(201);
    } finally {
      await bare.stop();
    }
  });

  test("[CL13] a provisioned cluster needs a credential of its organization, and one for the provider", async () => {
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
