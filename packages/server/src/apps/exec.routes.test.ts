import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { CLOSE, EXEC_BEARER_PREFIX, EXEC_LIMITS, EXEC_SUBPROTOCOL, NEGOTIATED_REQUESTS } from "@binnacle/contract";
import { type Person, startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type SimulatedOperator, simulateOperator } from "../../../../test/world/simulated-operator.ts";
import { bindRole, insertProject } from "../access/bindings.fixture.ts";
import { createAgentTokens } from "../clusters/agent-token.adapter.ts";
import { operatorFor } from "../hub/operator.fixture.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { openShop, type Shop, WEB, workload } from "./app.fixture.ts";
import { ExecClient } from "./exec.fixture.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const ORIGIN = "https://console.example.com";

let shop: Shop;
let name: string;
let orgAdmin: Person;
let operator: SimulatedOperator;
const open: ExecClient[] = [];

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY, BINNACLE_CORS_ORIGINS: ORIGIN } });
afterAll(() => world.stop());
beforeEach(async () => {
  shop = await openShop(world);
  name = await shop.app();
  orgAdmin = await world.person({ org: shop.org, role: "admin" });
  const { token } = await (await createAgentTokens(SIGNING_KEY, world.clock.now)).mint(shop.cluster, 1);
  operator = simulateOperator({ url: world.url, token });
  await vi.waitFor(() => expect(operator.link.isLive).toBe(true), SOON);
});
afterEach(async () => {
  for (const client of open.splice(0)) client.leave();
  await operator.stop();
});

const path = (query: string, app = name, component = "web") =>
  `${world.url}/api/v1${shop.path(app, `/components/${component}/exec`, query)}`;
const words = (command: readonly string[]) => command.map((word) => `&command=${encodeURIComponent(word)}`).join("");
const bearer = ({ token }: Pick<Person, "token">) => ({ headers: { authorization: `Bearer ${token}` } });

function exec(command: readonly string[], query = "", person: Pick<Person, "token"> = shop.editor): ExecClient {
  const client = new ExecClient(path(words(command) + query), bearer(person));
  open.push(client);
  return client;
}

async function entries(): Promise<readonly { action: string; changes: Record<string, unknown>; actor: object }[]> {
  const { data } = (await orgAdmin.api.get(`/orgs/${shop.org}/audit-log`)).body;
  return data.filter(({ action }: { action: string }) => action.startsWith("app.exec"));
}
const ending = () => vi.waitUntil(async () => (await entries()).find((one) => one.action === "app.exec_ended"), SOON);

describe("a command", () => {
  test("[EX1] [EX12] a command runs in a container, with output and exit code, and its start and end are in the audit log", async () => {
    const client = exec(["end", "3"], "&tty=false");
    expect(await client.ended()).toEqual({ code: 1000, reason: "The command has ended." });
    expect([client.stdout, client.stderr, client.exit]).toEqual(["hello\n", "oops\n", { exit_code: 3 }]);
    const end = await ending();
    expect(end.changes).toMatchObject({ reason: "exited", exit_code: 3, bytes_in: 0, bytes_out: 11 });
    const [, begin] = await entries();
    expect(begin).toMatchObject({
      action: "app.exec",
      actor: { id: shop.editor.id },
      changes: { component: "web", pod: "web-0", container: "web", command: ["end", "3"], tty: false },
    });
  });

  test("[EX4] a command gets its input to the last byte, and the end of the input", async () => {
    const client = await exec(["cat"], "&tty=false").opened();
    const sent = randomBytes(100_000).toString("base64");
    for (let at = 0; at < sent.length; at += 20_000) client.type(sent.slice(at, at + 20_000));
    client.frame(0);
    expect(await client.ended()).toMatchObject({ code: 1000 });
    expect(client.stdout).toBe(sent);
    expect((await ending()).changes).toMatchObject({ bytes_in: sent.length, bytes_out: sent.length });
  });

  test("[EX4] a command gets the size of the terminal, at the start and later", async () => {
    const client = await exec(["size"], "&cols=120&rows=40").opened();
    await client.seen("40 120");
    client.resize(100, 30);
    await client.seen("30 100");
  });

  test("[EX4] a command that cannot be started is reported in the last frame", async () => {
    const client = exec(["missing"]);
    expect(await client.ended()).toEqual({ code: 4502, reason: "exec: missing: not found" });
    expect(client.exit).toEqual({ error: "exec: missing: not found" });
  });

  test("[EX12] a command is in the audit log before it runs, and its input and output are neither there nor in the log", async () => {
    const client = await exec(["cat"]).opened();
    client.type("hunter2-typed");
    await client.seen("hunter2-typed");
    expect((await entries()).map(({ action }) => action)).toEqual(["app.exec"]);
    client.leave();
    expect((await ending()).changes).toMatchObject({ reason: "client_closed", bytes_in: 13, bytes_out: 13 });
    expect(JSON.stringify(await entries())).not.toContain("hunter2");
    expect(world.logged.join()).not.toContain("hunter2");
  });
});

