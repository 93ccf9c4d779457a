import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type PushedRepository, pushImages } from "./image-push.adapter.ts";
import { openImageStore } from "./image-store.adapter.ts";
import { writeLayout } from "./layout.fixture.ts";
import { startPushRegistry } from "./push-registry.fixture.ts";
import { type RegistryClient, registryClient } from "./registry-client.adapter.ts";
import { registryCredential } from "./registry-credential.ts";

const folder = mkdtempSync(join(tmpdir(), "binnacle-images-"));
afterAll(() => rmSync(folder, { recursive: true }));
/** Both have the same layer, as the images of a release share Node.js. */
const LAYER = Buffer.alloc(300_000, "layer");
const server = writeLayout(join(folder, "server"), "0.1.0", LAYER);
writeLayout(join(folder, "operator"), "0.1.0", LAYER);

const CREDENTIAL = { username: "robot", password: "hush-robot" };
const BASIC = `Basic ${Buffer.from("robot:hush-robot").toString("base64")}`;

async function started(credential: typeof CREDENTIAL | null = null) {
  const registry = await startPushRegistry();
  onTestFinished(registry.stop);
  const pauses: number[] = [];
  const client = registryClient({ origin: registry.origin, credential, pause: async (ms) => pauses.push(ms) });
  const push = (prefix = "mirror") => pushedBy(client, prefix);
  return { registry, push, pauses };
}

async function pushedBy(client: RegistryClient, prefix: string): Promise<PushedRepository[]> {
  const pushed: PushedRepository[] = [];
  for await (const repository of pushImages(await openImageStore(folder), client, prefix)) pushed.push(repository);
  return pushed;
}

test("[IR2409] a push copies all tags with everything that they lead to, below the prefix", async () => {
  const { registry, push } = await started();
  const pushed = await push();
  expect(pushed.map(({ name }) => name)).toEqual(["mirror/binnacle/server", "mirror/binnacle/operator"]);
  const tagged = registry.manifests.get("mirror/binnacle/operator@0.1.0");
  expect(tagged?.type).toBe("application/vnd.oci.image.index.v1+json");
  expect(registry.manifests.has(`mirror/binnacle/server@${server.manifest.digest}`)).toBe(true);
  expect(registry.blobs.get(`mirror/binnacle/server@${server.layer.digest}`)?.equals(LAYER)).toBe(true);
  await push("");
  expect(registry.manifests.has("binnacle/cli@0.1.0")).toBe(false);
  expect(registry.manifests.has("binnacle/server@0.1.0")).toBe(true);
});

test("[IR2410] a push sends nothing that the registry has, in whichever repository", async () => {
  const { registry, push } = await started();
  await push();
  const uploads = registry.requests.filter((request) => request.startsWith("PUT") && request.includes("/blobs/"));
  // The layer and the configuration; the second repository takes both from the first.
  expect(uploads).toHaveLength(2);
  registry.requests.length = 0;
  expect((await push()).map(({ sentBytes }) => sentBytes)).toEqual([0, 0]);
  expect(registry.requests.filter((request) => !request.startsWith("HEAD"))).toEqual([]);
});

test("[IR2410] a push moves a tag that leads elsewhere", async () => {
  const { registry, push } = await started();
  const key = "mirror/binnacle/server@0.1.0";
  registry.manifests.set(key, { type: "text/plain", bytes: Buffer.from("{}") });
  await push();
  expect(registry.manifests.get(key)?.bytes.length).toBe(server.index.size);
});

test("[IR2411] a push signs in with a token for the repositories that it writes to", async () => {
  const { registry, push } = await started(CREDENTIAL);
  const realm = `${registry.origin}/token`;
  const scopes: string[] = [];
  registry.interfere(({ path, authorization }) => {
    const { pathname, searchParams } = new URL(path, registry.origin);
    if (pathname === "/token") {
      expect([authorization, searchParams.get("service")]).toEqual([BASIC, "reg"]);
      scopes.push(searchParams.getAll("scope").join(" "));
      return { status: 200, body: { token: `t${scopes.length}` } };
    }
    if (authorization?.startsWith("Bearer t")) return undefined;
    return { status: 401, headers: { "www-authenticate": `Bearer realm="${realm}",service="reg"` } };
  });
  await push();
  expect(scopes).toEqual([
    "repository:mirror/binnacle/server:pull,push",
    "repository:mirror/binnacle/operator:pull,push",
    "repository:mirror/binnacle/operator:pull,push repository:mirror/binnacle/server:pull",
  ]);
});

test("[IR2411] a push asks for another token when one has ended, also in the middle of an upload", async () => {
  const { registry, push } = await started(CREDENTIAL);
  let valid = 0;
  registry.interfere(({ method, path, authorization }) => {
    if (path.startsWith("/token")) return { status: 200, body: { access_token: `t${++valid}` } };
    const hasEnded = method === "PUT" && path.includes("/blobs/") && valid === 1;
    if (authorization === `Bearer t${valid}` && !hasEnded) return undefined;
    return { status: 401, headers: { "www-authenticate": `Bearer realm="${registry.origin}/token"` } };
  });
  await push();
  expect(registry.manifests.has("mirror/binnacle/operator@0.1.0")).toBe(true);
});

