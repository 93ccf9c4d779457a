import { SCOPES, type Scope } from "@binnacle/contract";
import { type Person, startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { hold } from "./locked-row.fixture.ts";

const DAY = 24 * 60 * 60_000;
const NOBODYS = "0198c0de-0000-7000-8000-000000000000";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const bearer = (token: string, { anyone } = world) => anyone.with({ authorization: `Bearer ${token}` });

async function tokenOf({ api }: Person, ...scopes: Scope[]): Promise<{ id: string; token: string }> {
  return (await api.post("/cli-tokens", { name: "laptop", scopes })).body;
}

/** Their ids are those of an earlier time, so that tokens which are made later are listed before them. */
async function insertTokens({ id }: Person, count: number, expiresAt: Date): Promise<void> {
  const at = world.clock.now();
  await sql`insert into cli_tokens (id, user_id, name, token_digest, scopes, expires_at, created_at, updated_at)
    select overlay(gen_random_uuid()::text placing '00000000' from 1)::uuid, ${id}, 'laptop', uuid_send(gen_random_uuid()), '{clusters:read}', ${expiresAt}, ${at}, ${at}
    from generate_series(1, ${count}::int)`.execute(world.database.kysely);
}

describe("POST /cli-tokens", () => {
  test("[CT1] POST /cli-tokens creates a token that is valid for 90 days by default and shows it only in this answer", async () => {
    const { api } = await world.person();
    const answer = await api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read", "bundles:read"] });
    const now = world.clock.now();
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: "laptop",
      scopes: ["clusters:read", "bundles:read"],
      token: expect.stringMatching(/^bnc_[\w-]{43}$/),
      org_id: null,
      project_id: null,
      expires_at: new Date(now.getTime() + 90 * DAY).toISOString(),
      expires_soon: false,
      last_used_at: null,
      last_used_address: null,
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    });
    const { body } = await api.get("/cli-tokens");
    const { token: _shownOnce, ...kept } = answer.body;
    expect(body.data).toEqual([kept]);
  });

  test.each([
    ["expires_in_days", 1, 201],
    ["expires_in_days", 365, 201],
    ["expires_in_days", 0, 422],
    ["expires_in_days", 366, 422],
    ["expires_in_days", 1.5, 422],
    ["expires_in_days", "30", 422],
    ["name", "", 422],
    ["name", "x".repeat(100), 201],
    ["name", "x".repeat(101), 422],
    ["scopes", [], 422],
    ["scopes", ["clusters:write"], 422],
    ["scopes", SCOPES, 201],
    ["is_superuser", true, 422],
  ])("[CT1] [CT3] POST /cli-tokens with a body whose %s is %j is %i", async (field, value, status) => {
    const { api } = world.admin;
    const answer = await api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"], [field]: value });
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(["body", field]);
  });

  test("[CT10] POST /cli-tokens with the same Idempotency-Key returns the same token, and refuses the key for another body", async () => {
    const { api } = await world.person();
    const keyed = { headers: { "idempotency-key": "once" } };
    const body = { name: "laptop", scopes: ["clusters:read"] };
    const [first, second] = [await api.post("/cli-tokens", body, keyed), await api.post("/cli-tokens", body, keyed)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect((await api.get("/cli-tokens")).body.total_count).toBe(1);
    expect((await api.post("/cli-tokens", { ...body, name: "desktop" }, keyed)).status).toBe(409);
    expect((await api.post("/cli-tokens", body, { headers: { "idempotency-key": "twice" } })).body).not.toEqual(
      first.body,
    );
  });

  test("[CT11] a CLI token outlives the session in which it was created", async () => {
    const ada = await world.person();
    const { token } = await tokenOf(ada, "clusters:read");
    const { cookie } = ada;
    expect((await ada.api.post("/logout", undefined, { headers: { cookie } })).status).toBe(200);
    expect((await ada.api.get("/user/me")).status).toBe(401);
    expect((await bearer(token).get("/orgs")).status).toBe(200);
  });

  test("[CT30] a user gets at most 50 unexpired CLI tokens, also when several are requested at once", async () => {
    const ada = await world.person();
    await insertTokens(ada, 48, new Date(world.clock.now().getTime() + 1));
    await insertTokens(ada, 5, world.clock.now());
    const make = () => ada.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] });
    const last = await Promise.all([make(), make(), make(), make()]);
    expect(last.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    const refused = { status: 409, body: { detail: expect.stringContaining("at most 50 CLI tokens") } };
    expect(await make()).toMatchObject(refused);

    const wanted = { client_name: "laptop", requested_scopes: ["clusters:read"] };
    const { user_code, device_code } = (await world.anyone.post("/auth/cli/device", wanted)).body;
    const approve = () => ada.api.post("/auth/cli/device/approval", { user_code, approved: true });
    const claim = () => world.anyone.post("/auth/cli/device/token", { device_code });
    const revokeOne = async () => {
      const [newest] = (await ada.api.get("/cli-tokens?items_per_page=1")).body.data;
      expect((await ada.api.delete(`/cli-tokens/${newest.id}`)).status).toBe(204);
    };
    expect(await approve()).toMatchObject(refused);
    await revokeOne();
    expect((await approve()).status).toBe(204);
    expect((await make()).status).toBe(201);
    expect(await claim()).toMatchObject(refused);
    await revokeOne();
    expect((await claim()).status).toBe(200);
  });
});

