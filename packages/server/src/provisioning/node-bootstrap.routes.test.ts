import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import {
  AGENT_JOIN_TOKEN,
  bootingNode,
  JOIN_TOKEN,
  nodeTokenOf,
  provisionedCluster,
} from "../clusters/clusters.fixture.ts";
import { AUTHORITY } from "./egress.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api,hub", BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
const { org, admin } = await world.orgWithPeople();
afterAll(() => world.stop());

const newCluster = async (): Promise<string> => (await provisionedCluster(admin.api, org)).id;

/** Each test has an address of its own, so that the attempts of one do not count in another. */
let addresses = 0;
const newAddress = () => `203.0.113.${++addresses}`;
const bootstrap = (body: object, address = newAddress()) =>
  world.anyone.with({ "x-forwarded-for": address }).post("/node-bootstrap", body);

const NOTHING_ELSE = { agent_token: null, ca_certificates: null, registries: null, operator: null };
const REFUSED = { status: 401, body: { detail: "invalid node token" } };

describe("POST /node-bootstrap", () => {
  test("[PV30] POST /node-bootstrap gives an agent the join token of agents and nothing else, and is not cached", async () => {
    const cluster = await newCluster();
    const answer = await bootstrap(await nodeTokenOf(world, cluster, "agent-1"));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...NOTHING_ELSE, join_token: AGENT_JOIN_TOKEN });
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("[PV30] POST /node-bootstrap gives an agent of a cluster that has one join token that one", async () => {
    const cluster = await newCluster();
    const body = await nodeTokenOf(world, cluster, "agent-1");
    const { kysely: db } = world.database;
    await db.updateTable("clusters").set({ sealed_agent_token: null }).where("id", "=", cluster).execute();
    expect((await bootstrap(body)).body).toEqual({ ...NOTHING_ELSE, join_token: JOIN_TOKEN });
  });

  test("[PV98] POST /node-bootstrap gives the token of the server to the control plane alone, beside that of agents", async () => {
    const cluster = await newCluster();
    const { body } = await bootstrap(await nodeTokenOf(world, cluster, "control-plane"));
    expect(body).toMatchObject({ join_token: JOIN_TOKEN, agent_token: AGENT_JOIN_TOKEN });
    const agent = await bootstrap(await nodeTokenOf(world, cluster, "agent-1"));
    expect(JSON.stringify(agent.body)).not.toContain(JOIN_TOKEN);
  });

  test("[PV31] POST /node-bootstrap gives the control plane an operator's token of the next version", async () => {
    const cluster = await newCluster();
    const { body } = await bootstrap(await nodeTokenOf(world, cluster, "control-plane"));
    expect(body.operator).toEqual({
      image: { registry: "registry.example.com" },
      chart_url: expect.stringMatching(/^http.*\/charts\/binnacle-operator-.*\.tgz$/),
      hub_url: expect.stringMatching(/^ws.*\/hub\/v1$/),
      hub_proxy: null,
      cluster_id: cluster,
      token: expect.stringMatching(/^ey/),
      namespace: "binnacle-system",
    });
    const later = await admin.api.post(`/clusters/${cluster}/agent-credentials`);
    expect(later.body.agent_jwt.token_version).toBe(2);
  });

  test("[PV103] POST /node-bootstrap gives every machine the authorities and mirrors of its cluster, and the control plane the proxy", async () => {
    const egress = {
      proxy: "http://proxy.example.com:3128",
      registry_mirrors: [{ registry: "docker.io", endpoints: ["https://mirror.example.com"] }],
      ca_certificates: AUTHORITY,
    };
    const { id } = await provisionedCluster(admin.api, org, undefined, { egress });
    const given = {
      ca_certificates: AUTHORITY,
      registries: { mirrors: { "docker.io": { endpoint: ["https://mirror.example.com"] } } },
    };
    const agent = await bootstrap(await nodeTokenOf(world, id, "agent-1"));
    expect(agent.body).toEqual({ ...NOTHING_ELSE, ...given, join_token: AGENT_JOIN_TOKEN });
    const server = await bootstrap(await nodeTokenOf(world, id, "control-plane"));
    expect(server.body).toMatchObject({ ...given, operator: { hub_proxy: egress.proxy } });
  });

  test("[PV32] POST /node-bootstrap answers one address per token: of several at the same time the others are refused", async () => {
    const cluster = await newCluster();
    const body = await nodeTokenOf(world, cluster, "control-plane");
    const answers = await Promise.all([1, 2, 3].map(() => bootstrap(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(await bootstrap(body)).toMatchObject(REFUSED);
  });

  test("[PV32] POST /node-bootstrap answers the same address again for ten minutes, because an answer may be lost", async () => {
    const cluster = await newCluster();
    const body = await nodeTokenOf(world, cluster, "agent-1", 3_600_000);
    const address = newAddress();
    expect((await bootstrap(body, address)).status).toBe(200);
    world.clock.advance(9 * 60_000);
    expect(await bootstrap(body, address)).toMatchObject({ status: 200, body: { join_token: AGENT_JOIN_TOKEN } });
    world.clock.advance(2 * 60_000);
    expect(await bootstrap(body, address)).toMatchObject(REFUSED);
  });

  test("[PV32] POST /node-bootstrap refuses a token once its machine has reported its next step", async () => {
    const cluster = await provisionedCluster(admin.api, org);
    const body = await nodeTokenOf(world, cluster.id, "agent-1");
    const reporter = await bootingNode(world, cluster, "agent-1");
    const address = newAddress();
    const report = (stage: string) =>
      world.anyone.post("/node-reports", { ...reporter, stage, status: "running", first_line: 0, lines: [] });
    expect((await bootstrap(body, address)).status).toBe(200);
    expect((await report("secrets")).status).toBe(200);
    expect((await bootstrap(body, address)).status).toBe(200);
    expect((await report("install")).status).toBe(200);
    expect(await bootstrap(body, address)).toMatchObject(REFUSED);
  });

  test("[PV33] POST /node-bootstrap refuses a machine's token for reports", async () => {
    const cluster = await provisionedCluster(admin.api, org);
    await nodeTokenOf(world, cluster.id, "agent-1");
    expect(await bootstrap(await bootingNode(world, cluster, "agent-1"))).toMatchObject(REFUSED);
  });

  test("[PV33] POST /node-bootstrap answers an unknown, an expired and another node's or cluster's token alike", async () => {
    const [cluster, other] = [await newCluster(), await newCluster()];
    const body = await nodeTokenOf(world, cluster, "agent-1");
    await nodeTokenOf(world, other, "agent-1");
    const expired = await nodeTokenOf(world, cluster, "agent-2", 0);
    for (const wrong of [
      { ...body, token: "unknown" },
      { ...body, node: "control-plane" },
      { ...body, cluster_id: other },
      expired,
    ]) {
      expect(await bootstrap(wrong)).toMatchObject(REFUSED);
    }
    // The attempts have not used it up.
    expect((await bootstrap(body)).status).toBe(200);
  });

  test("[PV33] POST /node-bootstrap refuses the tokens of a cluster that is being destroyed", async () => {
    const cluster = await newCluster();
    const body = await nodeTokenOf(world, cluster, "agent-1");
    await admin.api.delete(`/clusters/${cluster}`);
    expect(await bootstrap(body)).toMatchObject(REFUSED);
  });

  test("[PV34] POST /node-bootstrap is refused after too many attempts of an address, and not for other addresses", async () => {
    const cluster = await newCluster();
    const body = await nodeTokenOf(world, cluster, "agent-1");
    const address = newAddress();
    for (let attempts = 0; attempts < 20; attempts++) await bootstrap({ ...body, token: `guess-${attempts}` }, address);
    const refused = await bootstrap(body, address);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 60]);
    expect((await bootstrap(body)).status).toBe(200);
  });

  test("[PV34] POST /node-bootstrap lets more than twenty machines behind one address pass", async () => {
    const cluster = await newCluster();
    const address = newAddress();
    for (let index = 1; index <= 22; index++) {
      expect((await bootstrap(await nodeTokenOf(world, cluster, `agent-${index}`), address)).status).toBe(200);
    }
  });

  test("[PV35] POST /node-bootstrap is in the audit log with the node, and no secret is there or in the log", async () => {
    const cluster = await newCluster();
    const body = await nodeTokenOf(world, cluster, "control-plane");
    const { body: answer } = await bootstrap(body);
    const { body: log } = await admin.api.get(`/orgs/${org}/audit-log?action=cluster.node_bootstrap`);
    const [entry] = log.data.filter((it: { resource: { id: string } }) => it.resource.id === cluster);
    expect(entry).toMatchObject({ changes: { node: "control-plane", token_version: 1 } });
    for (const secret of [body.token, JOIN_TOKEN, AGENT_JOIN_TOKEN, answer.operator.token]) {
      expect([JSON.stringify(log), world.logged.join("")].filter((text) => text.includes(secret))).toEqual([]);
    }
  });
});
