import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { parse } from "yaml";
import { ask } from "./api/http/ask.fixture.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.adapter.ts";

const begun: Sandbox[] = [];
afterEach(async () => {
  for (const sandbox of begun.splice(0)) await sandbox.stop();
});

async function started(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ name: "first", ...options });
  begun.push(sandbox);
  return sandbox;
}

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const web = {
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "nginx:1" }] } },
  },
};

test("[SA1] the kubeconfig leads to the sandbox with its token, under a name that says that it is simulated", async () => {
  const sandbox = await started({ token: "secret" });
  const config = parse(sandbox.kubeconfig());
  expect(config).toMatchObject({
    "current-context": "simulated-first",
    clusters: [{ name: "simulated-first", cluster: { server: sandbox.url } }],
    users: [{ user: { token: "secret" } }],
  });
  const { server } = config.clusters[0].cluster;
  expect((await fetch(`${server}/version`)).status).toBe(401);
  const answer = await fetch(`${server}/version`, { headers: { authorization: "Bearer secret" } });
  expect(answer.headers.get("x-binnacle-sandbox")).toBe("simulated");
});

test("[SA2] a sandbox that others can reach needs a token", async () => {
  await expect(startSandbox({ name: "open", host: "0.0.0.0" })).rejects.toThrow("needs a token");
});

test.each([{ origin: "https://example.com" }, { host: "example.com" }])(
  "[SA5] a request with %j is refused",
  async (headers) => {
    const { url } = await started();
    const asked = request(`${url}/version`, { headers });
    asked.end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(403);
    answer.resume();
  },
);

test("[SA4] a sandbox without a port is asked in the process, and its controllers run all the same", async () => {
  const { handle, url, kubeconfig } = await started({ port: null });
  expect(url).toBeNull();
  expect(kubeconfig).toThrow("no port");
  expect(ask(handle, { method: "POST", path: DEPLOYMENTS, body: web }).status).toBe(201);
  await vi.waitFor(
    () => expect(ask(handle, { path: `${DEPLOYMENTS}/web` }).answer).toMatchObject({ status: { readyReplicas: 2 } }),
    10_000,
  );
});

test("[SA13] a sandbox that is stored in a file goes on after a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sandbox-"));
  const persistPath = join(folder, "cluster.jsonl");
  const first = await started({ persistPath });
  first.store.create("configmaps", { metadata: { name: "kept", namespace: "default" }, data: { a: "b" } });
  await first.stop();
  const second = await started({ persistPath });
  expect(second.store.get("configmaps", "kept", "default")).toMatchObject({ data: { a: "b" } });
  await second.stop();
  await rm(folder, { recursive: true });
});

test("[SA22] the sandbox accepts YAML where Kubernetes does", async () => {
  const { url } = await started();
  const path = `${url}/api/v1/namespaces/default/configmaps/y?fieldManager=me`;
  const body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {a: b}\n";
  const answer = await fetch(path, {
    method: "PATCH",
    body,
    headers: { "content-type": "application/apply-patch+yaml" },
  });
  expect(await answer.json()).toMatchObject({ data: { a: "b" } });
  const broken = await fetch(path, {
    method: "PATCH",
    body: "a: [",
    headers: { "content-type": "application/apply-patch+yaml" },
  });
  expect(broken.status).toBe(400);
});

test("[SA22] a body that claims to be Protobuf and is not is refused", async () => {
  const { url } = await started();
  const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
  const answer = await fetch(`${url}/api/v1/namespaces`, { method: "POST", body: "{}", headers });
  expect(await answer.json()).toMatchObject({ code: 400, reason: "BadRequest" });
});

test("[SA11] a watch over a connection delivers events, and ends when the reader leaves", async () => {
  const { url, store } = await started();
  const ending = new AbortController();
  const answer = await fetch(`${url}/api/v1/namespaces/default/configmaps?watch=true&labelSelector=of=me`, {
    signal: ending.signal,
  });
  store.create("configmaps", { metadata: { name: "seen", namespace: "default", labels: { of: "me" } } });
  const { value } = (await answer.body?.getReader().read()) ?? {};
  expect(JSON.parse(Buffer.from(value ?? []).toString())).toMatchObject({
    type: "ADDED",
    object: { metadata: { name: "seen" } },
  });
  ending.abort();
});

test("[EX18] a command runs in a simulated container over a WebSocket, as with a real API server", async () => {
  const sandbox = await started({ token: "secret" });
  const headers = { authorization: "Bearer secret", "content-type": "application/json" };
  await fetch(sandbox.url + DEPLOYMENTS, { method: "POST", headers, body: JSON.stringify(web) });
  const pods = `${sandbox.url}/api/v1/namespaces/default/pods`;
  const [pod] = await vi.waitFor(async () => {
    const { items } = (await (await fetch(pods, { headers })).json()) as { items: { metadata: { name: string } }[] };
    expect(items[0]).toMatchObject({ status: { containerStatuses: [{ state: { running: {} } }] } });
    return items;
  }, 30_000);
  const url = `${pods}/${pod?.metadata.name}/exec?container=web&command=sh&command=-c&command=${encodeURIComponent("echo hi; exit 3")}`;
  expect((await fetch(url, { headers })).status).toBe(400);
  const exec = async (given: Record<string, string>, address = url) => {
    const frames: string[] = [];
    const socket = new WebSocket(address.replace(/^http/, "ws"), "v5.channel.k8s.io", { headers: given });
    socket.on("message", (data: Buffer) => frames.push(`${data[0]} ${data.subarray(1).toString()}`));
    const status = new Promise<number>((resolve) => {
      socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
      socket.on("close", (code) => resolve(code));
      socket.on("error", () => undefined);
    });
    return { status: await status, frames };
  };
  const { frames } = await exec(headers);
  expect([frames[0], frames[1]]).toEqual(["1 hi\n", expect.stringContaining('"message":"3"')]);
  expect((await exec({})).status).toBe(401);
  expect((await exec({ ...headers, origin: "https://example.com" })).status).toBe(403);
  expect((await exec(headers, url.replace("container=web", "container=other"))).status).toBe(400);
  expect((await exec(headers, url.replace("/exec", "/nothing"))).status).toBe(404);
});