describe("authentication", () => {
  test("[EX2] the exec route accepts the token as a subprotocol, and it is in no log line or audit entry", async () => {
    const client = new ExecClient(path(words(["cat"])), {}, [EXEC_SUBPROTOCOL, EXEC_BEARER_PREFIX + shop.editor.token]);
    open.push(client);
    await client.opened();
    expect(client.socket.protocol).toBe(EXEC_SUBPROTOCOL);
    client.leave();
    await ending();
    expect(world.logged.join()).not.toContain(shop.editor.token);
    expect(JSON.stringify(await entries())).not.toContain(shop.editor.token);
  });

  test("[EX2] exec with a token in the query is refused like any unknown parameter, and without a token it is a 401", async () => {
    const anonymous = new ExecClient(path(`${words(["cat"])}&token=${shop.editor.token}`));
    expect((await anonymous.refused()).status).toBe(401);
    expect((await exec(["cat"], `&token=${shop.editor.token}`).refused()).status).toBe(422);
  });

  test("[EX3] the exec route needs an editor, and a CLI token with the scope write", async () => {
    expect((await exec(["cat"], "", shop.viewer).refused()).status).toBe(403);
    expect((await exec(["cat"], "", shop.member).refused()).status).toBe(404);
    expect((await exec(["cat"], "", shop.stranger).refused()).status).toBe(404);
    const other = await insertProject(world.database.kysely, shop.org, shop.cluster);
    const neighbour = await world.person({ org: shop.org });
    await bindRole(world.database.kysely, neighbour.id, "editor", { project: other });
    expect((await exec(["cat"], "", neighbour).refused()).status).toBe(404);
    const cliToken = async (body: object) =>
      (await shop.editor.api.post("/cli-tokens", { name: "laptop", ...body })).body as { token: string };
    expect((await exec(["cat"], "", await cliToken({ scopes: ["read"] })).refused()).status).toBe(403);
    await exec(["cat"], "", await cliToken({ scopes: ["write"] })).opened();
    await exec(["cat"], "", await cliToken({ scopes: ["write"], project_id: shop.project })).opened();
    await exec(["cat"], "", orgAdmin).opened();
    await exec(["cat"], "", world.admin).opened();
  });

  test("[EX5] exec from a page of another origin is refused, and from the console's own is not", async () => {
    const from = (origin: string) => {
      const client = new ExecClient(path(words(["cat"])), { ...bearer(shop.editor), origin });
      open.push(client);
      return client;
    };
    expect((await from("https://evil.example.com").refused()).status).toBe(403);
    expect((await from("null").refused()).status).toBe(403);
    await from(ORIGIN).opened();
    await from(world.url).opened();
  });
});

describe("a refusal", () => {
  test("[EX6] a refused exec is an answer in the common form and leaves no audit entry", async () => {
    const refused = async (query: string, app = name, component = "web") => {
      const client = new ExecClient(path(query, app, component), bearer(shop.editor));
      return client.refused();
    };
    expect(await refused("&pod=other-0")).toMatchObject({
      status: 404,
      body: { detail: "The component web has no pod other-0." },
      headers: { "x-request-id": expect.any(String), connection: "close" },
    });
    expect((await refused("", name, "absent")).status).toBe(404);
    expect((await refused("", "absent")).status).toBe(404);
    expect((await refused("&cols=0")).body.detail).toMatchObject([{ loc: ["query", "cols"] }]);
    expect((await refused("&command=")).body.detail).toMatchObject([{ loc: ["query", "command", 0] }]);
    expect((await refused("&pod=..%2Fx")).status).toBe(422);
    expect(await entries()).toEqual([]);
  });

  test("[EX6] exec without a WebSocket handshake is checked in the same way, and is a 426", async () => {
    const plain = await shop.editor.api.get(shop.path(name, "/components/web/exec"));
    expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"]);
    const other = new ExecClient(path(""), bearer(shop.editor), "binnacle.exec.v9");
    expect((await other.refused()).status).toBe(426);
    expect((await shop.editor.api.get(shop.path(name, "/components/web/exec", "&pod=nope"))).status).toBe(404);
    expect((await shop.viewer.api.get(shop.path(name, "/components/web/exec"))).status).toBe(403);
    expect(await entries()).toEqual([]);
  });

  test("[EX6] exec with an incomplete WebSocket handshake is refused and changes nothing", async () => {
    const answered = new Promise<number>((resolve, reject) => {
      const headers = { ...bearer(shop.editor).headers, connection: "Upgrade", upgrade: "websocket" };
      const sent = request(path(""), { headers: { ...headers, "sec-websocket-protocol": EXEC_SUBPROTOCOL } });
      sent.on("response", (response) => resolve(response.statusCode ?? 0)).on("error", reject);
      sent.end();
    });
    expect(await answered).toBe(426);
    expect(await entries()).toEqual([]);
  });

  test("[EX6] exec without an operator is a 503, and with one that is too old a 502", async () => {
    await operator.stop();
    await vi.waitFor(async () => expect((await exec(["cat"]).refused()).status).toBe(503), SOON);
    const old = await operatorFor(world, SIGNING_KEY, shop.cluster);
    old.requests = ["resources", "run"];
    await old.greet();
    expect(await exec(["cat"]).refused()).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining("too old") },
    });
    await old.leave();
  });

  test("[EX10] exec beyond the number of sessions of a user is a 429", async () => {
    for (let count = 0; count < EXEC_LIMITS.perUser; count += 1) await exec(["cat"]).opened();
    expect((await exec(["cat"]).refused()).status).toBe(429);
    await exec(["cat"], "", orgAdmin).opened();
  });
});

