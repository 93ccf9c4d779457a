import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sshKeyOf } from "../ssh-key.ts";
import { createGiteaHost } from "./gitea.adapter.ts";
import { createGithubHost } from "./github.adapter.ts";
import { createGitlabHost } from "./gitlab.adapter.ts";
import type { HostApiSettings } from "./host-api.adapter.ts";

/**
 * A small server of this test that answers in the shapes that Gitea, GitHub and GitLab publish. It is none of them: what they
 * do beyond these shapes is not tested here.
 */
let server: Server;
let port = 0;
const TOKEN = "hunter2-token";
const requests: { method: string; path: string; headers: Record<string, unknown>; body: unknown }[] = [];
let repositories: Set<string>;
let keys: { id: number; title: string; key: string }[];
let level = 40;
/** Answers everything so, where it is set. */
let always: { status: number; body: string; location?: string } | null;

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const { pathname } = new URL(request.url ?? "/", "http://x");
      const body: unknown = text ? JSON.parse(text) : undefined;
      requests.push({ method: request.method ?? "", path: pathname, headers: request.headers, body });
      const [status, answer] = answerTo(request.method ?? "", request.url ?? "/", body as Record<string, unknown>);
      response
        .writeHead(status, {
          "content-type": "application/json",
          ...(always?.location ? { location: always.location } : {}),
        })
        .end(answer);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());
beforeEach(() => {
  requests.length = 0;
  repositories = new Set();
  keys = [];
  level = 40;
  always = null;
});

function answerTo(method: string, address: string, body: Record<string, unknown>): [number, string] {
  if (always) return [always.status, always.body];
  const url = new URL(address, "http://x");
  const path = url.pathname.replace(/^\/api\/v[14]/, "");
  const json = (status: number, value: unknown): [number, string] => [status, JSON.stringify(value)];
  if (path === "/user") return json(200, { id: 5, login: "robot", username: "robot" });
  if (path === "/users/robot/orgs/acme/permissions") return json(200, { can_create_repository: level >= 40 });
  if (path === "/orgs/acme" || path === "/groups/acme") return json(200, { id: 9, login: "acme" });
  if (path === "/groups/acme/members/all/5") return json(200, { id: 5, access_level: level });
  if (method === "POST" && /^\/(?:orgs\/acme\/repos|projects)$/.test(path)) {
    repositories.add(String(body["name"]));
    return json(201, { id: 1, name: body["name"] });
  }
  if (/protected_branches/.test(path)) return method === "DELETE" ? [204, ""] : json(201, { name: "main" });
  const [, name = "", id] =
    /^\/(?:repos\/acme\/|projects\/acme%2F)([a-z0-9-]+)(?:\/(?:keys|deploy_keys)(?:\/(\d+))?)?$/.exec(path) ?? [];
  if (!repositories.has(name)) return json(404, { message: "Not Found" });
  if (method === "DELETE") {
    const before = keys.length;
    keys = keys.filter((key) => String(key.id) !== id);
    return keys.length < before ? [204, ""] : json(404, { message: "Not Found" });
  }
  if (!path.endsWith("keys")) return json(200, { id: 1, name });
  // Sixty other keys are before it, so that it stands on the second page.
  const others = Array.from({ length: 60 }, (_, other) => ({ id: 1000 + other, title: "x", key: "ssh-rsa AAAA" }));
  const page = Number(url.searchParams.get("page") ?? 1);
  if (method === "GET") return json(200, [...others, ...keys].slice((page - 1) * 50, page * 50));
  const made = { id: 70 + keys.length, title: String(body["title"]), key: `${String(body["key"])} robot@acme` };
  keys.push(made);
  return json(201, made);
}

const settings = (change: Partial<HostApiSettings> = {}): HostApiSettings => ({
  url: `http://127.0.0.1:${port}`,
  owner: "acme",
  token: TOKEN,
  sshUrl: "ssh://git@127.0.0.1:1",
  searchPath: process.env["PATH"] ?? "",
  allowedHosts: ["127.0.0.1"],
  ...change,
});
const KEY = sshKeyOf(Buffer.alloc(32, 4), "deploy");

