import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { installDefinitions } from "../../packages/operator/src/desired/definitions.fixture.ts";
import { clusterClient } from "../../packages/operator/src/kube/cluster.fixture.ts";
import type { KubeClient } from "../../packages/operator/src/kube/kube-client.ts";
import { Client } from "../world/client.ts";
import { freePort } from "../world/free-port.ts";
import { type OperatorProcess, startOperatorProcess } from "../world/operator-process.ts";
import { runServerCommand } from "../world/server-command.ts";
import { dataFolder, type ServerProcess, startServer } from "../world/server-process.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";

/** An operator that has lost its hub for long waits for up to a minute before it tries again. */
const SOON = { timeout: 90_000, interval: 100 };
const PASSWORD = randomBytes(12).toString("base64url");
const NAMESPACE = `restore-${randomBytes(4).toString("hex")}`;
const [AT_BACKUP, AFTERWARDS, AT_LAST] = ["nginx:1.29", "nginx:1.30", "nginx:1.31"];

let kube: KubeClient;
let former: Awaited<ReturnType<typeof dataFolder>>;
let empty: Awaited<ReturnType<typeof dataFolder>>;
let env: Record<string, string>;
let server: ServerProcess;
let admin: Client;
let operator: OperatorProcess | undefined;
let newcomer: SimulatedOperator | undefined;

beforeAll(async () => {
  [kube, former, empty] = await Promise.all([clusterClient(), dataFolder(), dataFolder()]);
  await installDefinitions(kube);
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "binnacle-system" } });
  const port = await freePort();
  env = {
    BINNACLE_ENVIRONMENT: "production",
    BINNACLE_DATABASE: "embedded",
    BINNACLE_PORT: String(port),
    BINNACLE_METRICS_PORT: "0",
    BINNACLE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    BINNACLE_ALLOW_INSECURE_PUBLIC_URL: "true",
    BINNACLE_SECRET_KEY: randomBytes(48).toString("base64"),
    BINNACLE_VAULT_KEYS: `first:${randomBytes(32).toString("base64")}`,
    BINNACLE_ADMIN_EMAIL: "admin@example.com",
    BINNACLE_ADMIN_PASSWORD: PASSWORD,
  };
});
afterAll(async () => {
  await newcomer?.stop();
  operator?.signal("SIGKILL");
  await operator?.exited;
  await stopServer();
  await former?.remove();
  await empty?.remove();
  await kube?.close();
});

async function serve(dataDir: string): Promise<void> {
  server = await startServer({ ...env, BINNACLE_DATA_DIR: dataDir });
  const api = new Client(`${server.url}/api/v1`);
  const form = { username: "admin@example.com", password: PASSWORD };
  const { body, status } = await api.send("POST", "/login", { form });
  expect(status, JSON.stringify(body)).toBe(200);
  admin = api.with({ authorization: `Bearer ${body.access_token}` });
}

async function stopServer(): Promise<void> {
  server?.signal("SIGTERM");
  await server?.exited;
}

async function made(path: string, body: object) {
  const answer = await admin.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const connected = (clusterId: string) =>
  vi.waitFor(async () => {
    const { body } = await admin.get(`/clusters/${clusterId}`);
    expect(body.status, operator?.printed()).toBe("connected");
  }, SOON);

const component = (image: string) => ({ name: "web", workload_spec: { image } });
const deployment = async (app: string) =>
  kube.get(await kube.resourceTypeOf("apps/v1", "Deployment"), `${app}-web`, NAMESPACE);

/** Waits until the cluster itself has the app with this image; null waits until it has nothing of it. */
const runs = (app: string, image: string | null) =>
  vi.waitFor(async () => {
    const found = await deployment(app);
    if (image === null) return expect(found).toBeNull();
    expect(found?.["spec"], `${app}\n${operator?.printed()}`).toMatchObject({
      template: { spec: { containers: [{ image }] } },
    });
  }, SOON);

test("[BK9] [CF299] clusters of a restored installation, in production on the built-in database, go back to what the backup says and take new changes", async () => {
  await serve(former.path);
  const { id: org } = await made("/orgs", { name: "Harbour" });
  const cluster = await made(`/orgs/${org}/clusters`, { name: "edge" });
  const hubUrl = `${server.url.replace("http", "ws")}/hub/v1`;
  const { id: clusterId, connection_token: token } = cluster;
  operator = startOperatorProcess({ hubUrl, clusterId, token, kubeconfig: inject("kubeconfig") });
  await connected(clusterId);
  const project = await made("/projects", { name: NAMESPACE, cluster_id: clusterId });
  const path = (app: string) => `/apps/${project.namespace}/${app}?project_id=${project.id}`;
  const create = (name: string, image: string) =>
    made("/apps", { name, project_id: project.id, components: [component(image)] });
  const change = async (app: string, image: string) => {
    const components = [{ op: "patch", ...component(image) }];
    expect((await admin.patch(path(app), { components })).status).toBe(200);
  };
  for (const name of ["changed", "deleted"]) {
    await create(name, AT_BACKUP);
    await runs(name, AT_BACKUP);
  }

  const backup = join(former.path, "binnacle.gz");
  await runServerCommand({ ...env, BINNACLE_DATA_DIR: former.path }, "backup", backup);

  await change("changed", AFTERWARDS);
  await runs("changed", AFTERWARDS);
  expect((await admin.delete(path("deleted"))).status).toBe(204);
  await runs("deleted", null);
  await create("created", AFTERWARDS);
  await runs("created", AFTERWARDS);
  const unknown = await deployment("created");
  const late = await made(`/orgs/${org}/clusters`, { name: "late" });
  const refusals: unknown[] = [];
  const note = (fields: object) => void refusals.push((fields as { code?: unknown }).code);
  const log = { debug: note, info: note, warn: note, error: note };
  newcomer = simulateOperator({ url: server.url, token: late.connection_token, ports: { log } });
  await connected(late.id);
  await stopServer();

  const restored = await runServerCommand({ ...env, BINNACLE_DATA_DIR: empty.path }, "restore", backup);
  expect(restored.stderr).toContain("The backup is restored");
  await serve(empty.path);
  await connected(clusterId);
  await runs("changed", AT_BACKUP);
  await runs("deleted", AT_BACKUP);
  await vi.waitFor(() => expect(refusals).toContain(4410), SOON);
  expect(server.printed()).toContain(`app/${NAMESPACE}/created`);
  expect((await admin.get(path("created"))).status).toBe(404);
  // A new app of this name waits, and holds up no other change, until somebody has deleted the unknown one in the cluster.
  await create("created", AT_LAST);
  await change("changed", AT_LAST);
  await runs("changed", AT_LAST);
  await runs("created", AFTERWARDS);
  expect((await deployment("created"))?.metadata.uid).toBe(unknown?.metadata.uid);
  await kube.delete(await kube.resourceTypeOf("binnacle.dev/v1alpha1", "App"), "created", NAMESPACE);
  await runs("created", AT_LAST);
}, 400_000);