describe("frames", () => {
  test.each<[string, (client: ExecClient) => void]>([
    ["text", (client) => client.socket.send("ls\n")],
    ["nothing", (client) => client.socket.send(Buffer.alloc(0))],
    ["an unknown channel", (client) => client.frame(7, "x")],
    ["a channel of the server", (client) => client.frame(1, "x")],
    ["a size of zero", (client) => client.frame(4, '{"cols":0,"rows":1}')],
    ["a size that is not JSON", (client) => client.frame(4, "wide")],
  ])("[EX4] a frame with %s ends the exec session with 4400", async (_what, send) => {
    const client = await exec(["cat"]).opened();
    send(client);
    client.type("after");
    expect(await client.ended()).toMatchObject({ code: 4400 });
    expect(client.stdout).toBe("");
    expect((await ending()).changes).toMatchObject({ reason: "protocol_error" });
  });

  test("[EX4] a frame that is too large ends the exec session with 1009", async () => {
    const client = await exec(["cat"]).opened();
    client.type(Buffer.alloc(EXEC_LIMITS.frameBytes + 1));
    expect(await client.ended()).toMatchObject({ code: 1009 });
    expect((await ending()).changes).toMatchObject({ reason: "protocol_error", bytes_in: 0 });
  });
});

describe("backpressure", () => {
  test("[EX7] an exec client that does not read stops its output, and other sessions go on", async () => {
    const slow = await exec(["yes"]).opened();
    await vi.waitUntil(() => slow.outputBytes > 0, SOON);
    slow.socket.pause();
    const heapBefore = process.memoryUsage().rss;
    const other = await exec(["cat"]).opened();
    for (let round = 0; round < 50; round += 1) {
      other.type(`round ${round};`);
      await other.seen(`round ${round};`);
    }
    expect(process.memoryUsage().rss - heapBefore).toBeLessThan(64 * 1024 * 1024);
    const before = slow.outputBytes;
    slow.socket.resume();
    await vi.waitUntil(() => slow.outputBytes > before + 1_000_000, SOON);
  });

  test("[RQ40] an operator that sends more output than it was credited loses its session, and the exec client is told", async () => {
    await operator.stop();
    const hostile = await operatorFor(world, SIGNING_KEY, shop.cluster);
    hostile.requests = NEGOTIATED_REQUESTS;
    await hostile.greet();
    const client = exec(["yes"]);
    const { id: ref } = await hostile.next("stream_open");
    hostile.say({ type: "stream_target", ref, pod: "web-0", container: "web", credit_bytes: 9 });
    await client.opened();
    client.socket.pause();
    await hostile.next("stream_credit");
    const data = Buffer.alloc(EXEC_LIMITS.frameBytes).toString("base64");
    // The network takes some megabytes for a client that does not read.
    await vi.waitUntil(() => {
      for (let count = 0; count < 20; count += 1) hostile.say({ type: "stream_output", ref, channel: "stdout", data });
      return hostile.closed;
    }, SOON);
    expect(await hostile.closeCode()).toBe(CLOSE.protocolError);
    expect(world.logged.join()).toContain("stream_output exceeds the credit of its stream");
    client.socket.resume();
    expect(await client.ended()).toMatchObject({ code: 4503 });
  });

  test("[EX7] input that the command does not read waits at the client, and other sessions go on", async () => {
    const client = await exec(["sink"]).opened();
    const chunk = Buffer.alloc(EXEC_LIMITS.frameBytes);
    for (let count = 0; count < 1_000; count += 1) client.type(chunk);
    await vi.waitUntil(() => client.socket.bufferedAmount > 1_000_000, SOON);
    const other = await exec(["cat"]).opened();
    other.type("through");
    await other.seen("through");
    await orgAdmin.api.patch(`/clusters/${shop.cluster}/settings`, { exec_enabled: false });
    // Both sessions end, in any order.
    await vi.waitFor(async () => {
      const taken = (await entries()).map(({ changes }) => changes["bytes_in"]);
      expect(taken.filter((bytes) => bytes !== undefined)).toEqual(expect.arrayContaining([64 * 1024, 7]));
    }, SOON);
  });
});

