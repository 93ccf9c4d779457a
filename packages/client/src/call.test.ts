import { inspect } from "node:util";
import { expect, test } from "vitest";
import { errorFrom, fails, json, type Responder, scripted, silent } from "./client.fixture.ts";
import { makeClient } from "./client.ts";
import type { BinnacleError, FailureOf, Invalid } from "./errors.ts";
import * as all from "./index.ts";
import type { Answer, CallName, Input, ItemOf, ListName } from "./operation.ts";

const ORG = { id: "1", name: "demo" };
const busy = json(503, { detail: "The database cannot be reached." }, { "retry-after": "2" });
const limited = (seconds: string) => json(429, { detail: "Rate limit exceeded." }, { "retry-after": seconds });

test("[CN3] a call sends its parameters, body and credential, and returns the answer", async () => {
  const { client, clock, sent } = scripted([json(200, ORG, { etag: '"1.2"', "x-request-id": "r1" })], {
    userAgent: "t/1",
  });
  const body = { name: "demo" };
  expect(await clock.run(client.send("updateOrg", { id: "1", body }))).toEqual({
    data: ORG,
    status: 200,
    etag: '"1.2"',
    requestId: "r1",
  });
  expect(sent).toMatchObject([{ method: "PUT", url: "https://binnacle.test/api/v1/orgs/1", body: '{"name":"demo"}' }]);
  expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
    accept: "application/json",
    authorization: "Bearer bnc_secret",
    "content-type": "application/json",
    "user-agent": "t/1",
  });
  expect(clock.pendingTimers).toBe(0);
});

test("[CN313] a function that is generic in the operation calls it without a cast", async () => {
  const { client, clock, sent } = scripted([json(200, ORG), json(200, { data: [ORG], total_count: 1 })]);
  const read = <N extends CallName>(name: N, input: Input<N>): Promise<Answer<N>> =>
    client.call(name, input, { timeoutMs: 5_000 });
  const first = async <N extends ListName>(name: N, input: Input<N>): Promise<ItemOf<N> | null> => {
    for await (const item of client.pages(name, input, { timeoutMs: 5_000 })) return item;
    return null;
  };
  expect((await clock.run(read("getOrg", { id: "1" }))).name).toBe("demo");
  expect((await clock.run(first("listOrgs", {})))?.name).toBe("demo");
  expect(sent).toHaveLength(2);
});

test("[CN3] an empty answer is null, and an operation that takes no credential is sent none", async () => {
  const { client, clock, sent } = scripted([json(204, null), json(400, { error: "slow_down" })]);
  expect(await clock.run(client.call("deleteOrg", { id: "1" }))).toBeNull();
  const error: BinnacleError = await errorFrom(
    clock.run(client.call("claimDeviceToken", { body: { device_code: "d" } })),
  );
  expect([error.name, error.code]).toEqual(["Refused", "slow_down"]);
  expect(sent[1]?.headers.has("authorization")).toBe(false);
});

test.each<[number, unknown, string, string, string | null]>([
  [400, { detail: "The request is not valid." }, "Refused", "The request is not valid.", null],
  [401, { detail: "User not authenticated." }, "Unauthenticated", "User not authenticated.", null],
  [403, { detail: "No." }, "Forbidden", "No.", null],
  [404, { detail: "Organization not found." }, "NotFound", "Organization not found.", null],
  [409, { detail: "Taken." }, "Conflict", "Taken.", null],
  [
    409,
    { detail: { code: "app_paused", message: "The app is paused." } },
    "Conflict",
    "The app is paused.",
    "app_paused",
  ],
  [410, { detail: "Gone." }, "Refused", "Gone.", null],
  [412, { detail: "Changed." }, "PreconditionFailed", "Changed.", null],
  [429, { detail: "Rate limit exceeded." }, "RateLimited", "Rate limit exceeded.", null],
  [500, { detail: "Internal Server Error", request_id: "r" }, "ServerFault", "Internal Server Error", null],
  [504, { detail: "The cluster did not answer." }, "ServerFault", "The cluster did not answer.", null],
  [418, "tea", "Refused", "The server answered with status 418.", null],
])("[CN4] an answer %i with %j becomes a %s", async (status, body, name, message, code) => {
  const { client, clock } = scripted([json(status, body, { "x-request-id": "r1" })]);
  const error: BinnacleError = await errorFrom(
    clock.run(client.call("updateApp", { namespace: "a", name: "b", project_id: "c", body: {} })),
  );
  expect(error).toBeInstanceOf(all.BinnacleError);
  expect(error).toBeInstanceOf(Reflect.get(all, name));
  expect(error).toMatchObject({
    name,
    message,
    code,
    status,
    body,
    requestId: "r1",
    operation: "updateApp",
    attempts: 1,
  });
});

