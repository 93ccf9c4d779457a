import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { startWorld } from "@binnacle/world";
import { Pipe } from "@binnacle/world/pipe";
import { afterAll, expect, test } from "vitest";
import { errorFrom } from "./client.fixture.ts";
import type { BinnacleError, Invalid } from "./errors.ts";
import { type ClientOptions, createClient } from "./index.ts";

/** Of one user. */
const MOST_STREAMS = 20;

const world = await startWorld({ env: { BINNACLE_EVENT_STREAMS_PER_USER: String(MOST_STREAMS) } });
const ada = await world.person({ org: world.demoOrgId });
afterAll(() => world.stop());

/** Renews its token, because other tests turn the clock of the world. */
function asAdmin(options: Partial<ClientOptions> = {}) {
  const { token, cookie } = world.admin;
  const session = { accessToken: token, refreshToken: cookie.replace("refresh_token=", "") };
  return createClient({ url: world.url, session, ...options });
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A way to the world that loses the answers of as many requests as it is told to, after they were carried out. */
async function losingAnswers(): Promise<{
  url: string;
  lose: { count: number };
  seen: IncomingMessage[];
  server: Server;
}> {
  const lose = { count: 0 };
  const seen: IncomingMessage[] = [];
  const server = createServer((incoming, outgoing) => {
    seen.push(incoming);
    const { method = "GET", url = "/", headers } = incoming;
    const onward = request(world.url + url, { method, headers }, (answer) => {
      answer.once("error", () => outgoing.destroy());
      if (lose.count > 0) {
        lose.count--;
        answer.resume().once("end", () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return { url: await listening(server), lose, seen, server };
}

test("[CN19] a login is kept, an expired access token is renewed once for all, and a logout ends the session", async () => {
  const attempts: string[] = [];
  const client = createClient({ url: `${world.url}/api/v1/`, onAttempt: ({ operation }) => attempts.push(operation) });
  const refused: BinnacleError = await errorFrom(client.login({ username: ada.username, password: "wrong password" }));
  expect([refused.name, refused.message, client.session]).toEqual([
    "Unauthenticated",
    "Wrong username, email or password.",
    null,
  ]);
  expect(await errorFrom(client.call("getMe"))).toMatchObject({ name: "Unauthenticated" });

  await client.login({ username: ada.username, password: ada.password });
  expect((await client.call("getMe")).username).toBe(ada.username);
  const { accessToken } = client.session ?? {};

  world.clock.advance(31 * 60_000);
  attempts.length = 0;
  await Promise.all(Array.from({ length: 5 }, () => client.call("getMe")));
  expect(attempts.filter((it) => it === "refreshAccessToken")).toHaveLength(1);
  expect(client.session?.accessToken).not.toBe(accessToken);

  const kept = createClient({ url: world.url, session: client.session ?? {} });
  expect((await kept.call("getMe")).username).toBe(ada.username);
  await client.logout();
  expect(client.session).toBeNull();
  expect(await errorFrom(kept.call("getMe"))).toMatchObject({
    name: "Unauthenticated",
    message: "Invalid refresh token.",
  });
  expect(kept.session).toBeNull();
});

test("[CN18] the client accepts a CLI token as a credential", async () => {
  const { token } = await asAdmin().call("createCliToken", { body: { name: "ci", scopes: ["bundles:read"] } });
  const client = createClient({ url: world.url, token });
  expect((await client.call("getVersion")).contract).toBeGreaterThanOrEqual(1);
  expect(await errorFrom(client.call("listUsers"))).toMatchObject({ name: "Forbidden", status: 403 });
});

test("[CN4] failures of the client have the server's words and its request id", async () => {
  const client = asAdmin();
  const invalid: Invalid = await errorFrom(client.call("createOrg", { body: { name: "" } }));
  expect(invalid).toMatchObject({ name: "Invalid", items: [{ loc: ["body", "name"], type: "string_too_short" }] });
  expect(invalid.requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(world.logged.join("")).toContain(invalid.requestId);
  const missing = await errorFrom(client.call("getOrg", { id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11" }));
  expect(missing).toMatchObject({ name: "NotFound", message: "Organization not found." });
  await client.call("createOrg", { body: { name: "taken" } });
  expect(await errorFrom(client.call("createOrg", { body: { name: "taken" } }))).toMatchObject({ name: "Conflict" });
});

test("[CN8] a creation whose answers are lost is made once, and its answer is that of the first attempt", async () => {
  const way = await losingAnswers();
  const client = asAdmin({ url: way.url, retry: { baseMs: 1 } });
  await client.call("getMe");
  way.seen.length = 0;
  way.lose.count = 2;
  const org = await client.call("createOrg", { body: { name: "lost and found" } });
  expect(new Set(way.seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(way.seen).toHaveLength(3);
  const names: string[] = [];
  for await (const { id, name } of client.pages("listOrgs")) if (name === "lost and found") names.push(id);
  expect(names).toEqual([org.id]);
  way.server.close();
});

test("[CN14] a change whose answer is lost is sent once, and the error says that it may have happened", async () => {
  const way = await losingAnswers();
  const client = asAdmin({ url: way.url, retry: { baseMs: 1 } });
  await client.call("getMe");
  way.seen.length = 0;
  way.lose.count = 1;
  const settings = { org_id: world.demoOrgId, body: { settings: { note: "once" } } };
  const error = await errorFrom(client.call("updateOrgSettings", settings));
  expect(error).toMatchObject({ name: "Unreachable", mayHaveHappened: true });
  expect(way.seen).toHaveLength(1);
  const read = await asAdmin().call("getOrgSettings", { org_id: world.demoOrgId });
  expect(read.settings).toMatchObject({ note: "once" });
  way.server.close();
});

test("[CN20] every item of a list comes once, over all its pages", async () => {
  const client = asAdmin();
  for (let count = 0; count < 7; count++) await client.call("createOrg", { body: { name: `page ${count}` } });
  const all = await client.call("listOrgs", { items_per_page: 100 });
  const found: string[] = [];
  for await (const { id } of client.pages("listOrgs", { items_per_page: 3 })) found.push(id);
  expect(found).toEqual(all.data.map(({ id }) => id));
  expect(found.length).toBeGreaterThan(6);
});

test("[CN22] events are followed over a cut connection and an expired token, and none is missed", async () => {
  const pipe = await Pipe.to(Number(new URL(world.url).port));
  const client = createClient({ url: `http://127.0.0.1:${pipe.port}` });
  await client.login({ username: "admin", password: world.admin.password });
  const events = client.stream("streamEvents", { resource_type: "activity" });
  const next = async () => (await events.next()).value;
  const nextAbout = async (name: string) => {
    for (let item = await next(); ; item = await next()) {
      if (item?.type === "event" && item.data.resource.name === name) return item.event;
    }
  };
  expect(await next()).toEqual({ type: "open" });
  await asAdmin({ session: client.session ?? {} }).call("createOrg", { body: { name: "first event" } });
  expect(await nextAbout("first event")).toBe("activity");

  await pipe.close();
  await asAdmin({ session: client.session ?? {} }).call("createOrg", { body: { name: "second event" } });
  await pipe.open();
  expect(await next()).toMatchObject({ type: "event", data: { resource: { name: "second event" } } });

  const before = client.session?.accessToken;
  world.clock.advance(31 * 60_000);
  pipe.cut();
  const [item] = await Promise.all([next(), client.call("createOrg", { body: { name: "third event" } })]);
  expect(item).toMatchObject({ type: "event" });
  expect(client.session?.accessToken).not.toBe(before);
  await events.return();
  await pipe.close();
});

test("[CN21] a reader who leaves the loop frees the place of the stream on the server", async () => {
  const client = createClient({ url: world.url });
  await client.login({ username: "admin", password: world.admin.password });
  // The last of these would be too many if those before it were not closed.
  for (let count = 0; count < MOST_STREAMS + 5; count++) {
    for await (const item of client.stream("streamEvents")) {
      expect(item).toEqual({ type: "open" });
      break;
    }
  }
});

test("[CN9] a call that is rate limited is repeated when the server says, over real HTTP", async () => {
  const answers = [
    { status: 429, headers: { "retry-after": "0" }, body: { detail: "Rate limit exceeded." } },
    { status: 503, headers: { "retry-after": "0" }, body: { detail: "The database cannot be reached." } },
    { status: 502, headers: {}, body: null },
    { status: 200, headers: {}, body: { contract: 2, build: null } },
  ];
  const server = createServer((_, outgoing) => {
    const { status, headers, body } = answers.shift() ?? { status: 500, headers: {}, body: null };
    outgoing.writeHead(status, headers).end(body ? JSON.stringify(body) : "<html>");
  });
  const client = createClient({ url: await listening(server), token: "t", retry: { baseMs: 1 } });
  expect(await client.call("getVersion")).toEqual({ contract: 2, build: null });
  expect(answers).toEqual([]);
  server.close();
});

test("[CT44] the client keeps the session of an approved device, and returns the token of one that asked for a token", async () => {
  const client = createClient({ url: world.url });
  const started = async (body: object) => (await world.anyone.post("/auth/cli/device", body)).body;
  const approve = async (user_code: string) => {
    const { accessToken } = (await signedInAgain()).session ?? {};
    const api = world.anyone.with({ authorization: `Bearer ${accessToken}` });
    expect((await api.post("/auth/cli/device/approval", { user_code, approved: true })).status).toBe(204);
  };
  const session = await started({ client_name: "laptop", kind: "session" });
  const undecided = await errorFrom(client.claimDevice(session.device_code));
  expect((undecided as BinnacleError).status).toBe(400);
  await approve(session.user_code);
  world.clock.advance(5_000);
  expect(await client.claimDevice(session.device_code)).toBeNull();
  expect(client.session).toEqual({ accessToken: expect.any(String), refreshToken: expect.any(String) });
  expect((await client.call("getMe")).id).toBe(ada.id);

  const token = await started({ client_name: "ci", requested_scopes: ["read"] });
  await approve(token.user_code);
  const given = await createClient({ url: world.url }).claimDevice(token.device_code);
  expect((await createClient({ url: world.url, token: given ?? "" }).call("getMe")).id).toBe(ada.id);
});

/** Ada, whose first access token may have expired. */
async function signedInAgain() {
  const client = createClient({ url: world.url });
  await client.login({ username: ada.username, password: ada.password });
  return client;
}
