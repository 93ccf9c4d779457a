import { expect, test } from "vitest";
import { errorFrom, fails, json, quiet, type Responder, type Sent, scripted } from "./client.fixture.ts";
import { isOfAnother, type SessionTokens } from "./credentials.ts";
import type { BinnacleError } from "./errors.ts";

const EXPIRED = json(401, { detail: "User not authenticated." });
const bearer = ({ headers }: Sent) => headers.get("authorization");
const isRefresh = ({ url }: Sent) => url.endsWith("/refresh");

/** A server to which one access token counts, and which gives it for the refresh token. */
function server(good: string, refreshing: Responder = json(200, { access_token: good })): Responder {
  return (sent) => {
    if (isRefresh(sent)) return refreshing(sent);
    return bearer(sent) === `Bearer ${good}` ? json(200, { id: "me" })(sent) : EXPIRED(sent);
  };
}

const kept = () => {
  const notified: (SessionTokens | null)[] = [];
  return {
    notified,
    options: {
      session: { accessToken: "old", refreshToken: "r" },
      onSession: (it: SessionTokens | null) => notified.push(it),
    },
  };
};

test("[CN15] many callers who are refused at once are served by one refresh", async () => {
  const { notified, options } = kept();
  const { client, clock, sent } = scripted([server("new")], options);
  const answers = await clock.run(Promise.all(Array.from({ length: 50 }, () => client.call("getMe"))));
  expect(answers).toHaveLength(50);
  const refreshes = sent.filter(isRefresh);
  expect(refreshes.map(({ headers }) => headers.get("cookie"))).toEqual(["refresh_token=r"]);
  expect(refreshes.map(bearer)).toEqual([null]);
  expect(notified).toEqual([{ accessToken: "new", refreshToken: "r" }]);
  await clock.run(client.call("getMe"));
  expect(sent.filter(isRefresh)).toHaveLength(1);
});

test("[CN15] a caller who is refused after others have renewed the token uses the renewed token", async () => {
  let release: (response: Response) => void = () => undefined;
  const held = new Promise<Response>((resolve) => {
    release = resolve;
  });
  const { options } = kept();
  const answer = server("new");
  const { client, clock, sent } = scripted([() => held, answer], options);
  const late = client.call("getMe");
  await quiet();
  await clock.run(client.call("getMe"));
  release(new Response('{"detail":"User not authenticated."}', { status: 401 }));
  await clock.run(late);
  expect(sent.filter(isRefresh)).toHaveLength(1);
});

test("[CN15] a change that was refused with 401 is sent again after the refresh", async () => {
  const { options } = kept();
  const { client, clock, sent } = scripted([server("new")], options);
  await clock.run(client.call("updateOrg", { id: "1", body: { name: "a" } }));
  expect(sent.map(({ method, body }) => [method, body])).toEqual([
    ["PUT", '{"name":"a"}'],
    ["POST", undefined],
    ["PUT", '{"name":"a"}'],
  ]);
});

test("[CN15] a credential that is refused again right after it was renewed is an error, not a loop", async () => {
  const { options } = kept();
  const { client, clock, sent } = scripted([server("never", json(200, { access_token: "bad" }))], options);
  const error: BinnacleError = await errorFrom(clock.run(client.call("getMe")));
  expect(error).toMatchObject({ name: "Unauthenticated", message: "User not authenticated.", attempts: 2 });
  expect(sent.filter(isRefresh)).toHaveLength(1);
});

test("[CN15] a caller who leaves does not take the refresh away from the others", async () => {
  const { options } = kept();
  const { client, clock } = scripted([server("new")], options);
  const leaving = new AbortController();
  const left = errorFrom(client.call("getMe", {}, { signal: leaving.signal }));
  const staying = client.call("getMe");
  leaving.abort(new Error("left"));
  expect(await left).toMatchObject({ message: "left" });
  expect(await clock.run(staying)).toEqual({ id: "me" });
});

test("[CN16] a refused refresh ends the session for all, in the words of the API", async () => {
  const { notified, options } = kept();
  const { client, clock, sent } = scripted([server("new", json(401, { detail: "Invalid refresh token." }))], options);
  const errors = await clock.run(Promise.all([1, 2, 3].map(() => errorFrom(client.call("getMe")))));
  expect(errors.map(({ name, message }: BinnacleError) => [name, message])).toEqual(
    Array.from({ length: 3 }, () => ["Unauthenticated", "Invalid refresh token."]),
  );
  expect([notified, client.session, sent.filter(isRefresh).length]).toEqual([[null], null, 1]);
});

test("[CN16] a refresh that cannot reach the server leaves the session for later", async () => {
  const { notified, options } = kept();
  const { client, clock } = scripted([server("new", fails("ECONNREFUSED"))], options);
  const error: BinnacleError = await errorFrom(clock.run(client.call("getMe")));
  expect(error).toMatchObject({ name: "Unreachable", operation: "refreshAccessToken" });
  expect([notified, client.session]).toEqual([[], options.session]);
});

