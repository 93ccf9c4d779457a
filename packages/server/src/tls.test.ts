import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { freePort } from "@binnacle/world/free-port";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPasswords } from "./accounts/password.adapter.ts";
import { loadCatalog } from "./catalog/catalog.adapter.ts";
import { parseConfig } from "./config.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { makeCertificate } from "./http/certificate.fixture.ts";
import { TestOperator } from "./hub/operator.fixture.ts";
import { createLog } from "./log.adapter.ts";
import { supportParts } from "./support/support-bundle.command.ts";

const { cert: ca, key } = makeCertificate({ names: ["localhost", "127.0.0.1"] });
let folder: string;
let database: FreshDatabase;
let api: ControlPlane;
let hub: ControlPlane;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-tls-"));
  await writeFile(join(folder, "tls.crt"), ca);
  await writeFile(join(folder, "tls.key"), key);
  database = await freshDatabase();
  env = {
    DATABASE_URL: database.url,
    BINNACLE_PORT: String(await freePort()),
    BINNACLE_HUB_PORT: "0",
    BINNACLE_SANDBOX: "off",
    BINNACLE_DATA_DIR: folder,
    BINNACLE_SECRET_KEY: "the-signing-key-of-all-replicas-of-this-test",
    BINNACLE_VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    BINNACLE_TLS_CERT_FILE: join(folder, "tls.crt"),
    BINNACLE_TLS_KEY_FILE: join(folder, "tls.key"),
  };
  const passwords = await createPasswords({ memoryCost: 64, timeCost: 1, parallelism: 1 });
  const catalog = await loadCatalog();
  const log = createLog("info", new Writable({ write: (_chunk, _encoding, done) => done() }));
  const start = (roles: string) =>
    startControlPlane(parseConfig({ ...env, BINNACLE_ROLES: roles }), {
      log,
      catalog,
      passwords,
      clouds: {},
      provisions: false,
    });
  api = await start("api");
  hub = await start("hub");
});
afterAll(async () => {
  await hub?.stop();
  await api?.stop();
  await database?.drop();
  await rm(folder, { recursive: true });
});

interface Asked {
  readonly method?: string;
  readonly token?: string;
  readonly body?: string;
  readonly type?: string;
}

function open(path: string, { method = "GET", token, body, type = "application/json" }: Asked = {}) {
  const headers = {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body ? { "content-type": type, "content-length": Buffer.byteLength(body) } : {}),
  };
  const request = httpsRequest(`${api.url}/api/v1${path}`, { method, headers, ca });
  request.end(body);
  return once(request, "response").then(([response]) => response);
}

async function send(path: string, asked: Asked = {}) {
  const response = await open(path, asked);
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(await text(response)) };
}

const login = () =>
  send("/login", {
    method: "POST",
    type: "application/x-www-form-urlencoded",
    body: "username=admin&password=binnacle",
  });

test("[CF4107] a control plane with a certificate names https:// addresses, and its cookies are for TLS alone, in local too", async () => {
  expect([api.url, hub.url]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)]);
  const { status, headers } = await login();
  expect(status).toBe(200);
  for (const cookie of headers["set-cookie"] ?? [""]) expect(cookie).toMatch(/; Secure/);
});

test("[CF4102] [RQ4108] an operator connects over TLS, its events are streamed over TLS, and other processes reach it over TLS", async () => {
  const { access_token: token } = (await login()).body;
  const [org] = (await send("/orgs", { token })).body.data;
  const made = await send(`/orgs/${org.id}/clusters`, { method: "POST", token, body: '{"name":"edge"}' });
  const instructions = await send(`/clusters/${made.body.id}/install-instructions`, { token });
  expect(instructions.body.hub_url).toBe(`${api.url.replace("https", "wss")}/hub/v1`);

  const stream = await open("/events/stream", { token });
  expect(stream.headers["content-type"]).toMatch(/^text\/event-stream/);
  const operator = new TestOperator(hub.url, made.body.connection_token, { ca });
  await operator.greet();
  let streamed = "";
  for await (const chunk of stream) {
    streamed += chunk;
    if (streamed.includes(made.body.id)) break;
  }
  const sessions = database.database.kysely.selectFrom("cluster_sessions").select("hub_url");
  expect((await sessions.executeTakeFirstOrThrow()).hub_url).toBe(hub.url);

  const asked = send(`/clusters/${made.body.id}/metrics`, { token });
  const { id, request } = await operator.next("request");
  expect(request.name).toBe("metrics");
  operator.say({ type: "response", ref: id, answer: { metrics: { step: "15s", series: [] } } });
  expect(await asked).toMatchObject({ status: 200, body: { step: "15s" } });
  await operator.leave();
});

test("[CF4107] a support bundle asks the process beside it over TLS, whatever name its certificate has", async () => {
  const parts = await supportParts(env, { now: new Date(), logs: [] });
  expect(JSON.parse(parts.get("health.json") ?? "")["/readyz"]).toContain('"ready"');
  expect(parts.get("metrics.txt")).toContain("binnacle_");
});
