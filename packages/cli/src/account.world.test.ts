import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Machine, machine } from "./host.fixture.ts";

let on: Machine;

const world = await startWorld();
afterAll(() => world.stop());
beforeEach(() => {
  on = machine();
});

const signIn = (name?: string) =>
  on.piped(
    `${world.admin.password}\n`,
    "login",
    world.url,
    "--username",
    world.admin.username,
    "--password-stdin",
    ...(name ? ["--name", name] : []),
  );
const stored = () => JSON.parse(on.state ?? "null");

/** A server that is made of answers, by method and path. */
function answering(answers: Record<string, (body: unknown) => Response>): { asked: { path: string; body: unknown }[] } {
  const asked: { path: string; body: unknown }[] = [];
  on.fetch = async (input, init) => {
    const path = `${init?.method ?? "GET"} ${new URL(input as string).pathname.replace("/api/v1", "")}`;
    const body = typeof init?.body === "string" && init.body.startsWith("{") ? JSON.parse(init.body) : null;
    asked.push({ path, body });
    const answer = answers[path];
    if (!answer) throw new Error(`nobody answers ${path}`);
    return answer(body);
  };
  return { asked };
}
const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const DEVICE = {
  device_code: "dev",
  user_code: "BCDF-GHJK",
  verification_uri: "https://b.example.com/device",
  verification_uri_complete: "https://b.example.com/device?user_code=BCDF-GHJK",
  expires_in: 600,
  interval: 5,
};