describe("GET and DELETE /cli-tokens", () => {
  test("[CT4] GET /cli-tokens lists the caller's own tokens, newest first and in pages", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    await tokenOf(bob, "clusters:read");
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) ids.unshift((await tokenOf(ada, "clusters:read")).id);
    const { body } = await ada.api.get("/cli-tokens?items_per_page=2");
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(body).toMatchObject({ total_count: 3, page: 1, items_per_page: 2, has_more: true });
    expect((await ada.api.get("/cli-tokens?page=0")).status).toBe(422);
  });

  test("[CT5] a revoked CLI token is refused from the next request on, by every replica", async () => {
    const ada = await world.person();
    const [revoked, kept] = [await tokenOf(ada, "clusters:read"), await tokenOf(ada, "clusters:read")];
    const second = await startWorld({ beside: world });
    onTestFinished(() => second.stop());
    expect((await bearer(revoked.token, second).get("/orgs")).status).toBe(200);
    expect((await ada.api.delete(`/cli-tokens/${revoked.id}`)).status).toBe(204);
    for (const replica of [world, second]) {
      expect((await bearer(revoked.token, replica).get("/orgs")).status).toBe(401);
      expect((await bearer(kept.token, replica).get("/orgs")).status).toBe(200);
    }
    expect((await ada.api.delete(`/cli-tokens/${revoked.id}`)).status).toBe(404);
  });

  test("[CT31] only a superuser lists and revokes the CLI tokens of another user, by naming the user", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    const { id, token } = await tokenOf(ada, "clusters:read");
    const listed = await world.admin.api.get(`/cli-tokens?user_id=${ada.id.toUpperCase()}`);
    expect(listed.body.data).toMatchObject([{ id, name: "laptop" }]);
    expect(JSON.stringify(listed.body)).not.toContain(token);
    expect((await bob.api.get(`/cli-tokens?user_id=${ada.id}`)).status).toBe(403);
    expect((await bob.api.delete(`/cli-tokens/${id}?user_id=${ada.id}`)).status).toBe(403);
    expect((await world.admin.api.delete(`/cli-tokens/${id}?user_id=${bob.id}`)).status).toBe(404);
    expect((await bearer(token).get("/orgs")).status).toBe(200);
    expect((await world.admin.api.delete(`/cli-tokens/${id}?user_id=${ada.id}`)).status).toBe(204);
    expect((await bearer(token).get("/orgs")).status).toBe(401);
  });

  test("[CT5] revoking another user's CLI token is a 404, also for a superuser who does not name the user", async () => {
    const ada = await world.person();
    const { id, token } = await tokenOf(ada, "clusters:read");
    expect((await world.admin.api.delete(`/cli-tokens/${id}`)).status).toBe(404);
    expect((await ada.api.delete(`/cli-tokens/${NOBODYS}`)).status).toBe(404);
    expect((await ada.api.delete("/cli-tokens/no-id")).status).toBe(422);
    expect((await bearer(token).get("/orgs")).status).toBe(200);
  });

  test("[CT7] listing, creating and revoking CLI tokens needs a signed-in user", async () => {
    for (const send of [world.anyone.get("/cli-tokens"), world.anyone.post("/cli-tokens", {})]) {
      expect((await send).status).toBe(401);
    }
    expect((await world.anyone.delete(`/cli-tokens/${NOBODYS}`)).status).toBe(401);
  });
});

