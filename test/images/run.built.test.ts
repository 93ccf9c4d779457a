import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startFakeApi } from "../../packages/operator/src/kube/fake-api.fixture.ts";
import { Hub } from "../../packages/operator/src/link/hub.fixture.ts";
import { HELM } from "../../scripts/images/pins.ts";
import { freshDatabase } from "../world/database.ts";
import { freePort } from "../world/free-port.ts";
import { CAN_RUN, requireIdleMemory, startContainer } from "./container.ts";
import { VERSION } from "./layout.ts";

const PATIENT = { timeout: 60_000, interval: 100 };

/** The address of a database for a program that sees no socket of this machine. */
async function databaseUrl(): Promise<string> {
  const { url, drop } = await freshDatabase();
  const address = new URL(url);
  const host = address.searchParams.get("host");
  onTestFinished(drop);
  if (!host) return url;
  const path = `${host}/.s.PGSQL.${address.searchParams.get("port")}`;
  const server = createServer((client) => {
    const database = connect(path);
    client.on("error", () => database.destroy()).pipe(database);
    database.on("error", () => client.destroy()).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `postgres://${address.searchParams.get("user")}@127.0.0.1:${port}${address.pathname}`;
}

const kubeconfigOf = (server: string) =>
  JSON.stringify({
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token: "t" } }],
  });

describe.skipIf(!CAN_RUN)("a container", () => {
  test("[IM7] the server's image serves API and console against a database, on a read-only root, and stops on SIGTERM", async () => {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const container = startContainer("server", {
      env: {
        DATABASE_URL: await databaseUrl(),
        BINNACLE_HOST: "127.0.0.1",
        BINNACLE_PORT: String(port),
        BINNACLE_METRICS_PORT: String(metricsPort),
        BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
        BINNACLE_SECRET_KEY: randomBytes(36).toString("base64"),
        BINNACLE_VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
        BINNACLE_ADMIN_EMAIL: "admin@example.com",
        BINNACLE_ADMIN_PASSWORD: "a-long-enough-phrase",
      },
    });
    const { child, exited, printed } = container;
    const url = `http://127.0.0.1:${port}`;
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status, printed()).toBe(200), PATIENT);
    const login = await fetch(`${url}/api/v1/login`, {
      method: "POST",
      body: new URLSearchParams({ username: "admin", password: "a-long-enough-phrase" }),
    });
    expect([login.status, Object.keys((await login.json()) as object)]).toEqual([
      200,
      expect.arrayContaining(["access_token"]),
    ]);
    expect(await (await fetch(url)).text()).toContain("<title>Binnacle</title>");
    expect(await (await fetch(`${url}/charts/index.yaml`)).text()).toContain("binnacle-operator");
    await requireIdleMemory("server", container);
    child.kill("SIGTERM");
    expect(await exited, printed()).toBe(0);
  });

  test("[IM7] the server's image runs binnacle-server as a program", async () => {
    const { exited, printed } = startContainer("server", { entrypoint: ["binnacle-server"], args: ["help"] });
    expect(await exited, printed()).toBe(0);
    expect(printed()).toContain("upgrade-check");
  });

  test("[IM8] the server's image says that it needs a database, and ends", async () => {
    const { exited, printed } = startContainer("server");
    expect(await exited).toBe(1);
    expect(printed()).toContain("DATABASE_URL is required where BINNACLE_ENVIRONMENT is production");
  });

  test("[IM8] the server's image has no built-in database for local use either, and says what to set", async () => {
    const { exited, printed } = startContainer("server", {
      env: { BINNACLE_ENVIRONMENT: "local", BINNACLE_HOST: "127.0.0.1", BINNACLE_DATA_DIR: "/tmp" },
    });
    expect(await exited).toBe(1);
    expect(printed()).toContain("Set DATABASE_URL to the address of a PostgreSQL database.");
  });

  test("[IM7] the operator's image connects its cluster to the hub and answers probes, on a read-only root", async () => {
    const api = await startFakeApi(({ path, query }) => {
      if (path === "/version") return [200, { major: "1", minor: "37", gitVersion: "v1.37.1" }];
      if (query["watch"]) return null;
      if (path.endsWith("-memory")) return [404, { kind: "Status", code: 404, reason: "NotFound" }];
      return [200, { metadata: { resourceVersion: "1" }, items: [] }];
    });
    const hub = await Hub.start();
    onTestFinished(async () => {
      await hub.stop();
      await api.stop();
    });
    const port = await freePort();
    const container = startContainer("operator", {
      files: { kubeconfig: kubeconfigOf(api.url) },
      env: {
        KUBECONFIG: "/kubeconfig",
        BINNACLE_HUB_URL: hub.url,
        BINNACLE_CLUSTER_ID: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
        BINNACLE_TOKEN: "hush-token",
        BINNACLE_HEALTH_PORT: String(port),
      },
    });
    const { child, exited, printed } = container;
    const side = await vi.waitFor(() => hub.side(), PATIENT);
    expect(await side.received("hello")).toMatchObject({ facts: { kubernetes_version: "v1.37.1" } });
    await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200), PATIENT);
    await requireIdleMemory("operator", container);
    child.kill("SIGTERM");
    expect(await exited, printed()).toBe(0);
  });

  test("[IM7] the operator's image has a Helm that runs", async () => {
    const { exited, printed } = startContainer("operator", { entrypoint: ["/usr/local/bin/helm"], args: ["version"] });
    expect(await exited, printed()).toBe(0);
    expect(printed()).toContain(`v${HELM.version}`);
  });

  test("[IM7] the image of the command line runs binnacle", async () => {
    const { exited, printed } = startContainer("cli", { args: ["version"] });
    expect(await exited, printed()).toBe(0);
    expect(printed()).toContain(VERSION);
  });
});
