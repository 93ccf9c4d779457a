import { once } from "node:events";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openImageStore, operatorImage } from "./image-store.adapter.ts";
import { writeLayout } from "./layout.fixture.ts";
import { registerImages } from "./registry.routes.ts";

const LAYER = Buffer.from("0123456789");
const folder = mkdtempSync(join(tmpdir(), "binnacle-images-"));
afterAll(() => rmSync(folder, { recursive: true }));
const operator = writeLayout(join(folder, "operator"), "0.1.0", LAYER);
/** More than the buffers of a connection, so that a client which does not read keeps its download under way. */
const server = writeLayout(join(folder, "server"), "0.1.0", Buffer.alloc(32 * 1024 * 1024));

let app: FastifyInstance;
beforeAll(async () => {
  app = Fastify();
  await registerImages(app, await openImageStore(folder));
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app?.close());
const port = () => (app.server.address() as AddressInfo).port;
const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port()}/v2${path}`, init);

const get = (path: string, headers: Record<string, string> = {}) => ask(`/${path}`, { headers });
const OPERATOR = "binnacle/operator";
const hexOf = ({ digest }: { digest: string }) => digest.slice("sha256:".length);

test("[IR1] the registry says that it is one", async () => {
  for (const path of ["", "/"]) {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("docker-distribution-api-version")).toBe("registry/2.0");
  }
});

test.each(["GET", "HEAD"] as const)("[IR2] %s finds a manifest by its tag and by its digest", async (method) => {
  const { index, manifest } = operator;
  for (const [reference, found] of [
    ["0.1.0", index],
    [index.digest, index],
    [manifest.digest, manifest],
  ] as const) {
    const answer = await ask(`/${OPERATOR}/manifests/${reference}`, { method });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": found.mediaType,
      "content-length": String(found.size),
      "docker-content-digest": found.digest,
    });
    expect((await answer.bytes()).length).toBe(method === "GET" ? found.size : 0);
  }
});

test("[IR3] a blob is sent whole or in a range", async () => {
  const path = `${OPERATOR}/blobs/${operator.layer.digest}`;
  const whole = await get(path);
  expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "accept-ranges": "bytes",
  });
  const part = await get(path, { range: "bytes=3-5" });
  expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([206, "345", "bytes 3-5/10"]);
  expect(await (await get(path, { range: "bytes=7-" })).text()).toBe("789");
  expect((await get(path, { range: "bytes=20-30" })).status).toBe(416);
});

test("[IR3] HEAD of a blob answers with its length and digest, and sends nothing of it", async () => {
  const { digest, size } = operator.layer;
  const answer = await ask(`/${OPERATOR}/blobs/${digest}`, { method: "HEAD" });
  expect([answer.status, (await answer.bytes()).length]).toEqual([200, 0]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": String(size),
    "docker-content-digest": digest,
    "accept-ranges": "bytes",
  });
  const unknown = await ask(`/${OPERATOR}/blobs/sha256:${"0".repeat(64)}`, { method: "HEAD" });
  expect(unknown.status).toBe(404);
});

test.each([
  [`${OPERATOR}/manifests/9.9.9`, 404, "MANIFEST_UNKNOWN"],
  [`${OPERATOR}/manifests/${operator.layer.digest}`, 404, "MANIFEST_UNKNOWN"],
  [`${OPERATOR}/blobs/sha256:${"0".repeat(64)}`, 404, "BLOB_UNKNOWN"],
  [`${OPERATOR}/blobs/${server.layer.digest}`, 404, "BLOB_UNKNOWN"],
  ["library/nginx/manifests/latest", 404, "NAME_UNKNOWN"],
  ["_catalog", 404, "NAME_UNKNOWN"],
])("[IR4] /v2/%s is a %s with the code %s", async (path, status, code) => {
  const answer = await get(path);
  expect([answer.status, await answer.json()]).toMatchObject([status, { errors: [{ code }] }]);
});

test("[IR4] a file beside the layouts is not served", async () => {
  writeFileSync(join(operator.blobs, "b".repeat(64)), "stray");
  expect((await get(`${OPERATOR}/blobs/sha256:${"b".repeat(64)}`)).status).toBe(404);
});

test.each(["POST", "PUT", "PATCH", "DELETE"] as const)(
  "[IR5] %s is refused before its body is read",
  async (method) => {
    const headers = { "content-type": "application/x-strange" };
    const answer = await ask(`/${OPERATOR}/blobs/uploads/`, { method, headers, body: "x" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await answer.json()).toMatchObject({ errors: [{ code: "UNSUPPORTED" }] });
  },
);

test("[IR6] the tags of a repository are listed, and no artifact refers to another", async () => {
  expect(await (await get(`${OPERATOR}/tags/list`)).json()).toEqual({ name: OPERATOR, tags: ["0.1.0"] });
  const referrers = await get(`${OPERATOR}/referrers/${operator.index.digest}`);
  expect(referrers.headers.get("content-type")).toBe(operator.index.mediaType);
  expect(await referrers.json()).toMatchObject({ manifests: [] });
});

test("[IR7] clients that do not read take no downloads of others, and beyond their limits get a 429", async () => {
  const download = (repository: string, digest: string, localAddress: string) =>
    new Promise<{ status: number; close: () => void }>((resolve, reject) => {
      const sent = request({ port: port(), localAddress, path: `/v2/${repository}/blobs/${digest}` }, (answer) => {
        resolve({ status: answer.statusCode ?? 0, close: () => sent.destroy() });
      });
      sent.on("error", reject).end();
    });
  const slow = Array.from({ length: 100 }, () => download("binnacle/server", server.layer.digest, "127.0.0.2"));
  const refused = await Promise.any(
    slow.map(async (one) => {
      const answer = await one;
      if (answer.status !== 429) throw new Error("not refused");
      return answer.status;
    }),
  );
  expect(refused).toBe(429);
  const other = await download(OPERATOR, operator.layer.digest, "127.0.0.3");
  expect(other.status).toBe(200);
  other.close();
  for (const one of slow)
    one.then(
      ({ close }) => close(),
      () => undefined,
    );
  app.server.closeAllConnections();
  await Promise.allSettled(slow);
});

/** Starts a download that nobody reads, and returns the server's side of its connection. */
async function unread(from: FastifyInstance): Promise<{ socket: Socket; answer: IncomingMessage }> {
  const connected = once(from.server, "connection");
  const path = `/v2/binnacle/server/blobs/${server.layer.digest}`;
  const sent = request({ port: (from.server.address() as AddressInfo).port, path }).end();
  const [[socket], [answer]] = await Promise.all([connected, once(sent, "response")]);
  return { socket, answer };
}

test("[IR7] a client that reads nothing for a minute loses its connection", async () => {
  const { socket, answer } = await unread(app);
  expect(socket.timeout).toBe(60_000);
  answer.destroy();
  const impatient = Fastify();
  await registerImages(impatient, await openImageStore(folder), 100);
  await impatient.listen({ host: "127.0.0.1", port: 0 });
  try {
    const stalled = await unread(impatient);
    if (!stalled.socket.destroyed) await once(stalled.socket, "close");
    await expect(stalled.answer.toArray()).rejects.toThrow("aborted");
  } finally {
    await impatient.close();
  }
});

test.each<[what: string, spoil: (layout: ReturnType<typeof writeLayout>) => void, reason: RegExp]>([
  [
    "images",
    ({ blobs }) => rmSync(join(blobs, "../.."), { recursive: true }),
    /has no images\. Write them with: npm run/,
  ],
  ["a blob", ({ blobs, layer }) => rmSync(join(blobs, hexOf(layer))), /should have 10 bytes and is missing\./],
  [
    "the whole of a blob",
    ({ blobs, layer }) => truncateSync(join(blobs, hexOf(layer)), 3),
    /should have 10 bytes and has 3\./,
  ],
  [
    "a manifest with its digest",
    // Of the same size, so that only the digest tells.
    ({ blobs, manifest }) => writeFileSync(join(blobs, hexOf(manifest)), " ".repeat(manifest.size)),
    /does not have the digest of its name\./,
  ],
])("[IR8] a folder without %s stops the start with the reason", async (_, spoil, reason) => {
  const other = mkdtempSync(join(tmpdir(), "binnacle-images-"));
  try {
    spoil(writeLayout(join(other, "cli"), "0.1.0", LAYER));
    await expect(openImageStore(other)).rejects.toThrow(reason);
  } finally {
    rmSync(other, { recursive: true });
  }
});

test("[CL433] clusters are told to pull the operator by its digest, from the named registry or the control plane", async () => {
  const store = await openImageStore(folder);
  const { digest } = operator.index;
  expect(operatorImage(store, null)).toEqual({ registry: null, digest });
  expect(operatorImage(store, "registry.example.com")).toEqual({ registry: "registry.example.com", digest });
  expect(operatorImage(new Map(), "registry.example.com")).toEqual({ registry: "registry.example.com", digest: null });
  expect(operatorImage(new Map(), null)).toBeNull();
});