describe.each([
  ["Gitea", createGiteaHost],
  ["GitHub", createGithubHost],
  ["GitLab", createGitlabHost],
] as const)("the API of %s", (name, create) => {
  test(`[GI41] ${name} gets a private repository once, and a key that may write once`, async () => {
    const host = create(settings());
    const url = "ssh://git@127.0.0.1:1/acme/prod-1.git";
    expect(await host.ensureRepository("prod-1")).toEqual({ url });
    expect(await host.ensureRepository("prod-1")).toEqual({ url });
    const made = requests.filter(({ method, path }) => method === "POST" && /repos$|projects$/.test(path));
    expect(made).toHaveLength(1);
    expect(made[0]?.body).toMatchObject(
      name === "GitLab" ? { visibility: "private", namespace_id: 9 } : { private: true },
    );
    const { id } = await host.addDeployKey("prod-1", { title: "Binnacle", publicKey: KEY.publicKey });
    expect(await host.addDeployKey("prod-1", { title: "Binnacle", publicKey: KEY.publicKey })).toEqual({ id });
    const added = requests.filter(({ method, path }) => method === "POST" && path.endsWith("keys"));
    expect(added).toHaveLength(1);
    expect(added[0]?.body).toMatchObject(name === "GitLab" ? { can_push: true } : { read_only: false });
    expect(keys).toHaveLength(1);
    await host.removeDeployKey("prod-1", id);
    await host.removeDeployKey("prod-1", id);
    expect(keys).toEqual([]);
  });

  test(`[GI40] ${name} is checked, and what is missing is said`, async () => {
    const { problems, hostKeys } = await create(settings()).check();
    // Nothing answers to SSH here.
    expect(problems.map(({ code }) => code)).toEqual(["unreachable"]);
    expect(hostKeys).toEqual([]);
    always = { status: 404, body: "{}" };
    expect((await create(settings()).check()).problems.map(({ code }) => code)).toEqual(["unreachable", "denied"]);
  });

  test(`[GI44] ${name} is asked within the rules for outbound requests, and no error has the token or a text of the host`, async () => {
    const refused = create(settings({ allowedHosts: [] }));
    await expect(refused.ensureRepository("a")).rejects.toMatchObject({ code: "address_refused" });
    expect(requests).toEqual([]);
    for (const [status, body, code] of [
      [401, `{"message":"${TOKEN}"}`, "denied"],
      [403, `{"message":"${TOKEN}"}`, "denied"],
      [500, TOKEN, "unreachable"],
      [429, TOKEN, "unreachable"],
      [418, TOKEN, "unexpected_answer"],
      [200, "x".repeat(2 ** 20 + 1), "unreachable"],
    ] as const) {
      always = { status, body };
      const error = await create(settings())
        .ensureRepository("a")
        .catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name: "GitProblem", code });
      expect(String(error)).not.toContain(TOKEN);
    }
    expect(requests.every(({ path }) => !path.includes(TOKEN))).toBe(true);
    expect(requests.every(({ headers }) => JSON.stringify(headers).includes(TOKEN))).toBe(true);
  });

  test(`[GI44] ${name} is not followed to another address, so that the token is sent nowhere else`, async () => {
    const elsewhere: unknown[] = [];
    const other = createServer((request, response) => {
      elsewhere.push(request.headers);
      response.end("{}");
    });
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    try {
      const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/stolen`;
      always = { status: 302, body: "{}", location };
      await expect(create(settings()).ensureRepository("a")).rejects.toMatchObject({ code: "unexpected_answer" });
      expect((await create(settings()).check()).problems).toMatchObject([{}, { code: "unexpected_answer" }]);
      expect(elsewhere).toEqual([]);
    } finally {
      other.close();
    }
  });

  test(`[GI26] ${name} has one deadline for all requests of a call, however fast each is answered`, async () => {
    const host = create(settings());
    const late = AbortSignal.abort(new DOMException("late", "TimeoutError"));
    for (const call of [
      () => host.ensureRepository("a", late),
      () => host.addDeployKey("a", { title: "x", publicKey: KEY.publicKey }, late),
      () => host.removeDeployKey("a", "1", late),
    ]) {
      await expect(call()).rejects.toMatchObject({ name: "GitProblem", code: "unreachable" });
    }
    expect(requests).toEqual([]);
  });

  test(`[GI44] ${name} gets no name, id or key that is part of another address`, async () => {
    const host = create(settings());
    for (const bad of ["", "../x", "a/b", "A", "a?b", "-a"]) {
      await expect(host.ensureRepository(bad)).rejects.toThrow("The name of a repository");
    }
    await expect(host.removeDeployKey("a", "1/../../x")).rejects.toThrow("The id of a deploy key");
    await expect(host.addDeployKey("a", { title: "x", publicKey: "nothing" })).rejects.toThrow("not a public key");
    expect(requests).toEqual([]);
  });
});

test.each([
  ["Gitea", createGiteaHost],
  ["GitLab", createGitlabHost],
] as const)("[GI40] a user of %s who may not make repositories is told so", async (_, create) => {
  level = 20;
  expect((await create(settings()).check()).problems).toMatchObject([{ code: "unreachable" }, { code: "denied" }]);
});
