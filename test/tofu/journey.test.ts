import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { awsProvider } from "../../packages/server/src/cloud/aws/aws.adapter.ts";
import { CLUSTER_TAG } from "../../packages/server/src/cloud/aws/aws.ts";
import { described } from "../../packages/server/src/cloud/aws/aws-inventory.adapter.ts";
import { itemsAt, type Query, queries, textAt } from "../../packages/server/src/cloud/aws/aws-query.adapter.ts";
import { AWS_KEYS } from "../../packages/server/src/clusters/clusters.fixture.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type Client, startWorld, type World } from "../world/world.ts";
import { type Cloud, queryOptions, startCloud } from "./cloud.ts";
import { Machine } from "./machine.ts";
import { requiredTools } from "./tools.ts";
import { moduleForTests, writeMirror } from "./workspace.ts";

const LATER = { timeout: 240_000, interval: 200 };

let cloud: Cloud;
let world: World;
let api: Client;
let query: Query;
let operator: SimulatedOperator | null = null;
const machines: Machine[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "journey-"));
  cloud = await startCloud(folder);
  const { region, access_key_id, secret_access_key } = AWS_KEYS;
  const access = { region, access_key_id, secret_access_key };
  const given = { endpoint: cloud.endpoint, deadlineMs: 60_000, backOffMs: 50 };
  query = queries(access, queryOptions(cloud.endpoint), AbortSignal.timeout(1_800_000));
  const configFile = writeMirror(folder);
  const module = await moduleForTests(folder);
  world = await startWorld({
    provisions: true,
    clouds: { aws: awsProvider({ ...given, module, pollMs: 50 }) },
    env: { BINNACLE_TOFU: requiredTools().tofu, BINNACLE_TOFU_CONFIG_FILE: configFile },
  });
  api = world.admin.api;
});
afterAll(async () => {
  await operator?.stop();
  for (const machine of machines) machine.stop();
  await world?.stop();
  await cloud?.stop();
});

/** Waits for the end of a job, which is to be a success. */
async function succeeded(jobId: string): Promise<void> {
  await vi.waitFor(async () => {
    const { body } = await api.get(`/provisioning-jobs/${jobId}`);
    if (body.status === "failed") return;
    expect(body.status).toBe("succeeded");
  }, LATER);
  expect((await api.get(`/provisioning-jobs/${jobId}`)).body).toMatchObject({ status: "succeeded", progress_pct: 100 });
}

/** The machines of a cluster that run, by their names. */
async function machinesOf(clusterId: string): Promise<Record<string, string>> {
  const filter = { name: `tag:${CLUSTER_TAG}`, values: [clusterId] };
  const machines = (await described(query, "DescribeInstances", "reservationSet", filter))
    .flatMap((reservation) => itemsAt(reservation, "instancesSet"))
    .filter((one) => textAt(one, "instanceState", "name") === "running");
  const addressOf = (one: (typeof machines)[number]) =>
    itemsAt(one, "tagSet").find((tag) => textAt(tag, "key") === "binnacle:address");
  return Object.fromEntries(
    machines.map((one) => [textAt(addressOf(one) ?? {}, "value") ?? "", textAt(one, "instanceId") ?? ""]),
  );
}

interface UserData {
  readonly cluster_id: string;
  readonly node: string;
  readonly token: string;
  readonly report_token: string;
  readonly server: string;
}

/** What a machine finds in its user data when it boots. */
async function userDataOf(machine: string): Promise<UserData> {
  const asked = { InstanceId: machine, Attribute: "userData" };
  const answer = await query("ec2", "DescribeInstanceAttribute", asked);
  const userData = parse(Buffer.from(textAt(answer, "userData", "value") ?? "", "base64").toString());
  return JSON.parse(userData.write_files[0].content);
}

/** Boots a machine of the cloud: a process that runs the script of the module with the user data that EC2 has of it. */
async function boot(id: string): Promise<Machine> {
  const given = await userDataOf(id);
  const machine = new Machine();
  machines.push(machine);
  await machine.start();
  const { status, output } = await machine.boot(given.node, given.server, { ...given, public_url: world.url });
  expect([status, output]).toEqual([0, expect.stringContaining("the node is up")]);
  return machine;
}

