import { startWorld, type World } from "@binnacle/world";
import { decodeJwt } from "jose";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

/** A world whose clock may be turned as far as a test likes. */
async function worldOfItsOwn(env: Record<string, string> = {}): Promise<World> {
  const own = await startWorld({ env });
  onTestFinished(() => own.stop());
  return own;
}

const login = (username: string, password: string, { anyone }: Pick<World, "anyone"> = world) =>
  anyone.send("POST", "/login", { form: { username, password } });
const refresh = (cookie: string, { anyone } = world) => anyone.with({ cookie }).post("/refresh");
const me = (token: string, { anyone } = world) => anyone.with({ authorization: `Bearer ${token}` }).get("/user/me");

const notAuthenticated = { status: 401, body: { detail: "User not authenticated." } };
const wrong = { status: 401, body: { detail: "Wrong username, email or password." } };

test("[OP5] the log line of a request has the id of its user, also where the request is refused", async () => {
  const person = await world.person();
  for (const [path, status] of [
    ["/user/me", 200],
    ["/orgs/01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", 404],
  ] as const) {
    const answer = await person.api.get(path);
    expect(answer.status).toBe(status);
    const id = answer.headers.get("x-request-id");
    await vi.waitFor(() => {
      const line = world.logged.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === id);
      expect(line).toMatchObject({ msg: "request", status, user_id: person.id });
    });
  }
});