describe("a request with a CLI token", () => {
  test("[CT6] a request with a CLI token acts as the token's user", async () => {
    const org = await world.org();
    const ada = await world.person({ org });
    const { token } = await tokenOf(ada, "clusters:read");
    const { body } = await bearer(token).get("/orgs");
    expect(body.data).toMatchObject([{ id: org }]);
  });

  test.each<[Scope, string, number]>([
    ["bundles:read", "/version", 200],
    ["clusters:read", "/version", 403],
    ["clusters:register", "/version", 403],
    ["install:report", "/version", 403],
    ["clusters:read", "/orgs", 200],
    ["clusters:register", "/orgs", 200],
    ["read", "/version", 403],
    ["read", "/orgs", 200],
    ["bundles:read", "/orgs", 403],
    ["install:report", "/orgs", 403],
  ])(
    "[CT6] a CLI token with the scope %s on %s is %i, and a refusal names the scope it lacks",
    async (scope, path, status) => {
      const { token } = await tokenOf(world.admin, scope);
      const answer = await bearer(token).get(path);
      expect(answer.status).toBe(status);
      const needed = path === "/version" ? "bundles:read" : "clusters:read or clusters:register or read";
      if (status === 403) expect(answer.body.detail).toBe(`The CLI token lacks the scope ${needed}.`);
    },
  );

  test.each([
    ["GET", "/users"],
    ["GET", "/sessions"],
    ["GET", "/cli-tokens"],
    ["POST", "/logout"],
    ["DELETE", `/cli-tokens/${NOBODYS}`],
    ["GET", `/orgs/${NOBODYS}/members`],
    ["DELETE", `/user/${NOBODYS}`],
  ])(
    "[CT7] a CLI token gets a 403 on %s %s that asks for a signed-in user, whatever its scopes",
    async (method, path) => {
      const { token } = await tokenOf(world.admin, ...SCOPES);
      const answer = await bearer(token).send(method, path);
      const detail = "This operation takes no CLI token; sign in as a user.";
      expect(answer).toMatchObject({ status: 403, body: { detail } });
    },
  );

  test("[CT7] a CLI token creates no further token and approves no device", async () => {
    const { token } = await tokenOf(world.admin, ...SCOPES);
    const made = await bearer(token).post("/cli-tokens", { name: "another", scopes: ["clusters:read"] });
    const approved = await bearer(token).post("/auth/cli/device/approval", { user_code: "BCDF-GHJK", approved: true });
    expect([made.status, approved.status]).toEqual([403, 403]);
  });

  test("[CT8] a CLI token that has expired is a 401 like any other invalid credential", async () => {
    const own = await startWorld({ env: { BINNACLE_ROLES: "api" } });
    onTestFinished(() => own.stop());
    const fields = { name: "for a day", scopes: ["clusters:read"], expires_in_days: 1 };
    const { token } = (await own.admin.api.post("/cli-tokens", fields)).body;
    own.clock.advance(DAY - 1);
    expect((await bearer(token, own).get("/orgs")).status).toBe(200);
    own.clock.advance(1);
    const refused = await bearer(token, own).get("/orgs");
    expect(refused).toMatchObject({ status: 401, body: { detail: "User not authenticated." } });
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  });
});

describe("the last use of a CLI token", () => {
  async function lastUseOf({ api }: Person): Promise<string | null> {
    return (await api.get("/cli-tokens")).body.data[0].last_used_at;
  }

  test("[CT9] the last use of a CLI token is recorded with its address, at most once a minute", async () => {
    const org = await world.org();
    const ada = await world.person({ org });
    const { token } = await tokenOf(ada, "clusters:read");
    expect(await lastUseOf(ada)).toBeNull();

    const first = world.clock.now().toISOString();
    await bearer(token).get("/orgs");
    await expect.poll(() => lastUseOf(ada), { timeout: 10_000 }).toBe(first);
    expect((await ada.api.get("/cli-tokens")).body.data[0].last_used_address).toBe("127.0.0.1");

    world.clock.advance(59_999);
    await bearer(token).get("/orgs");
    expect(await lastUseOf(ada)).toBe(first);

    world.clock.advance(1);
    const next = world.clock.now().toISOString();
    await bearer(token).get("/orgs");
    await expect.poll(() => lastUseOf(ada), { timeout: 10_000 }).toBe(next);
  });

  test("[CT9] a last use of a CLI token that cannot be written now or ever does not hold up the request", async () => {
    const ada = await world.person();
    const { id, token } = await tokenOf(ada, "clusters:read");
    const row = await hold(world, "select 1 from cli_tokens where id = $1", id);
    expect((await bearer(token).get("/orgs")).status).toBe(200);
    await row.waitedFor();
    expect((await bearer(token).get("/orgs")).status).toBe(200);
    await row.release("delete from cli_tokens where id = $1");
  });
});