describe("login", () => {
  test("[BC1] login with a password keeps the session, and `whoami` tells who is signed in", async () => {
    expect(await signIn("lab")).toEqual({
      code: 0,
      out: "",
      err: `Signed in to ${world.url} as ${world.admin.username}. The context is called lab.\n`,
    });
    expect(stored()).toMatchObject({
      current: "lab",
      contexts: {
        lab: { url: world.url, username: world.admin.username, session: { refreshToken: expect.any(String) } },
      },
    });
    expect(on.state).not.toContain(world.admin.password);
    expect((await on.run("whoami", "-o", "name")).out).toBe(`${world.admin.username}\n`);
    expect((await on.run("context", "list", "-o", "jsonpath=$.data[0].name")).out).toBe("lab\n");
    expect((await on.run("context", "list")).out).not.toContain("eyJ");
  });

  test("[BC73] the contract is read at the login and then once a day, and one that is too old gives a warning", async () => {
    const versions: string[] = [];
    let contract = 1;
    on.fetch = async (input, init) => {
      if (!new URL(input as string).pathname.endsWith("/version")) return globalThis.fetch(input, init);
      versions.push(init?.method ?? "GET");
      return contract === 0 ? json(404, { detail: "Not Found" }) : json(200, { contract, build: null });
    };
    const warning = "warning: this program needs contract 2 or newer; the control plane has 1.";
    expect((await signIn("lab")).err).toContain(warning);
    expect(stored().contexts.lab.contract).toEqual({ checked_at: "2026-01-31T10:00:00.000Z", contract: 1 });
    expect((await on.run("whoami")).err).toBe("");
    expect(versions).toHaveLength(1);
    const dayLater = { ...stored() };
    dayLater.contexts.lab.contract.checked_at = "2026-01-30T09:00:00.000Z";
    on.state = JSON.stringify(dayLater);
    contract = 0;
    expect(await on.run("whoami")).toMatchObject({ code: 0, err: "" });
    expect(stored().contexts.lab.contract).toEqual({ checked_at: "2026-01-31T10:00:00.000Z", contract: null });
    expect(await on.run("version")).toMatchObject({ code: 0, err: "The control plane does not tell its version.\n" });
  });

  test("[BC24] login asks a person for the password, and keeps nothing when the person leaves or is wrong", async () => {
    on.isTerminal = true;
    on.answers = [world.admin.password, null, "wrong-password"];
    expect((await on.run("login", world.url, "--username", world.admin.username)).code).toBe(0);
    expect(on.questions).toEqual([`Password of ${world.admin.username}`]);
    const before = on.state;
    expect((await on.run("login", world.url, "--username", world.admin.username)).code).toBe(130);
    expect(await on.run("login", world.url, "--username", world.admin.username)).toMatchObject({
      code: 4,
      err: expect.stringMatching(/^error: /),
    });
    expect(on.state).toBe(before);
  });

  test("[BC2] login verifies a token before it keeps it", async () => {
    expect(await on.piped("bnc_wrong\n", "login", world.url, "--token-stdin")).toMatchObject({ code: 4 });
    expect(on.state).toBeNull();
    const { body } = await world.admin.api.post("/cli-tokens", { name: "ci", scopes: ["clusters:read"] });
    expect(await on.piped(`${body.token}\n`, "login", world.url, "--token-stdin")).toMatchObject({ code: 0 });
    expect(Object.values(stored().contexts)).toMatchObject([{ token: body.token }]);
    expect((await on.piped("", "login", world.url, "--token-stdin")).code).toBe(2);
  });

  test("[BC4] login in the browser asks for a session, shows the code, and keeps the session", async () => {
    on.isTerminal = true;
    let claims = 0;
    const { asked } = answering({
      "POST /auth/cli/device": () => json(200, DEVICE),
      "POST /auth/cli/device/token": () =>
        ++claims < 3
          ? json(400, { error: claims === 1 ? "authorization_pending" : "slow_down" })
          : json(
              200,
              { access_token: "jwt", token_type: "bearer" },
              { "set-cookie": "refresh_token=again; Path=/; HttpOnly" },
            ),
      "GET /user/me": () => json(200, { username: "ada" }),
    });
    const pauses: number[] = [];
    on.onSleep = (ms) => void pauses.push(ms);
    const ran = await on.run("login", "https://b.example.com");
    expect(ran).toMatchObject({ code: 0, out: "", err: expect.stringContaining("Your code is BCDF-GHJK.") });
    expect(on.pages).toEqual([DEVICE.verification_uri_complete]);
    expect(asked[0]?.body).toMatchObject({ kind: "session", client_name: "binnacle on laptop" });
    expect(pauses).toEqual([5000, 5000, 10_000]);
    expect(stored().contexts["b.example.com"]).toEqual({
      url: "https://b.example.com",
      username: "ada",
      session: { accessToken: "jwt", refreshToken: "again" },
    });
  });

  test("[BC4] login takes a token where the server gives no sessions to devices", async () => {
    const { asked } = answering({
      "POST /auth/cli/device": (body) =>
        "kind" in (body as object)
          ? json(422, {
              detail: [{ loc: ["body", "kind"], msg: "Extra inputs are not permitted", type: "extra_forbidden" }],
            })
          : json(200, DEVICE),
      "POST /auth/cli/device/token": () => json(200, { token: "bnc_1" }),
      "GET /user/me": () => json(403, { detail: "Not with a token." }),
      "GET /version": () => json(200, { contract: 2, build: null }),
    });
    expect(await on.run("login", "https://b.example.com", "--no-browser")).toMatchObject({ code: 0 });
    expect(on.pages).toEqual([]);
    expect(asked.map(({ path }) => path)).toEqual([
      "POST /auth/cli/device",
      "POST /auth/cli/device",
      "POST /auth/cli/device/token",
      "GET /user/me",
      "GET /version",
    ]);
    expect(stored().contexts["b.example.com"]).toEqual({
      url: "https://b.example.com",
      token: "bnc_1",
      contract: { checked_at: expect.any(String), contract: 2 },
    });
  });

  test.each([
    ["access_denied", 4, "error: The login was denied.\n"],
    ["expired_token", 6, "error: Nobody approved the login in time.\nfix: binnacle login\n"],
  ])("[BC4] login ends without a context after %s", async (error, code, err) => {
    answering({
      "POST /auth/cli/device": () => json(200, DEVICE),
      "POST /auth/cli/device/token": () => json(400, { error }),
    });
    const ran = await on.run("login", "https://b.example.com");
    expect(ran.code).toBe(code);
    expect(ran.err.endsWith(err)).toBe(true);
    expect(on.state).toBeNull();
  });

  test("[BC4] login by a device that its user approves ends with a credential that the server accepts", async () => {
    let code = "";
    on.fetch = async (input, init) => {
      const response = await globalThis.fetch(input, init);
      if ((input as string).endsWith("/auth/cli/device"))
        code = ((await response.clone().json()) as { user_code?: string }).user_code ?? code;
      return response;
    };
    on.onSleep = async () =>
      void (await world.admin.api.post("/auth/cli/device/approval", { user_code: code, approved: true }));
    expect(await on.run("login", world.url)).toMatchObject({ code: 0 });
    const [context] = Object.values<{ token?: string; session?: object }>(stored().contexts);
    expect(Boolean(context?.token) !== Boolean(context?.session)).toBe(true);
    expect((await on.run("bundles", "list", "-o", "name")).code).toBe(0);
  });
});