describe("POST /login", () => {
  test("[AU1] POST /login takes the username or the email address, in any case, and answers with a bearer token", async () => {
    const { username, email, password, id } = await world.person();
    for (const name of [username, email, username.toUpperCase(), email.toUpperCase(), ` ${email} `]) {
      const answer = await login(name, password);
      expect(answer).toMatchObject({ status: 200, body: { token_type: "bearer" } });
      expect(Object.keys(answer.body).sort()).toEqual(["access_token", "token_type"]);
      expect((await me(answer.body.access_token)).body.id).toBe(id);
    }
  });

  test.each([
    ["another site", "cross-site", "https://evil.example", 403],
    ["another host of the site", "same-site", "https://other.example.com", 403],
    ["a sandboxed frame", "cross-site", "null", 403],
    ["another site that a browser names by its origin alone", null, "https://evil.example", 403],
    ["a name that was given the address of the server", "same-origin", "http://rebind.evil.example", 403],
    ["the console itself", "same-origin", "https://binnacle.example.com", 200],
    ["the console itself, named by its origin alone", null, "https://binnacle.example.com", 200],
    ["an origin that is trusted", "cross-site", "https://portal.example.com", 200],
  ])(
    "[AU56] a login that is sent by a page of %s is answered according to its origin",
    async (_, site, origin, status) => {
      const own = await worldOfItsOwn({
        BINNACLE_CORS_ORIGINS: "https://portal.example.com",
        BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
      });
      const { username, password } = await own.person();
      const sent = own.anyone.with({ origin, ...(site === null ? {} : { "sec-fetch-site": site }) });
      const answer = await login(username, password, { anyone: sent });
      expect(answer.status).toBe(status);
      expect(answer.headers.get("set-cookie") === null).toBe(status === 403);
    },
  );

  test("[AU87] a page of another origin can neither use nor end the session of the cookie, and the console's own can", async () => {
    const { token, cookie } = await world.person();
    const page = (origin: string) => world.anyone.with({ authorization: `Bearer ${token}`, cookie, origin });
    for (const path of ["/refresh", "/logout"]) {
      const refused = await page("https://evil.example").post(path);
      expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining("BINNACLE_PUBLIC_URL") } });
      expect(refused.headers.get("set-cookie")).toBeNull();
      expect((await page(world.url).post(path)).status).toBe(200);
    }
  });

  test("[AU1] POST /login takes the fields of the OAuth2 password flow and no other", async () => {
    const { username, password } = await world.person();
    const form = { username, password, grant_type: "password", scope: "", client_id: "", client_secret: "" };
    expect((await world.anyone.send("POST", "/login", { form })).status).toBe(200);
    const extra = await world.anyone.send("POST", "/login", { form: { ...form, remember: "yes" } });
    expect(extra).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "remember"] }] } });
  });

  test("[AU1] POST /login takes only a form, with username and password", async () => {
    const { username, password } = await world.person();
    expect((await world.anyone.post("/login", { username, password })).status).toBe(415);
    const empty = await world.anyone.send("POST", "/login", { form: {} });
    expect(empty.status).toBe(422);
    expect(empty.body.detail).toEqual([
      { loc: ["body", "username"], msg: "Field required", type: "missing" },
      { loc: ["body", "password"], msg: "Field required", type: "missing" },
    ]);
  });

  test("[AU2] POST /login gives a wrong password and an unknown user the same 401", async () => {
    const { username, password } = await world.person();
    const answers = [
      await login(username, `${password}!`),
      await login("nobody", password),
      await login(" ", password),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject(wrong);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  test("[AU3] POST /login sets the refresh token as an HttpOnly and SameSite=Lax cookie", async () => {
    const { username, password } = await world.person();
    const cookie = (await login(username, password)).headers.get("set-cookie") ?? "";
    const [value, ...attributes] = cookie.split("; ");
    expect(value).toMatch(/^refresh_token=[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(attributes.sort()).toEqual(["HttpOnly", "Max-Age=604800", "Path=/api/v1", "SameSite=Lax"]);
  });

  test("[AU3] [AU42] outside local the refresh cookie is Secure, and the first superuser is the configured one", async () => {
    const staging = await worldOfItsOwn({
      BINNACLE_ENVIRONMENT: "staging",
      BINNACLE_ADMIN_EMAIL: "Root@Example.com",
      BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
      BINNACLE_ADMIN_PASSWORD: "not the default one",
    });
    const answer = await login("root@example.com", "not the default one", staging);
    expect(answer.headers.get("set-cookie")).toContain("; Secure");
    const { body } = await me(answer.body.access_token, staging);
    expect(body).toMatchObject({ email: "root@example.com", is_superuser: true, organizations: [] });
    expect(await login("admin", "binnacle", staging)).toMatchObject(wrong);
  });

  test("[AU42] in local the superuser admin and the organization demo exist from the start", async () => {
    for (const name of ["admin", "admin@binnacle.local"]) expect((await login(name, "binnacle")).status).toBe(200);
    expect((await world.admin.api.get("/user/me")).body).toMatchObject({
      is_superuser: true,
      organizations: [{ name: "demo", role: "admin" }],
    });
  });

  test("[AU4] POST /login gives an access token for 30 minutes and a refresh token for 7 days", async () => {
    const { token, cookie } = await world.person();
    expect(lifetimeOf(token)).toBe(30 * 60);
    expect(lifetimeOf(cookie.slice("refresh_token=".length))).toBe(7 * 24 * 60 * 60);
  });

  test("[AU4] POST /login gives tokens with the configured lifetimes", async () => {
    const own = await worldOfItsOwn({ BINNACLE_ACCESS_TOKEN_MINUTES: "5", BINNACLE_REFRESH_TOKEN_DAYS: "1" });
    expect(lifetimeOf(own.admin.token)).toBe(5 * 60);
    const answer = await login("admin", "binnacle", own);
    expect(answer.headers.get("set-cookie")).toContain("Max-Age=86400");
    own.clock.advance(5 * MINUTE);
    expect(await me(own.admin.token, own)).toMatchObject(notAuthenticated);
  });

  test("[AU17] POST /login refuses a password of a million characters without hashing it", async () => {
    const started = performance.now();
    const answer = await login("admin", "x".repeat(1_000_000));
    expect([413, 422]).toContain(answer.status);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe("POST /refresh", () => {
  test("[AU5] POST /refresh gives a new access token each time and leaves the cookie as it is", async () => {
    const { cookie, token, id } = await world.person();
    const first = await refresh(cookie);
    const second = await refresh(cookie);
    expect(first).toMatchObject({ status: 200, body: { token_type: "bearer" } });
    expect(first.headers.get("set-cookie")).toBeNull();
    expect(new Set([token, first.body.access_token, second.body.access_token]).size).toBe(3);
    for (const one of [token, first.body.access_token, second.body.access_token]) {
      expect((await me(one)).body.id).toBe(id);
    }
  });

  test("[AU6] POST /refresh without the cookie is a 401 that says so", async () => {
    const missing = { status: 401, body: { detail: "Refresh token missing." } };
    expect(await world.anyone.post("/refresh")).toMatchObject(missing);
    expect(await refresh("refresh_token=")).toMatchObject(missing);
    expect(await refresh("other=1")).toMatchObject(missing);
  });

  test("[AU6] POST /refresh refuses a cookie that is forged or a token for another purpose", async () => {
    const { cookie, token } = await world.person();
    for (const bad of [`${cookie.slice(0, -4)}AAAA`, "refresh_token=nonsense", `refresh_token=${token}`]) {
      expect(await refresh(bad)).toMatchObject({ status: 401, body: { detail: "Invalid refresh token." } });
    }
  });

  test("[AU4] [AU6] POST /refresh works until the session expires, and no access token outlives the session", async () => {
    const own = await worldOfItsOwn();
    const { cookie } = await own.person();
    own.clock.advance(7 * DAY - MINUTE);
    const last = await refresh(cookie, own);
    expect(last.status).toBe(200);
    expect((await me(last.body.access_token, own)).status).toBe(200);
    own.clock.advance(MINUTE);
    expect(await me(last.body.access_token, own)).toMatchObject(notAuthenticated);
    expect(await refresh(cookie, own)).toMatchObject({ status: 401, body: { detail: "Invalid refresh token." } });
  });
});

describe("a bearer token", () => {
  test("[AU11] an invalid bearer token gets the same 401 whatever is wrong with it", async () => {
    const { token, cookie } = await world.person();
    const [, payload = "", signature = ""] = token.split(".");
    const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
    const refused = [
      "",
      "Bearer",
      `Basic ${token}`,
      "Bearer nonsense",
      `Bearer ${token.slice(0, -4)}AAAA`,
      `Bearer ${unsigned}.${payload}.`,
      `Bearer ${unsigned}.${payload}.${signature}`,
      `Bearer ${cookie.slice("refresh_token=".length)}`,
      "Bearer bnc_unknown",
    ];
    for (const authorization of refused) {
      const answer = await world.anyone.with({ authorization }).get("/user/me");
      expect(answer, authorization).toMatchObject(notAuthenticated);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    expect(await world.anyone.get("/user/me")).toMatchObject(notAuthenticated);
    expect((await me(token)).status).toBe(200);
  });

  test("[AU4] [AU11] an expired bearer token is a 401, while its session goes on", async () => {
    const own = await worldOfItsOwn();
    const { token, cookie } = await own.person();
    own.clock.advance(30 * MINUTE - 1_000);
    expect((await me(token, own)).status).toBe(200);
    own.clock.advance(1_000);
    expect(await me(token, own)).toMatchObject(notAuthenticated);
    expect((await me((await refresh(cookie, own)).body.access_token, own)).status).toBe(200);
  });
});

function lifetimeOf(token: string): number {
  const { exp = 0, iat = 0 } = decodeJwt(token);
  return exp - iat;
}
