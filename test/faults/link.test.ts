import { cp, rename, rm } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Client } from "../world/client.ts";
import { freePort } from "../world/free-port.ts";
import { Pipe } from "../world/pipe.ts";
import { dataFolder, postmasterPid, type ServerProcess, startServer } from "../world/server-process.ts";
import { type SimulatedOperator, type SimulationOptions, simulateOperator } from "../world/simulated-operator.ts";

const SOON = { timeout: 60_000, interval: 50 };
const BACK_WITHIN_MS = 60_000;
const OPERATORS = 40;

let data: Awaited<ReturnType<typeof dataFolder>>;
let port: number;
let server: ServerProcess;
const operators: SimulatedOperator[] = [];

beforeAll(async () => {
  data = await dataFolder();
  port = await freePort();
  await serve();
}, 120_000);
afterEach(() => Promise.all(operators.splice(0).map((operator) => operator.stop())));
afterAll(async () => {
  server?.signal("SIGTERM");
  await server?.exited;
  await data?.remove();
});

async function serve(): Promise<void> {
  server = await startServer({ BINNACLE_DATA_DIR: data.path, BINNACLE_PORT: String(port) });
}

async function admin(): Promise<Client> {
  const api = new Client(`${server.url}/api/v1`);
  const { body } = await api.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  return api.with({ authorization: `Bearer ${body.access_token}` });
}

let registered = 0;
async function register(api: Client): Promise<{ id: string; token: string }> {
  const { body: orgs } = await api.get("/orgs");
  const { body } = await api.post(`/orgs/${orgs.data[0].id}/clusters`, { name: `cluster ${++registered}` });
  return { id: body.id, token: body.connection_token };
}

function operate(token: string, options: Partial<SimulationOptions> = {}): SimulatedOperator {
  const operator = simulateOperator({ url: server.url, token, ...options });
  operators.push(operator);
  return operator;
}

const live = (operator: SimulatedOperator) => vi.waitFor(() => expect(operator.link.isLive).toBe(true), SOON);

async function project(api: Client, clusterId: string, name: string): Promise<string> {
  const { body, status } = await api.post("/projects", { name, cluster_id: clusterId });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}
const lifecycle = async (api: Client, id: string) => (await api.get(`/projects/${id}`)).body.lifecycle;
const ready = (api: Client, id: string) => vi.waitFor(async () => expect(await lifecycle(api, id)).toBe("ready"), SOON);

test("[FA1] operators of a hub that was killed are back within 60 s of its return, and nothing is lost", async () => {
  const api = await admin();
  const clusters = await Promise.all(Array.from({ length: OPERATORS }, () => register(api)));
  const crowd = clusters.map(({ token }) => operate(token));
  const projects = await Promise.all(clusters.map(({ id }, index) => project(api, id, `kept-${index}`)));
  for (const id of projects) await ready(api, id);
  const held = crowd.map(({ store }) => [...store.entries.values()]);

  server.signal("SIGKILL");
  await server.exited;
  await serve();
  const servedAt = performance.now();
  for (const operator of crowd) await live(operator);
  expect(performance.now() - servedAt).toBeLessThan(BACK_WITHIN_MS);
  expect(crowd.map(({ store }) => [...store.entries.values()])).toEqual(held);

  const again = await admin();
  for (const id of projects) expect(await lifecycle(again, id)).toBe("ready");
  const late = await project(again, clusters[0]?.id ?? "", "after");
  await ready(again, late);
}, 180_000);

test("[FA2] a request to an operator whose connection has fallen silent is a 504", async () => {
  const api = await admin();
  const cluster = await register(api);
  const pipe = await Pipe.to(port);
  await live(operate(cluster.token, { url: `http://127.0.0.1:${pipe.port}` }));
  expect((await api.get(`/clusters/${cluster.id}/metrics`)).status).toBe(200);
  pipe.stall();
  expect((await api.get(`/clusters/${cluster.id}/metrics`)).status).toBe(504);
  await pipe.close();
}, 60_000);

test("[FA3] of two operators with the same token the newer one has the session", async () => {
  const api = await admin();
  const cluster = await register(api);
  const older = operate(cluster.token);
  await live(older);
  const newer = operate(cluster.token);
  await live(newer);
  await vi.waitFor(() => expect(older.link.isLive).toBe(false), SOON);
  await ready(api, await project(api, cluster.id, "taken-over"));
  expect([older.store.entries.size, newer.store.entries.size]).toEqual([0, 2]);
}, 60_000);

test("[FA4] a session whose token is revoked is closed within 2 s, and the token is refused", async () => {
  const api = await admin();
  const cluster = await register(api);
  const operator = operate(cluster.token);
  await live(operator);
  const { body } = await api.post(`/clusters/${cluster.id}/rotate-token`);
  expect(body.enforcement).toBe("in_force");
  await vi.waitFor(() => expect(operator.link.isLive).toBe(false), { timeout: 2_000, interval: 20 });
  const heard: unknown[] = [];
  const log = { debug: note, info: note, warn: note, error: note };
  function note(fields: object): void {
    heard.push((fields as { code?: unknown }).code);
  }
  operate(cluster.token, { ports: { log } });
  await vi.waitFor(() => expect(heard).toContain(4403), SOON);
}, 60_000);