describe("a session ends at once", () => {
  const cases: [string, number, string, () => Promise<unknown>][] = [
    ["its user signs out", 4401, "credential_ended", () => signOut()],
    [
      "the role is lost",
      4403,
      "access_lost",
      () => orgAdmin.api.put(`/projects/${shop.project}/rbac`, { user_id: shop.editor.id, role: "viewer" }),
    ],
    ["the app is deleted", 4404, "app_gone", () => shop.editor.api.delete(shop.path(name))],
    [
      "the component is deleted",
      4404,
      "app_gone",
      () =>
        shop.editor.api.patch(shop.path(name), {
          components: [
            { op: "add", ...workload("other") },
            { op: "remove", name: "web" },
          ],
        }),
    ],
    [
      "it is switched off for the cluster",
      4409,
      "exec_disabled",
      () => orgAdmin.api.patch(`/clusters/${shop.cluster}/settings`, { exec_enabled: false }),
    ],
    ["the operator goes", 4503, "operator_lost", () => operator.stop()],
  ];
  const signOut = async () => {
    const [session] = (await shop.editor.api.get("/sessions")).body.data;
    return shop.editor.api.delete(`/sessions/${session.id}`);
  };
  test.each(cases)(
    "[EX8] [EX12] an exec session ends at once when %s, and the audit log has the reason",
    async (_what, code, reason, act) => {
      const client = await exec(["cat"]).opened();
      const answer = await act();
      if (answer) expect((answer as { status: number }).status).toBeLessThan(300);
      const closed = await client.ended();
      expect(closed.code).toBe(code);
      expect(closed.reason).not.toBe("");
      expect((await ending()).changes).toMatchObject({ reason });
    },
  );

  test("[EX8] an exec session ends at once when the access token expires", async () => {
    const client = await exec(["cat"]).opened();
    const lifetimeMs = 30 * 60_000;
    world.clock.advance(lifetimeMs);
    expect(await client.ended()).toMatchObject({ code: 4401 });
    world.clock.advance(-lifetimeMs);
    expect((await ending()).changes).toMatchObject({ reason: "credential_ended" });
  });

  test("[EX8] an exec session ends at once when the CLI token is revoked", async () => {
    const { id, token } = (await shop.editor.api.post("/cli-tokens", { name: "laptop", scopes: ["write"] })).body;
    const client = await exec(["cat"], "", { token }).opened();
    expect((await shop.editor.api.delete(`/cli-tokens/${id}`)).status).toBe(204);
    expect(await client.ended()).toMatchObject({ code: 4401 });
  });
});

describe("the setting of the cluster", () => {
  test("[EX9] exec_enabled in the cluster's settings turns exec off with a 409 and on again, for org admins only", async () => {
    const settings = `/clusters/${shop.cluster}/settings`;
    expect((await shop.editor.api.patch(settings, { exec_enabled: false })).status).toBe(403);
    expect((await orgAdmin.api.patch(settings, { exec_enabled: false })).body.exec_enabled).toBe(false);
    expect(await exec(["cat"]).refused()).toMatchObject({
      status: 409,
      body: { detail: { code: "exec_disabled", message: expect.stringContaining("exec_enabled") } },
    });
    await orgAdmin.api.patch(settings, { exec_enabled: true });
    await exec(["cat"]).opened();
  });

  test("[EX9] exec in an app that is being deleted is a 409", async () => {
    const other = await shop.app([WEB]);
    await operator.stop();
    await shop.editor.api.delete(shop.path(other));
    const client = new ExecClient(path("", other), bearer(shop.editor));
    expect(await client.refused()).toMatchObject({ status: 409, body: { detail: { code: "app_deleting" } } });
  });
});