const reaches = (jobId: string, facts: object) =>
  vi.waitFor(async () => expect((await api.get(`/provisioning-jobs/${jobId}`)).body).toMatchObject(facts), LATER);

test("[PN87] a cluster on AWS lives from its credential to its end, by the API alone", async () => {
  const orgId = world.demoOrgId;
  const credential = (await api.post(`/orgs/${orgId}/credentials`, { name: "aws", ...AWS_KEYS })).body.id as string;
  expect((await api.post(`/credentials/${credential}/check`)).body).toMatchObject({ error: null });

  const made = await api.post(`/orgs/${orgId}/clusters`, {
    name: "prod",
    provider: "aws",
    credential_id: credential,
    agent_count: 1,
  });
  expect(made.body).toMatchObject({ status: "provisioning" });
  const id = made.body.id as string;
  const job = made.body.provisioning_job_id as string;
  await reaches(job, { status: "running", phase: "bootstrap" });
  expect((await api.get(`/clusters/${id}`)).body).toMatchObject({ status: "provisioning", agent_count: 1 });
  const plan = (await api.get(`/provisioning-jobs/${job}/plan`)).body;
  expect(plan).toMatchObject({ summary: { change: 0, remove: 0 }, estimate: { currency: "USD" } });
  expect((await api.get(`/clusters/${id}/ssh-key`)).body.private_key).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----/);
  const running = await machinesOf(id);
  expect(Object.keys(running).sort()).toEqual(["aws_instance.agent/agent-1", "aws_instance.control_plane"]);

  const server = await boot(running["aws_instance.control_plane"] ?? "");
  await reaches(job, { status: "running", phase: "bootstrap", progress_pct: 87 });
  await boot(running["aws_instance.agent/agent-1"] ?? "");
  await reaches(job, { status: "running", phase: "operator" });
  expect((await api.get(`/clusters/${id}`)).body).toMatchObject({ status: "awaiting_operator" });
  const { cluster_id, node, token, report_token } = await userDataOf(running["aws_instance.control_plane"] ?? "");
  expect((await world.anyone.post("/node-bootstrap", { cluster_id, node, token })).status).toBe(401);
  const { token: sealedToken } = server.json("applied").items[1].data;
  const agentToken = Buffer.from(sealedToken, "base64").toString();
  operator = simulateOperator({ url: world.url, token: agentToken, reports: true });
  await succeeded(job);
  await vi.waitFor(async () => expect((await api.get(`/clusters/${id}`)).body.status).toBe("connected"), LATER);

  expect((await api.get(`/clusters/${id}/bundle`)).body).toMatchObject({ bundle_version: null, profiles: null });

  const asked = { action: "scale", desired_node_count: 1 };
  const preview = (await api.post(`/clusters/${id}/plan`, asked)).body;
  await succeeded(preview.id);
  expect((await api.get(`/provisioning-jobs/${preview.id}/plan`)).body.changes).toMatchObject([
    { action: "delete", address: 'aws_instance.agent["agent-1"]', id: running["aws_instance.agent/agent-1"] },
  ]);
  expect(await machinesOf(id)).toEqual(running);
  await succeeded((await api.post(`/clusters/${id}/scale`, { desired_node_count: 1 })).body.id);
  expect(await machinesOf(id)).toEqual({ "aws_instance.control_plane": running["aws_instance.control_plane"] });

  const secrets = [
    AWS_KEYS.secret_access_key,
    token,
    report_token,
    server.read("etc/rancher/k3s/join-token").trim(),
    server.read("etc/rancher/k3s/agent-token").trim(),
    agentToken,
  ];
  const jobs = (await api.get(`/clusters/${id}/provisioning-jobs`)).body.data as { id: string }[];
  const logs = await Promise.all(jobs.map((job) => api.get(`/provisioning-jobs/${job.id}/logs`)));
  expect(secrets.filter((secret) => JSON.stringify([logs, world.logged]).includes(secret))).toEqual([]);

  expect((await api.delete(`/clusters/${id}`)).status).toBe(204);
  await vi.waitFor(async () => {
    const { status, body } = await api.get(`/clusters/${id}`);
    expect([status, body.message ?? null]).toEqual([404, null]);
  }, LATER);
  expect(await machinesOf(id)).toEqual({});
  expect((await api.delete(`/credentials/${credential}`)).status).toBe(204);
});