test("[IR2411] a push signs in by name and password where the registry asks for them", async () => {
  const { registry, push } = await started(CREDENTIAL);
  registry.interfere(({ authorization }) =>
    authorization === BASIC ? undefined : { status: 401, headers: { "www-authenticate": 'Basic realm="r"' } },
  );
  await push();
  expect(registry.manifests.has("mirror/binnacle/operator@0.1.0")).toBe(true);
});

test.each([
  [401, { "www-authenticate": 'Basic realm="r"' }],
  [403, {}],
])("[IR2411] a push that is refused with a %i ends at once, and says how to sign in", async (status, headers) => {
  const { registry, push, pauses } = await started(CREDENTIAL);
  registry.interfere(() => ({ status, headers: headers as Record<string, string> }));
  const refusal = await push().catch((error: Error) => error.message);
  expect(refusal).toContain(`does not allow it (${status}). Sign in with docker login ${registry.host}`);
  expect(refusal).not.toContain("hush");
  expect(pauses).toEqual([]);
});

test("[IR2411] a push tells nothing of its credentials to another host that takes uploads", async () => {
  const { registry, push } = await started(CREDENTIAL);
  const storage = await startPushRegistry();
  onTestFinished(storage.stop);
  const seen: (string | undefined)[] = [];
  storage.interfere(({ authorization }) => {
    seen.push(authorization);
    return { status: 201 };
  });
  registry.interfere(({ method, path, authorization }) => {
    if (authorization !== BASIC) return { status: 401, headers: { "www-authenticate": "Basic" } };
    if (method === "POST") return { status: 202, headers: { location: `${storage.origin}/upload` } };
    return path.includes("/manifests/") ? { status: 201 } : undefined;
  });
  await push();
  expect(seen).toEqual([undefined, undefined, undefined, undefined]);
});

test("[IR2412] a push goes on after a registry that is busy, fails or breaks connections", async () => {
  const { registry, push, pauses } = await started();
  const faults = [{ status: 503 }, "reset", { status: 429, headers: { "retry-after": "7" } }] as const;
  let uploads = 0;
  registry.interfere(({ method, path }) =>
    method === "PUT" && path.includes("/blobs/") ? faults[uploads++] : undefined,
  );
  await push();
  expect(pauses).toEqual([1_000, 2_000, 7_000]);
  expect(registry.manifests.has("mirror/binnacle/operator@0.1.0")).toBe(true);
});

test("[IR2412] a push gives up on a registry that stays away, and says why", async () => {
  const { registry, push, pauses } = await started();
  registry.interfere(() => ({ status: 503, body: { errors: [{ code: "UNAVAILABLE", message: "no disk" }] } }));
  await expect(push()).rejects.toThrow(`${registry.host} answered 503`);
  expect(pauses).toHaveLength(5);
});

test("[IR2412] a push over TLS to a registry that does not speak it says so at once", async () => {
  const { registry } = await started();
  const client = registryClient({ origin: registry.origin.replace("http:", "https:"), credential: null });
  await expect(pushedBy(client, "")).rejects.toThrow("does not speak TLS. Say --insecure");
});

const LOGINS = JSON.stringify({
  auths: {
    "registry.example.com": { auth: Buffer.from("ann:pass:word").toString("base64") },
    "https://other.example.com/v2/": { auth: Buffer.from("bob:hush").toString("base64") },
    "desk.example.com": {},
    "azure.example.com": { auth: Buffer.from("0:").toString("base64"), identitytoken: "hush" },
    "bad.example.com": { auth: "hush" },
  },
  credHelpers: { "helped.example.com": "ecr-login" },
  credsStore: "desktop",
});

test.each([
  ["registry.example.com", {}, { username: "ann", password: "pass:word" }],
  ["other.example.com", {}, { username: "bob", password: "hush" }],
  ["example.com", {}, null],
  ["registry.example.com", { REGISTRY_USERNAME: "eve", REGISTRY_PASSWORD: "p" }, { username: "eve", password: "p" }],
])("[IR2413] the credential for %s with the environment %j is %j", (host, env, expected) => {
  expect(registryCredential(host, env, LOGINS)).toEqual(expected);
});

test.each([
  ["registry.example.com", { REGISTRY_USERNAME: "eve" }, "Set both"],
  ["desk.example.com", {}, "left the password of desk.example.com to another program"],
  ["helped.example.com", {}, "left the password of helped.example.com to another program"],
  ["azure.example.com", {}, "has stored a token"],
  ["bad.example.com", {}, "is damaged"],
])("[IR2413] a credential for %s that cannot be used is refused with the reason", (host, env, reason) => {
  expect(() => registryCredential(host, env, LOGINS)).toThrow(reason);
  expect(() => registryCredential(host, env, LOGINS)).not.toThrow("hush");
});
