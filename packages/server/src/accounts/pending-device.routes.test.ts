import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const SECOND = 1_000;
const WANTED = { client_name: "binnacle on laptop", requested_scopes: ["clusters:read", "bundles:read"] };

const world = await startWorld({ env: { BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
afterAll(() => world.stop());

const addressed = (address: string) => world.anyone.with({ "x-forwarded-for": address });
const start = async (address: string) => (await addressed(address).post("/auth/cli/device", WANTED)).body;
const pending = (code: string, { api }: Person) => api.get(`/auth/cli/device/${code}`);
const decide = (api: Client, user_code: string, approved: boolean) =>
  api.post("/auth/cli/device/approval", { user_code, approved });

describe("what waits for a decision", () => {
  test("[CT32] one address has at most 50 undecided device logins, also when they begin at once, and silent ones give their place", async () => {
    const here = addressed("203.0.113.10");
    const begin = async () => (await here.post("/auth/cli/device", WANTED)).body;
    const poll = async ({ device_code }: { device_code: string }) =>
      (await here.post("/auth/cli/device/token", { device_code })).body.error;
    const silent = await begin();
    world.clock.advance(15 * SECOND);
    const flood = await Promise.all(Array.from({ length: 60 }, () => here.post("/auth/cli/device", WANTED)));
    expect(flood.filter(({ status }) => status === 200)).toHaveLength(50);
    const refused = flood.find(({ status }) => status === 429);
    expect(refused?.body.detail).toContain("Too many logins of this address wait for a decision.");
    expect(refused?.headers.get("retry-after")).toBe("15");
    const { count } = await world.database.kysely
      .selectFrom("device_logins")
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .where("source_address", "=", "203.0.113.10")
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(50);
    expect(await poll(silent)).toBe("expired_token");

    world.clock.advance(15 * SECOND);
    const newcomer = await begin();
    expect((await decide(world.admin.api, newcomer.user_code, true)).status).toBe(204);
    expect(await poll(newcomer)).toBeUndefined();
  });

  test("[CT32] of the device logins of one address that have missed three polls, the one that has been silent for longest expires", async () => {
    const here = addressed("203.0.113.15");
    const begin = async () => (await here.post("/auth/cli/device", WANTED)).body;
    const poll = async ({ device_code }: { device_code: string }) =>
      (await here.post("/auth/cli/device/token", { device_code })).body.error;
    const [polled, silent] = [await begin(), await begin()];
    world.clock.advance(5 * SECOND);
    const silentSinceLater = await begin();
    expect(await poll(polled)).toBe("authorization_pending");
    await Promise.all(Array.from({ length: 47 }, begin));
    world.clock.advance(9 * SECOND);
    expect((await here.post("/auth/cli/device", WANTED)).status).toBe(429);
    world.clock.advance(SECOND);
    expect((await here.post("/auth/cli/device", WANTED)).status).toBe(200);
    expect(await poll(silent)).toBe("expired_token");
    expect([await poll(polled), await poll(silentSinceLater)]).toEqual(Array(2).fill("authorization_pending"));
  });

  test("[CT396] a device login that polls stays open while others from its address begin logins, polled or not", async () => {
    const here = addressed("203.0.113.14");
    const begin = async () => (await here.post("/auth/cli/device", WANTED)).body;
    const { device_code, user_code } = await begin();
    const flood = () => Promise.all(Array.from({ length: 55 }, begin));
    await flood();
    for (let round = 0; round < 4; round++) {
      world.clock.advance(5 * SECOND);
      const { body } = await here.post("/auth/cli/device/token", { device_code });
      expect(body).toEqual({ error: "authorization_pending" });
      const others = await flood();
      for (const other of others.filter(({ device_code: code }) => code)) {
        await here.post("/auth/cli/device/token", { device_code: other.device_code });
      }
    }
    expect((await decide(world.admin.api, user_code, true)).status).toBe(204);
    await flood();
    world.clock.advance(5 * SECOND);
    expect((await here.post("/auth/cli/device/token", { device_code })).body.token).toMatch(/^bnc_/);
  });

  test("[CT33] GET /auth/cli/device/{code} shows a signed-in user who asks for what, from where and since when", async () => {
    const created_at = world.clock.now().toISOString();
    const { user_code } = (await addressed("203.0.113.12").post("/auth/cli/device", WANTED)).body;
    world.clock.advance(60 * SECOND);
    const person = await world.person();
    const { status, body } = await pending(user_code.toLowerCase().replace("-", ""), person);
    expect(status).toBe(200);
    expect(body).toEqual({
      user_code,
      client_name: WANTED.client_name,
      kind: "token",
      scopes: WANTED.requested_scopes,
      org_id: null,
      org_name: null,
      project_id: null,
      project_name: null,
      source_address: "203.0.113.12",
      created_at,
      age_seconds: 60,
      expires_in: 540,
    });
  });

  test("[CT33] GET /auth/cli/device/{code} is a 404 if unknown, expired or decided, and is refused without a session", async () => {
    const person = await world.person();
    const [decided, expired] = [await start("203.0.113.1"), await start("203.0.113.1")];
    await decide(person.api, decided.user_code, false);
    expect((await world.anyone.get(`/auth/cli/device/${expired.user_code}`)).status).toBe(401);
    const { token } = (await person.api.post("/cli-tokens", { name: "x", scopes: ["clusters:read"] })).body;
    const cli = world.anyone.with({ authorization: `Bearer ${token}` });
    expect((await cli.get(`/auth/cli/device/${expired.user_code}`)).status).toBe(403);
    world.clock.advance(600 * SECOND);
    const notThere = { status: 404, body: { detail: "Device login not found." } };
    for (const code of [decided.user_code, expired.user_code, "ZZZZ-ZZZZ", "x"]) {
      expect(await pending(code, person)).toMatchObject(notThere);
    }
    expect((await pending("x".repeat(21), person)).status).toBe(422);
  });

  test("[CT34] a caller who has tried twenty unknown user codes gets a 429 for any code, for a minute", async () => {
    const [mallory, other] = [await world.person(), await world.person()];
    const device = (await addressed("203.0.113.13").post("/auth/cli/device", WANTED)).body;
    const guesses = Array.from({ length: 10 }, (_, index) => `ZZZZ-ZZZ${"BCDFGHJKLM"[index]}`);
    for (const code of guesses) {
      expect((await pending(code, mallory)).status).toBe(404);
      // A code that is there takes back no wrong one.
      expect((await pending(device.user_code, mallory)).status).toBe(200);
      expect((await decide(mallory.api, code, true)).status).toBe(404);
    }
    const refused = await pending(device.user_code, mallory);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await decide(mallory.api, device.user_code, true)).status).toBe(429);
    expect((await pending(device.user_code, other)).status).toBe(200);
    world.clock.advance(60 * SECOND);
    expect((await pending(device.user_code, mallory)).status).toBe(200);
  });

  test("[CT34] reading an existing user code 25 times is not throttled", async () => {
    const person = await world.person();
    const { user_code } = await start("203.0.113.1");
    for (let read = 0; read < 25; read++) expect((await pending(user_code, person)).status).toBe(200);
  });
});
