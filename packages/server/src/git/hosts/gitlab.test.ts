import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sshKeyOf } from "../ssh-key.ts";
import { createGitlabHost } from "./gitlab.adapter.ts";

interface Level {
  readonly id: number;
  readonly access_level: number | null;
  readonly deploy_key_id?: number;
  readonly user_id?: number;
}

/**
 * A small server of this test with the answers that GitLab publishes for protected branches and deploy keys. The free edition adds
 * deploy keys to a protection and removes no entry of it.
 */
let server: Server;
let port = 0;
let isFree = false;
/** As versions before 17.5, which know no deploy keys in this request. */
let isOld = false;
let keys: { id: number; key: string }[] = [];
let branches: Map<string, Level[]>;
let nextId = 100;
const calls: string[] = [];
/** Who may push after each change; null where nobody is kept out. */
const moments: (readonly number[] | null)[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const [status, body] = answerTo(request.method ?? "", request.url ?? "", text ? JSON.parse(text) : {});
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());
beforeEach(() => {
  isFree = false;
  isOld = false;
  keys = [1, 2, 3, 4].map((id) => ({ id, key: keyOf(id) }));
  branches = new Map();
  calls.length = 0;
  moments.length = 0;
});

function answerTo(method: string, address: string, body: Record<string, unknown>): [number, unknown] {
  const url = new URL(address, "http://x");
  const path = url.pathname.replace("/api/v4/projects/acme%2Fprod", "");
  if (path === "/deploy_keys") return [200, url.searchParams.get("page") === "1" ? keys : []];
  calls.push(`${method} ${path}`);
  const asked = isOld ? [] : ((body["allowed_to_push"] ?? []) as (Partial<Level> & { _destroy?: boolean })[]);
  const added = asked
    .filter(({ deploy_key_id }) => deploy_key_id !== undefined)
    .map(({ deploy_key_id = 0 }) => ({ id: nextId++, access_level: 40, deploy_key_id }));
  const name = /^\/protected_branches\/(.+)$/.exec(path)?.[1] ?? String(body["name"]);
  const levels = branches.get(name);
  if (method === "POST") {
    if (levels) return [409, { message: "exists" }];
    branches.set(name, added.length > 0 ? added : [{ id: nextId++, access_level: 40 }]);
  } else if (!levels) return [404, { message: "404 Not found" }];
  if (method === "DELETE") branches.delete(name);
  if (method === "PATCH") {
    const gone = isFree ? [] : asked.flatMap(({ id, _destroy }) => (_destroy ? [id] : []));
    branches.set(name, [...(levels ?? []).filter(({ id }) => !gone.includes(id)), ...added]);
  }
  if (method !== "GET") moments.push(pushers(name));
  return [method === "POST" ? 201 : method === "DELETE" ? 204 : 200, { name, push_access_levels: branches.get(name) }];
}

const keyOf = (seed: number) => sshKeyOf(Buffer.alloc(32, seed), "deploy").publicKey;
/** Deploy keys by their ids, and 0 for people. */
const pushers = (name: string) =>
  branches
    .get(name)
    ?.map(({ deploy_key_id = 0 }) => deploy_key_id)
    .sort() ?? null;
const host = () =>
  createGitlabHost({
    ...{ url: `http://127.0.0.1:${port}`, owner: "acme", token: "hunter2", sshUrl: "ssh://git@127.0.0.1:1" },
    ...{ searchPath: "", allowedHosts: ["127.0.0.1"] },
  });
const allow = (seeds: readonly number[], branch = "main") =>
  host().allowPushes("prod", { branch, publicKeys: seeds.map(keyOf) });
const people = (): Level[] => [{ id: 1, access_level: 40 }];
const withKeys = (...ids: number[]): Level[] => ids.map((id) => ({ id, access_level: 40, deploy_key_id: id }));

describe("the branch that GitLab protects", () => {
  test("[GI42] a branch without a protection gets one for all keys of ours", async () => {
    await allow([1, 2], "state");
    expect(pushers("state")).toEqual([1, 2]);
    expect(branches.has("main")).toBe(false);
  });

  test("[GI42] a key is added while those before it go on working, and at no moment is the branch open to others", async () => {
    branches.set("main", withKeys(1, 2));
    await allow([1, 2, 3]);
    expect(moments).toEqual([[1, 2, 3]]);
    await allow([1, 2, 3]);
    expect(moments).toHaveLength(1);
  });

  test("[GI46] people and keys of others are taken out of the protection", async () => {
    branches.set("main", [...people(), ...withKeys(2, 4), { id: 7, access_level: 40, user_id: 5 }]);
    await allow([2, 3]);
    expect(moments).toEqual([[2, 3]]);
  });

  test("[GI46] the entry that lets nobody push is none of others", async () => {
    branches.set("main", [{ id: 9, access_level: 0 }, ...withKeys(1)]);
    await allow([1]);
    expect(moments).toEqual([]);
  });

  test("[GI46] at the free edition, which takes nobody out, the protection is made again with all keys of ours", async () => {
    isFree = true;
    branches.set("main", [...people(), ...withKeys(1)]);
    await allow([1, 2]);
    // Our keys push to a branch without a protection as well.
    expect(moments).toEqual([[0, 1, 2], null, [1, 2]]);
    await allow([1, 2, 3]);
    expect(moments.slice(3)).toEqual([[1, 2, 3]]);
  });

  test("[GI42] a key that the repository does not have is left out", async () => {
    keys = keys.filter(({ id }) => id !== 2);
    await allow([1, 2]);
    expect(pushers("main")).toEqual([1]);
    await expect(allow([2])).rejects.toMatchObject({ code: "denied" });
    expect(pushers("main")).toEqual([1]);
  });

  test("[GI42] a GitLab that cannot name keys in a protection is said to be too old", async () => {
    isOld = true;
    await expect(allow([1])).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("17.5") });
    expect(calls.length).toBeLessThan(20);
  });
});