test("[CN17] a login during a refresh is not undone by the refresh, whether it succeeds or fails", async () => {
  for (const late of [json(200, { access_token: "stale" }), json(401, { detail: "Invalid refresh token." })]) {
    let release: (responder: Responder) => void = () => undefined;
    const held = new Promise<Responder>((resolve) => {
      release = resolve;
    });
    const { notified, options } = kept();
    const answer = server("fresh", async (sent) => (await held)(sent));
    const login: Responder = () =>
      new Response('{"access_token":"fresh"}', {
        headers: [["set-cookie", "refresh_token=r2; Path=/api/v1; HttpOnly"]],
      });
    const { client, clock } = scripted([(sent) => (sent.url.endsWith("/login") ? login(sent) : answer(sent))], options);
    const waiting = client.call("getMe");
    await quiet();
    await clock.run(client.login({ username: "a", password: "b" }));
    release(late);
    expect(await clock.run(waiting)).toEqual({ id: "me" });
    expect(client.session).toEqual({ accessToken: "fresh", refreshToken: "r2" });
    expect(notified).toEqual([{ accessToken: "fresh", refreshToken: "r2" }]);
  }
});

test("[CN18] a CLI token is sent as it is and never renewed", async () => {
  const { client, clock, sent } = scripted([EXPIRED]);
  const error: BinnacleError = await errorFrom(clock.run(client.call("getMe")));
  expect([error.name, sent.map(bearer)]).toEqual(["Unauthenticated", ["Bearer bnc_secret"]]);
});

test("[CN18] getCredential is told which credential was refused, once for all who wait", async () => {
  const asked: (string | null)[] = [];
  const getCredential = async ({ rejected }: { rejected: string | null }) => {
    asked.push(rejected);
    return rejected === null ? "old" : "new";
  };
  const { client, clock, sent } = scripted([server("new")], { getCredential });
  await clock.run(Promise.all([client.call("getMe"), client.call("getMe")]));
  expect(asked).toEqual([null, null, "old"]);
  expect(sent.map(bearer)).toEqual(["Bearer old", "Bearer old", "Bearer new", "Bearer new"]);

  const stubborn = scripted([EXPIRED], { getCredential: () => "same" });
  const error: BinnacleError = await errorFrom(stubborn.clock.run(stubborn.client.call("getMe")));
  expect([error.name, stubborn.sent.length]).toEqual(["Unauthenticated", 1]);
});

test("[CN18] two kinds of credential at once are refused", () => {
  expect(() => scripted([], { token: "a", getCredential: () => "b" })).toThrow(
    "one of token, session and getCredential",
  );
});

test("[CN19] in a browser, which keeps the cookie itself, a session begins with a refresh", async () => {
  const { client, clock, sent } = scripted([server("new")], { session: {} });
  await clock.run(client.call("getMe"));
  expect(
    sent.map(({ url, headers }) => [new URL(url).pathname.slice("/api/v1".length), headers.get("cookie")]),
  ).toEqual([
    ["/refresh", null],
    ["/user/me", null],
  ]);
});

const tokenOf = (sub: string, more: object = {}) =>
  ["e30", Buffer.from(JSON.stringify({ sub, ...more })).toString("base64url"), "signature"].join(".");

test.each([
  [tokenOf("ada"), tokenOf("bob"), true],
  [tokenOf("ada", { jti: "1" }), tokenOf("ada", { jti: "2" }), false],
  // Base64url has letters of its own, which this payload needs.
  [tokenOf("ada", { jti: "ÿ?>ÿ" }), tokenOf("bob", { jti: "ÿ?>ÿ" }), true],
  [undefined, tokenOf("bob"), false],
  ["old", "new", false],
])("[WC150] the tokens %s and %s belong to different users: %s", (before, after, expected) => {
  expect(isOfAnother(before, after)).toBe(expected);
});

test("[WC150] a refresh that returns the token of another user ends the session, and sends nothing in their name", async () => {
  const notified: unknown[] = [];
  const { client, clock, sent } = scripted([server(tokenOf("bob"))], {
    session: { accessToken: tokenOf("ada") },
    onSession: (...it) => notified.push(it),
  });
  const error: BinnacleError = await errorFrom(clock.run(client.call("updateOrg", { id: "1", body: { name: "a" } })));
  expect(error).toMatchObject({ name: "Unauthenticated" });
  expect(notified).toEqual([[null, "of_another"]]);
  expect(sent.map(bearer)).not.toContain(`Bearer ${tokenOf("bob")}`);
});

test("[CN16] a program is told whether a session was refused by the server or ended by itself", async () => {
  const ends: unknown[] = [];
  const refused = scripted([server("new", json(401, { detail: "Invalid refresh token." }))], {
    session: { accessToken: "old", refreshToken: "r" },
    onSession: (...it) => ends.push(it),
  });
  await refused.clock.run(errorFrom(refused.client.call("getMe")));
  const left = scripted([json(200, { message: "Bye." })], {
    session: { accessToken: "old", refreshToken: "r" },
    onSession: (...it) => ends.push(it),
  });
  await left.clock.run(left.client.logout());
  expect(ends).toEqual([
    [null, "refused"],
    [null, "signed_out"],
  ]);
});