test("[CN4] the error of a 422 has every invalid field, in its message too", async () => {
  const items = [
    { loc: ["body", "components", 0, "name"], msg: "Field required", type: "missing" },
    { loc: ["body"], msg: "Exactly one is required", type: "value_error" },
  ];
  const { client, clock } = scripted([json(422, { detail: items })]);
  const error: Invalid = await errorFrom(clock.run(client.call("getMe")));
  expect(error).toMatchObject({ kind: "invalid", items });
  expect(error.message).toBe("components.0.name: Field required; body: Exactly one is required");
});

test("[CN4] an attempt returns failures as values with a type of their own", async () => {
  const { client, clock } = scripted([json(404, { detail: "Organization not found." }), json(200, ORG)]);
  const first = await clock.run(client.attempt("getOrg", { id: "1" }));
  const error: FailureOf<"getOrg"> | null = first.ok ? null : first.error;
  expect(error?.kind).toBe("not_found");
  // @ts-expect-error a read of an organization cannot be in conflict
  expect(error?.kind === "conflict").toBe(false);
  expect(await clock.run(client.attempt("getOrg", { id: "1" }))).toEqual({ ok: true, data: ORG });
});

test("[CN5] no credential and no password shows in errors or in the client itself", async () => {
  const attempts: unknown[] = [];
  const secret = "hunter2-and-more";
  const options = {
    session: { accessToken: secret, refreshToken: secret },
    onAttempt: (it: unknown) => attempts.push(it),
  };
  const { client, clock } = scripted([fails("ECONNREFUSED")], options);
  const errors = [
    await errorFrom(clock.run(client.login({ username: "ada", password: secret }))),
    await errorFrom(clock.run(client.call("getMe"))),
    await errorFrom(
      clock.run(client.call("createUser", { body: { name: "A", username: "a", email: "a@b.c", password: secret } })),
    ),
  ];
  const { session: _, ...shown } = Object.getOwnPropertyDescriptors(client);
  for (const it of [...errors, attempts, shown]) {
    expect(inspect(it, { depth: 20, showHidden: true })).not.toContain(secret);
    expect(JSON.stringify(it) ?? "").not.toContain(secret);
  }
  expect(inspect(client, { depth: 20, showHidden: true })).not.toContain(secret);
  expect(attempts).toHaveLength(12);
});