describe("logout", () => {
  test("[BC5] logout revokes the session, and forgets it", async () => {
    await signIn("lab");
    const { accessToken, refreshToken } = stored().contexts.lab.session;
    expect(await on.run("logout")).toMatchObject({ code: 0, err: `Signed out of ${world.url}.\n` });
    expect(stored().contexts.lab).toEqual({ url: world.url });
    const me = await globalThis.fetch(`${world.url}/api/v1/user/me`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const renewed = await globalThis.fetch(`${world.url}/api/v1/refresh`, {
      method: "POST",
      headers: { cookie: `refresh_token=${refreshToken}` },
    });
    expect([me.status, renewed.status]).toEqual([401, 401]);
    expect(await on.run("whoami")).toEqual({ code: 4, out: "", err: expect.stringMatching(/fix: binnacle login\n$/) });
  });

  test("[BC5] logout keeps a credential that it could not revoke", async () => {
    await signIn("lab");
    const before = on.state;
    on.fetch = () => Promise.reject(new TypeError("fetch failed"));
    expect(await on.run("logout")).toMatchObject({ code: 7 });
    expect(on.state).toBe(before);
  });

  test("[BC5] logout revokes a token by the token itself", async () => {
    on.state = JSON.stringify({ current: "ci", contexts: { ci: { url: "https://b.example.com", token: "bnc_1" } } });
    const { asked } = answering({ "DELETE /cli-tokens/self": () => new Response(null, { status: 204 }) });
    expect(await on.run("logout")).toMatchObject({ code: 0 });
    expect(asked.map(({ path }) => path)).toEqual(["DELETE /cli-tokens/self"]);
    expect(stored().contexts.ci).toEqual({ url: "https://b.example.com" });
  });
});

describe("contexts", () => {
  test("[BC1] contexts are used, renamed and deleted; a renewed session is kept", async () => {
    await signIn("one");
    await signIn("two");
    expect((await on.run("context", "use", "one", "--org", "demo")).code).toBe(0);
    expect(stored()).toMatchObject({ current: "one", contexts: { one: { org: "demo" } } });
    const { contexts } = stored();
    on.state = JSON.stringify({
      current: "one",
      contexts: { ...contexts, one: { ...contexts.one, session: { ...contexts.one.session, accessToken: "expired" } } },
    });
    expect((await on.run("whoami")).code).toBe(0);
    expect(stored().contexts.one.session.accessToken).toMatch(/^eyJ/);
    expect((await on.run("context", "rename", "one", "first")).code).toBe(0);
    expect((await on.run("context", "delete", "two")).code).toBe(0);
    expect(Object.keys(stored().contexts)).toEqual(["first"]);
    expect((await on.run("context", "use", "nope")).code).toBe(3);
  });

  test("[BC6] no context is needed where the environment names address and token", async () => {
    on.env = { BINNACLE_URL: world.url, BINNACLE_TOKEN: world.admin.token };
    expect((await on.run("whoami", "-o", "name")).out).toBe(`${world.admin.username}\n`);
    expect(on.state).toBeNull();
  });
});