test("[FA6] a project that is deleted while the operator is away stays recorded until it is gone from the cluster", async () => {
  const api = await admin();
  const cluster = await register(api);
  const operator = operate(cluster.token);
  const id = await project(api, cluster.id, "leaving");
  await ready(api, id);
  await operator.stop();
  expect((await api.delete(`/projects/${id}`)).status).toBe(202);
  expect(await lifecycle(api, id)).toBe("cleanup_pending");
  const back = operate(cluster.token, { store: operator.store });
  await vi.waitFor(async () => expect((await api.get(`/projects/${id}`)).status).toBe(404), SOON);
  expect(back.store.entries.size).toBe(0);
}, 60_000);

test("[FA53] an operator that returns to an abandoned cluster is told to remove everything, and then the records end", async () => {
  const api = await admin();
  const cluster = await register(api);
  const operator = operate(cluster.token);
  const id = await project(api, cluster.id, "given-up");
  await ready(api, id);
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  expect((await api.post("/apps", { name: "web", project_id: id, components })).status).toBe(201);
  await vi.waitFor(() => expect(operator.store.entries.size).toBe(3), SOON);
  await operator.stop();
  const { body: lost } = await api.get(`/clusters/${cluster.id}`);
  await vi.waitFor(async () => {
    expect((await api.post(`/clusters/${cluster.id}/abandon`, { name: lost.name })).status).toBe(202);
  }, SOON);
  expect(await lifecycle(api, id)).toBe("cleanup_degraded");
  const { body: namesake } = await api.post(`/orgs/${lost.org_id}/clusters`, { name: lost.name });

  const back = operate(cluster.token, { store: operator.store });
  await vi.waitFor(async () => expect((await api.get(`/projects/${id}`)).status).toBe(404), SOON);
  expect(back.store.entries.size).toBe(0);
  await vi.waitFor(async () => expect((await api.get(`/clusters/${cluster.id}`)).status).toBe(404), SOON);
  await vi.waitFor(() => expect(back.link.isLive).toBe(false), SOON);
  expect((await api.get(`/clusters/${namesake.id}`)).body.status).toBe("pending");
}, 90_000);

test("[FA9] sessions of operators outlive a crash of the database, and later changes arrive", async () => {
  const api = await admin();
  const cluster = await register(api);
  let sessions = 0;
  const log = {
    debug: quiet,
    info: (_: object, message: string) => void (message.startsWith("connected") && sessions++),
    warn: quiet,
    error: quiet,
  };
  function quiet(): void {}
  await live(operate(cluster.token, { ports: { log } }));
  process.kill(await postmasterPid(data.path), "SIGKILL");
  const id = await vi.waitFor(async () => {
    const { body, status } = await api.post("/projects", { name: "after-the-fall", cluster_id: cluster.id });
    expect([201, 503]).toContain(status);
    expect(status).toBe(201);
    return body.id as string;
  }, SOON);
  await ready(api, id);
  expect(sessions).toBe(1);
}, 90_000);

test("[FA11] operators of a server that restarts reconnect to it", async () => {
  const api = await admin();
  const cluster = await register(api);
  const operator = operate(cluster.token);
  await live(operator);
  server.signal("SIGTERM");
  expect(await server.exited).toBe(0);
  expect(operator.link.isLive).toBe(false);
  await serve();
  await live(operator);
}, 120_000);

test("[FA12] after a restore from a backup nothing is removed, and later generations on the cluster are issued again above them", async () => {
  const api = await admin();
  const cluster = await register(api);
  const operator = operate(cluster.token);
  const before = await project(api, cluster.id, "in-the-backup");
  await ready(api, before);
  const { body: app } = await api.post("/apps", {
    name: "web",
    project_id: before,
    components: [{ name: "web", workload_spec: { image: "nginx:1.29" } }],
  });
  const path = `/apps/in-the-backup/web?project_id=${before}`;
  await vi.waitFor(async () => expect((await api.get(path)).body.phase).toBe("running"), SOON);

  const backup = `${data.path}-backup`;
  server.signal("SIGTERM");
  await server.exited;
  await cp(data.path, backup, { recursive: true, preserveTimestamps: true });
  await serve();
  const later = await admin();
  await live(operator);
  await ready(later, await project(later, cluster.id, "after-the-backup"));
  expect((await later.patch(path, { description: "later" })).status).toBe(200);
  await vi.waitFor(async () => expect((await later.get(path)).body.phase).toBe("running"), SOON);
  const generation = operator.store.entries.get("app/in-the-backup/web")?.generation ?? 0;
  expect(generation).toBe(app.generation + 1);

  server.signal("SIGTERM");
  await server.exited;
  await rm(data.path, { recursive: true });
  await rename(backup, data.path);
  await serve();
  await live(operator);
  const restored = await admin();
  await vi.waitFor(async () => {
    const { body } = await restored.get(path);
    expect(body.generation).toBeGreaterThan(generation);
    expect(body.phase).toBe("running");
  }, SOON);
  expect(operator.store.entries.get("app/in-the-backup/web")?.generation).toBeGreaterThan(generation);
  expect([...operator.store.entries.keys()]).toContain("project/after-the-backup");
}, 180_000);