test.each([
  ["https://ada:hunter2@binnacle.test"],
  ["https://binnacle.test/?token=hunter2"],
  ["https://binnacle.test/#hunter2"],
  ["ftp://binnacle.test/hunter2"],
  ["hunter2"],
])("[CN5] the address %s is refused without being repeated in the error", (url) => {
  const { clock } = scripted([]);
  let message = "";
  try {
    makeClient({ url, clock });
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toMatch(/url/);
  expect(message).not.toContain("hunter2");
});

test("[CN6] a redirect is not followed, and the error names it without the rest of its address", async () => {
  const redirect: Responder = () =>
    new Response(null, { status: 308, headers: { location: "https://elsewhere.test/api/v1/login?x=hunter2" } });
  const { client, clock, sent } = scripted([redirect]);
  const error: BinnacleError = await errorFrom(clock.run(client.login({ username: "a", password: "b" })));
  expect([error.name, error.message]).toEqual([
    "UnexpectedAnswer",
    "The server redirects to https://elsewhere.test. Use the address it redirects to.",
  ]);
  expect(sent).toHaveLength(1);
});

test("[CN6] a page in front of the API is not taken for an answer of the API", async () => {
  const page: Responder = () => new Response("<html>Sign in to the hotel</html>", { status: 200 });
  const { client, clock, sent } = scripted([page]);
  const error: BinnacleError = await errorFrom(clock.run(client.call("getMe")));
  expect([error.name, error.status, sent.length]).toEqual(["UnexpectedAnswer", 200, 1]);
});

test("[CN8] all attempts of a creating call carry one key, another call another key, and a given key is used", async () => {
  const { client, clock, sent } = scripted([fails("ECONNRESET"), busy, json(201, ORG)]);
  await clock.run(client.call("createOrg", { body: { name: "a" } }));
  await clock.run(client.call("createOrg", { body: { name: "a" } }));
  await clock.run(client.call("createOrg", { body: { name: "a" } }, { idempotencyKey: "mine" }));
  await clock.run(client.call("updateOrg", { id: "1", body: { name: "a" } }));
  const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
  expect(keys).toEqual(["key-1", "key-1", "key-1", "key-2", "mine", null]);
});

test("[CN9] a wait that the server asks for is observed before the next attempt", async () => {
  const { client, clock, sent } = scripted([busy, json(200, ORG)]);
  const startedAt = clock.now();
  await clock.run(client.call("getOrg", { id: "1" }));
  expect([sent.length, clock.now() - startedAt]).toEqual([2, 2_125]);
});

test.each([
  ["31", {}],
  ["5", { timeoutMs: 4_000 }],
])(
  "[CN9] a wait of %s s that is too long, or longer than %j, fails at once and the error says how long it is",
  async (seconds, options) => {
    const { client, clock, sent } = scripted([limited(seconds)]);
    const startedAt = clock.now();
    const error: BinnacleError = await errorFrom(clock.run(client.call("getOrg", { id: "1" }, options)));
    expect(error).toMatchObject({ name: "RateLimited", retryAfterSeconds: Number(seconds), attempts: 1 });
    expect([sent.length, clock.now() - startedAt]).toEqual([1, 0]);
  },
);

test("[CN10] a call ends after the fourth attempt, with the last failure", async () => {
  const { client, clock, sent } = scripted([fails("ECONNREFUSED")]);
  const error: BinnacleError = await errorFrom(clock.run(client.call("getMe")));
  expect(error).toMatchObject({
    name: "Unreachable",
    message: "Cannot connect to binnacle.test (ECONNREFUSED).",
    attempts: 4,
  });
  expect(sent).toHaveLength(4);
});

test("[CN12] an attempt that is not answered in time is given up, and the call ends at its deadline", async () => {
  const { client, clock, sent } = scripted([silent, json(200, ORG)], { attemptTimeoutMs: 1_000 });
  expect(await clock.run(client.call("getOrg", { id: "1" }))).toEqual(ORG);
  expect(sent.map(({ signal }) => signal.aborted)).toEqual([true, false]);

  const slow = scripted([silent], { attemptTimeoutMs: 1_000 });
  const startedAt = slow.clock.now();
  const error: BinnacleError = await errorFrom(slow.clock.run(slow.client.call("getMe", {}, { timeoutMs: 1_500 })));
  expect(error).toMatchObject({
    name: "TimedOut",
    message: "No answer within 1.5 s.",
    attempts: 2,
    mayHaveHappened: false,
  });
  expect([slow.clock.now() - startedAt, slow.clock.pendingTimers]).toEqual([1_500, 0]);
});

test("[CN12] a call does not wait for an answer whose end does not come", async () => {
  const { client, clock } = scripted([() => new Response(new ReadableStream({}), { status: 200 })], {
    retry: { attempts: 1 },
  });
  const error: BinnacleError = await errorFrom(clock.run(client.call("getMe", {}, { attemptTimeoutMs: 700 })));
  expect([error.name, error.message]).toEqual(["TimedOut", "No answer within 0.7 s."]);
});

test("[CN13] a signal ends a call wherever it is, with its own reason, and nothing is sent after it", async () => {
  const reason = new Error("enough");
  for (const responder of [silent, busy]) {
    const leaving = new AbortController();
    const { client, clock, sent } = scripted([responder]);
    const calling = errorFrom(client.call("getMe", {}, { signal: leaving.signal }));
    await clock.run(Promise.resolve());
    leaving.abort(reason);
    expect(await calling).toBe(reason);
    expect([sent.length, clock.pendingTimers]).toEqual([1, 0]);
  }
  const { client, sent } = scripted([silent]);
  expect(await errorFrom(client.call("getMe", {}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  expect(sent).toEqual([]);
});

test("[CN14] a change that may have been carried out is not sent again, and its error says so", async () => {
  const scale = { namespace: "a", name: "b", project_id: "c", body: { component_name: "web", replicas: 2 } };
  for (const [responder, name] of [
    [fails("ECONNRESET"), "Unreachable"],
    [silent, "TimedOut"],
    [busy, "ServerFault"],
  ] as const) {
    const { client, clock, sent } = scripted([responder]);
    const error: BinnacleError = await errorFrom(clock.run(client.call("scaleApp", scale)));
    expect(error).toMatchObject({ name, mayHaveHappened: true, attempts: 1 });
    expect(sent).toHaveLength(1);
  }
});

test("[CN14] a deletion that finds nothing after an attempt without an answer reports that it may have happened", async () => {
  const gone = json(404, { detail: "Organization not found." });
  const { client, clock } = scripted([fails("ECONNRESET"), gone]);
  const error: BinnacleError = await errorFrom(clock.run(client.call("deleteOrg", { id: "1" })));
  expect(error).toMatchObject({ name: "NotFound", mayHaveHappened: true, attempts: 2 });
});

test("[CN20] a list is read a page at a time, as it is asked for, and an item that moves to the next page comes once", async () => {
  const page = (ids: string[], has_more: boolean) =>
    json(200, { data: ids.map((id) => ({ id })), has_more, total_count: 5 });
  const { client, clock, sent } = scripted([page(["5", "4"], true), page(["4", "3"], true), page(["2"], false)]);
  const found: string[] = [];
  const pages = client.pages("listApps", { project_id: "p" });
  for (let step = await clock.run(pages.next()); !step.done; step = await clock.run(pages.next())) {
    found.push(step.value.id);
    if (found.length === 1) expect(sent).toHaveLength(1);
  }
  expect(found).toEqual(["5", "4", "3", "2"]);
  expect(sent.map(({ url }) => url.split("?")[1])).toEqual([
    "items_per_page=100&project_id=p&page=1",
    "items_per_page=100&project_id=p&page=2",
    "items_per_page=100&project_id=p&page=3",
  ]);
});

test("[CN32] a page that ends early is followed by its cursor, and all items come", async () => {
  const page = (ids: string[], next_cursor: string | null) =>
    json(200, { data: ids.map((id) => ({ id })), has_more: next_cursor !== null, next_cursor, total_count: 3 });
  const { client, clock, sent } = scripted([page(["3"], "1"), page(["2"], "2"), page(["1"], null)]);
  const found: string[] = [];
  const pages = client.pages("listApps", { items_per_page: 3 });
  for (let step = await clock.run(pages.next()); !step.done; step = await clock.run(pages.next())) {
    found.push(step.value.id);
  }
  expect(found).toEqual(["3", "2", "1"]);
  expect(sent.map(({ url }) => url.split("?")[1])).toEqual([
    "items_per_page=3&page=1",
    "items_per_page=3&cursor=1",
    "items_per_page=3&cursor=2",
  ]);
});

test("[CN32] a list without pages that ends early is followed by its cursor alone", async () => {
  const part = (keys: string[], next_cursor: string | null) =>
    json(200, { data: keys.map((key) => ({ key })), next_cursor, total_count: 2 });
  const { client, clock, sent } = scripted([part(["host"], "1"), part(["port"], null)]);
  const found: string[] = [];
  const pages = client.pages("listAvailableExports", { id: "p" });
  for (let step = await clock.run(pages.next()); !step.done; step = await clock.run(pages.next())) {
    found.push(step.value.key);
  }
  expect(found).toEqual(["host", "port"]);
  expect(sent.map(({ url }) => url.split("?")[1])).toEqual([undefined, "cursor=1"]);
});

test("[CN20] a list that comes whole is requested once, without a page", async () => {
  const { client, clock, sent } = scripted([json(200, { data: [{ version: "1.4" }], total_count: 1 })]);
  const pages = client.pages("listBundles");
  expect((await clock.run(pages.next())).value).toEqual({ version: "1.4" });
  expect((await clock.run(pages.next())).done).toBe(true);
  expect(sent.map(({ url }) => url)).toEqual(["https://binnacle.test/api/v1/bundles"]);
});
