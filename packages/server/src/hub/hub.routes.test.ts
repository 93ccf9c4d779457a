import { get } from "node:http";
import { CLOSE } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WEB } from "../apps/app.fixture.ts";
import { AGENT_TOKEN_LIFETIME_MS } from "../clusters/agent-token.adapter.ts";
import { registeredCluster } from "../clusters/clusters.fixture.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { entryOf, FACTS, TestOperator } from "./operator.fixture.ts";

let cluster: { readonly id: string; readonly connection_token: string };
const open: TestOperator[] = [];

const world = await startWorld();
const db = world.database.kysely;
const { org, admin } = await world.orgWithPeople();
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await registeredCluster(admin.api, org);
});
afterEach(() => {
  for (const operator of open.splice(0)) operator.socket.terminate();
});

function connect(token: string | null = cluster.connection_token, protocols?: string[]): TestOperator {
  const operator = new TestOperator(world.url, token, {}, protocols);
  open.push(operator);
  return operator;
}
const statusOf = async () => (await admin.api.get(`/clusters/${cluster.id}`)).body;
const project = async (name = "shop", clusterId = cluster.id, api = admin.api) =>
  (await api.post("/projects", { name, cluster_id: clusterId })).body;

describe("connecting", () => {
  test("[HB1] a cluster is connected, with the facts from its operator, until the operator leaves", async () => {
    expect((await statusOf()).status).toBe("pending");
    const operator = connect();
    await operator.greet();
    expect(await statusOf()).toMatchObject({
      status: "connected",
      operator_version: "0.1.0",
      kubernetes_version: FACTS.kubernetes_version,
      node_count: FACTS.node_count,
      metrics: FACTS.capacity,
      last_heartbeat: world.clock.now().toISOString(),
    });
    await operator.leave();
    await vi.waitFor(async () => expect((await statusOf()).status).toBe("disconnected"), SOON);
  });

  test.each<[string, () => string | null]>([
    ["no token", () => null],
    ["something else", () => "x".repeat(40)],
    ["a user's token", () => admin.token],
    ["another signature", () => `${cluster.connection_token.slice(0, -4)}AAAA`],
  ])("[HB2] a connection with %s is closed with 4401", async (_, token) => {
    expect(await connect(token()).closeCode()).toBe(CLOSE.unauthenticated);
    expect((await statusOf()).status).toBe("pending");
  });

  test("[HB2] a connection without the subprotocol is closed with 4426", async () => {
    expect(await connect(cluster.connection_token, []).closeCode()).toBe(CLOSE.versionTooOld);
    expect(await connect(cluster.connection_token, ["binnacle.hub.v2"]).closeCode()).not.toBe(1000);
  });

  test("[HB3] a connection with a revoked token is closed with 4403, and the new token works", async () => {
    const { body } = await admin.api.post(`/clusters/${cluster.id}/rotate-token`);
    const old = await connect().opened();
    old.hello();
    expect(await old.closeCode()).toBe(CLOSE.revoked);
    await connect(body.token).greet();
  });

  test("[HB3] a connection for a deleted cluster is closed with 4410", async () => {
    await admin.api.delete(`/clusters/${cluster.id}`);
    const operator = await connect().opened();
    operator.hello();
    expect(await operator.closeCode()).toBe(CLOSE.clusterDeleted);
  });

  test.each([
    ["/api/v1/version", "h2c", 401],
    ["/hub/v1", "h2c", 404],
    ["/hub/v1/x", "websocket", 404],
  ])("[HB11] a request for %s that offers an upgrade to %s is answered with %i", async (path, upgrade, expected) => {
    const headers = { connection: "Upgrade", upgrade };
    const status = await new Promise((resolve, reject) => {
      get(world.url + path, { headers }, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
    });
    expect(status).toBe(expected);
  });
});

describe("a live session", () => {
  test("[HB26] a session ends with 4403 within two seconds of the rotation of its token", async () => {
    const operator = connect();
    await operator.greet();
    const startedAtMs = performance.now();
    expect((await admin.api.post(`/clusters/${cluster.id}/rotate-token`)).body.enforcement).toBe("in_force");
    expect(await operator.closeCode()).toBe(CLOSE.revoked);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });

  test("[HB27] a session ends with 4410 when its cluster is deleted", async () => {
    const operator = connect();
    await operator.greet();
    await admin.api.delete(`/clusters/${cluster.id}`);
    expect(await operator.closeCode()).toBe(CLOSE.clusterDeleted);
  });

  test("[HB29] an operator gets a changed drift policy at once", async () => {
    const operator = connect();
    await operator.greet();
    await admin.api.patch(`/org/settings?org_id=${org}`, { settings: { drift_policy: "report" } });
    expect((await operator.next("settings")).settings).toEqual({ drift_policy: "report" });
    await admin.api.patch(`/org/settings?org_id=${org}`, { settings: { drift_policy: null } });
    await operator.next("settings", ({ settings }) => settings.drift_policy === "heal");
  });

  test("[HB40] [HB60] a project reaches its cluster over the session, and the operator's report comes back", async () => {
    const operator = connect().storesAll();
    await operator.greet();
    const { id } = await project();
    const apply = await operator.next("apply", ({ kind }) => kind === "project");
    expect(apply).toMatchObject({ resource_id: id, body: { spec: { name: "shop", namespace: "shop", org_id: org } } });
    const status = { type: "status", id: newId(), ...entryOf(apply), report: { state: "ready", message: null } };
    operator.say(status);
    expect(await operator.next("noted")).toMatchObject({ refs: [status.id] });
    expect((await admin.api.get(`/projects/${id}`)).body.lifecycle).toBe("ready");
  });

  test("[HB48] an app that is issued again after a restore gets a higher generation too", async () => {
    const operator = connect().storesAll();
    await operator.greet();
    const { id: project_id } = await project();
    const app = (await admin.api.post("/apps", { name: "web", project_id, components: [WEB] })).body;
    await operator.next("sync_end", ({ revision }) => revision >= 2);
    await operator.leave();
    const held = operator.all("apply").map(entryOf);
    const ahead = held.map((entry) => (entry.resource_id === app.id ? { ...entry, generation: 9 } : entry));
    const again = connect().storesAll();
    await again.greet(ahead, 1_000);
    expect(await again.next("apply")).toMatchObject({ resource_id: app.id, generation: 10 });
    const row = await db.selectFrom("apps").select("generation").where("id", "=", app.id).executeTakeFirst();
    expect(row?.generation).toBe(10);
    const deployments = await db
      .selectFrom("app_deployments")
      .select("generation")
      .where("app_id", "=", app.id)
      .execute();
    expect(deployments).toEqual([{ generation: 10 }]);
  });
});

describe("an operator that speaks of another cluster", () => {
  const TABLES = ["projects", "apps", "desired_resources", "cluster_sessions", "metric_samples", "clusters"] as const;
  const NOBODY = { cluster_id: "", id: "" };

  async function recordsOf(clusterId: string): Promise<unknown[]> {
    const rows = await Promise.all(TABLES.map((table) => db.selectFrom(table).selectAll().execute()));
    return rows.flat().filter((row) => {
      const { cluster_id, id } = { ...NOBODY, ...(row as object) };
      return cluster_id === clusterId || id === clusterId;
    });
  }

  test("[HB63] an operator that sends ids of another cluster reads and changes nothing there", async () => {
    const theirOrg = await world.org();
    const they = await world.person({ org: theirOrg, role: "admin" });
    const theirs = await registeredCluster(they.api, theirOrg);
    const theirOperator = connect(theirs.connection_token);
    await theirOperator.greet();
    const { id: theirProject } = await project("theirs", theirs.id, they.api);
    const app = (await they.api.post("/apps", { name: "web", project_id: theirProject, components: [WEB] })).body;
    const apply = await theirOperator.next("apply", ({ resource_id }) => resource_id === app.id);
    const { key, resource_id, generation, hash } = apply;
    const before = await recordsOf(theirs.id);
    expect(before.length).toBeGreaterThanOrEqual(5);

    const mine = connect();
    await mine.greet([{ key, resource_id, generation: generation + 5, hash }], 99);
    const drift = { state: "drifted", summary: null, fields: [], detected_at: null };
    const gone = { type: "status", id: newId(), key, resource_id, generation, report: { state: "gone" } };
    const amounts = { cpu_cores: 1, memory_bytes: 1 };
    const frames = [
      { type: "ack", ref: apply.id, key, generation },
      { type: "nack", ref: apply.id, key, generation, code: "stale", message: "No." },
      { type: "nack", ref: apply.id, key, generation, code: "invalid", message: "No." },
      gone,
      { ...gone, id: newId(), key: "project/theirs", resource_id: theirProject },
      {
        ...gone,
        id: newId(),
        report: { phase: "failed", reason: "Broken", message: "Broken.", components: [], drift },
      },
      { type: "heartbeat", facts: { ...FACTS, node_count: 99 } },
      { type: "response", ref: apply.id, answer: { done: true } },
      { type: "stream_data", ref: apply.id, lines: [], dropped: 1 },
      { type: "stream_end", ref: apply.id, error: null },
      {
        type: "build",
        namespace: "theirs",
        name: "web-1",
        source: "kpack",
        state: "failed",
        reason: null,
        message: null,
        image: null,
        started_at: null,
        finished_at: null,
      },
      {
        type: "samples",
        at: world.clock.now().toISOString(),
        used: amounts,
        capacity: amounts,
        components: [{ namespace: "theirs", app: "web", component: "web", ...amounts }],
      },
      { type: "token_stored", ref: apply.id },
    ];
    for (const frame of frames) mine.say(frame);
    await vi.waitFor(() => {
      const noted = new Set(mine.all("noted").flatMap(({ refs }) => refs));
      expect(frames.every((frame) => !("id" in frame) || noted.has(frame.id as string))).toBe(true);
    }, SOON);
    expect(await recordsOf(theirs.id)).toEqual(before);
    expect(mine.all("apply")).toEqual([]);
    expect([mine.closed, theirOperator.closed]).toEqual([null, null]);

    mine.raw(JSON.stringify({ type: "heartbeat", session: theirOperator.session }));
    expect(await mine.closeCode()).toBe(CLOSE.protocolError);
    expect(theirOperator.closed).toBeNull();
  });
});

test("[HB2] a connection with an expired token is closed with 4401", async () => {
  world.clock.advance(AGENT_TOKEN_LIFETIME_MS);
  expect(await connect().closeCode()).toBe(CLOSE.unauthenticated);
});
