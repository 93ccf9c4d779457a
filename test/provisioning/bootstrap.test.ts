import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { CloudProvider, WantedCluster } from "../../packages/server/src/cloud/provider.ts";
import { provisionedCluster } from "../../packages/server/src/clusters/clusters.fixture.ts";
import { AUTHORITY } from "../../packages/server/src/provisioning/egress.fixture.ts";
import { Machine } from "../tofu/machine.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type Client, startWorld, type World } from "../world/world.ts";
import { localCloud, localProvider } from "./local-provider.ts";
import { tofuForTests } from "./stage.ts";

const SOON = { timeout: 120_000, interval: 100 };
const program = tofuForTests();

let world: World;
let api: Client;
let operator: SimulatedOperator | null = null;
const machines: Machine[] = [];
/** What the worker has put into the user data of the machines, by cluster. */
const wantedOf = new Map<string, WantedCluster>();

beforeAll(async () => {
  const local = localProvider({ folder: (await localCloud()).folder });
  const variables: CloudProvider["variables"] = (wanted) => {
    wantedOf.set(wanted.id, wanted);
    return local.variables(wanted);
  };
  const clouds = { aws: { ...local, variables } };
  world = await startWorld({ provisions: true, clouds, env: { BINNACLE_TOFU: program ?? "" } });
  api = world.admin.api;
});
afterAll(() => world?.stop());
afterEach(async () => {
  await operator?.stop();
  operator = null;
  for (const machine of machines.splice(0)) machine.stop();
});

/** Boots a machine with the tokens that the worker gave it: the script is the one that the module ships. */
async function boot(clusterId: string, node: string, prepare: (machine: Machine) => void = () => undefined) {
  const wanted = wantedOf.get(clusterId);
  const machine = new Machine();
  machines.push(machine);
  await machine.start();
  prepare(machine);
  const { status } = await machine.boot(node, node === "control-plane" ? "" : "https://10.64.0.10:6443", {
    public_url: world.url,
    cluster_id: clusterId,
    token: wanted?.nodeTokens[node],
    report_token: wanted?.reportTokens[node],
  });
  return { machine, status };
}

const jobOf = async (id: string) => (await api.get(`/provisioning-jobs/${id}`)).body;
const reaches = (id: string, facts: object) =>
  vi.waitFor(async () => expect(await jobOf(id)).toMatchObject(facts), SOON);
const statusOf = async (id: string) => (await api.get(`/clusters/${id}`)).body.status;

describe.skipIf(!program)("a machine that boots", () => {
  test("[PN145] a machine reports to its job until it is a node, and the job ends when its operator has connected", async () => {
    const { id, provisioning_job_id: job } = await provisionedCluster(api, await world.org());
    await reaches(job, { phase: "bootstrap", progress_pct: 80 });
    expect(await statusOf(id)).toBe("provisioning");

    const { machine, status } = await boot(id, "control-plane");
    expect(status).toBe(0);
    await reaches(job, { status: "running", phase: "operator", progress_pct: 95 });
    expect(await statusOf(id)).toBe("awaiting_operator");

    const secret = machine.json("applied").items.find(({ kind }: { kind: string }) => kind === "Secret");
    const token = Buffer.from(secret.data.token, "base64").toString();
    operator = simulateOperator({ url: world.url, token, reports: true });
    await reaches(job, { status: "succeeded", phase: "done", progress_pct: 100 });
    await vi.waitFor(async () => expect(await statusOf(id)).toBe("connected"), SOON);

    const { logs } = (await api.get(`/provisioning-jobs/${job}/logs`)).body;
    expect(logs).toMatch(
      /Apply complete![\s\S]*\[control-plane\] .* configure k3s\n[\s\S]*\[control-plane\] .* the node is up\n/,
    );
    const wanted = wantedOf.get(id);
    const secrets = [token, ...Object.values({ ...wanted?.nodeTokens }), ...Object.values({ ...wanted?.reportTokens })];
    expect(secrets.filter((secret) => logs.includes(secret))).toEqual([]);
  });

  test("[CL439] the machines of a cluster, and those that are added later, have the way to the internet that it was made with", async () => {
    const egress = {
      proxy: "http://proxy.example.com:3128",
      no_proxy: ["binnacle.example.com"],
      registry_mirrors: [{ registry: "docker.io", endpoints: ["https://mirror.example.com/v2/docker.io"] }],
      ca_certificates: AUTHORITY,
      k3s_images_sha256: { x86_64: "0".repeat(64) },
    };
    const made = await provisionedCluster(api, await world.org(), undefined, { egress });
    const { id, provisioning_job_id: job } = made;
    await reaches(job, { phase: "bootstrap" });
    const expected = { egress, kubernetes: { images: egress.k3s_images_sha256 } };
    expect(wantedOf.get(id)).toMatchObject(expected);
    const server = await boot(id, "control-plane");
    const chart = server.machine.json("var/lib/rancher/k3s/server/manifests/binnacle-operator.yaml");
    expect(JSON.parse(chart.spec.valuesContent).hub).toMatchObject({ proxy: egress.proxy });
    const secret = server.machine.json("applied").items.find(({ kind }: { kind: string }) => kind === "Secret");
    const token = Buffer.from(secret.data.token, "base64").toString();
    operator = simulateOperator({ url: world.url, token, reports: true });
    await reaches(job, { status: "succeeded" });

    wantedOf.delete(id);
    const scaled = await api.post(`/clusters/${id}/scale`, { desired_node_count: 2 });
    await reaches(scaled.body.id, { phase: "bootstrap" });
    expect(wantedOf.get(id)).toMatchObject(expected);
    const agent = await boot(id, "agent-1");
    for (const { machine } of [server, agent]) {
      expect(machine.json("etc/rancher/k3s/registries.yaml")).toEqual({
        mirrors: { "docker.io": { endpoint: ["https://mirror.example.com/v2/docker.io"] } },
      });
      expect(machine.read("usr/local/share/ca-certificates/binnacle.crt").trim()).toBe(AUTHORITY.trim());
    }
    await reaches(scaled.body.id, { status: "succeeded" });
  });

  test("[PN145] a machine that fails is reported with its cause and its journal, and after a retry another one boots", async () => {
    const { id, provisioning_job_id: job } = await provisionedCluster(api, await world.org());
    await reaches(job, { phase: "bootstrap" });
    const broken = await boot(id, "control-plane", ({ write }) => {
      write("broken", "");
      write("journal", "the port 6443 is taken\n");
    });
    expect(broken.status).toBe(1);
    await reaches(job, { status: "failed", phase: "bootstrap", error_code: "bootstrap_failed" });
    expect((await jobOf(job)).error_message).toContain("control-plane failed at starting k3s: k3s did not start");
    expect(await statusOf(id)).toBe("error");
    const { logs } = (await api.get(`/provisioning-jobs/${job}/logs`)).body;
    expect(logs).toContain("[control-plane] the port 6443 is taken\n");

    expect((await api.post(`/provisioning-jobs/${job}/retry`)).status).toBe(202);
    await reaches(job, { status: "running", phase: "bootstrap", attempts: 2 });
    expect((await boot(id, "control-plane")).status).toBe(0);
    await reaches(job, { status: "running", phase: "operator" });
  });
});
