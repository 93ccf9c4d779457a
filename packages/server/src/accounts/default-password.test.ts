import { type Client, startWorld, type World } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { setPassword } from "./default-password.store.ts";
import { createPasswords } from "./password.adapter.ts";

const NEW_PASSWORD = "correct horse battery staple";
const PRODUCTION = {
  BINNACLE_ENVIRONMENT: "production",
  BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
  BINNACLE_ADMIN_EMAIL: "admin@binnacle.local",
  BINNACLE_ADMIN_PASSWORD: NEW_PASSWORD,
};

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const inProduction = (beside: World) => startWorld({ beside, env: { ...PRODUCTION, BINNACLE_ROLES: "api" } });

async function renew(username: string, { database, clock } = world): Promise<boolean> {
  const { hash } = await createPasswords();
  const passwordHash = await hash(NEW_PASSWORD);
  return setPassword(database.kysely, { username, passwordHash, now: clock.now() });
}

async function superuserWith({ person, database }: World, password: string): Promise<string> {
  const { id, username } = await person();
  const { hash } = await createPasswords();
  await database.kysely
    .updateTable("users")
    .set({ is_superuser: true, password_hash: await hash(password) })
    .where("id", "=", id)
    .execute();
  return username;
}

const statusOf = async (api: Client) => (await api.get("/user/me")).status;

test("[CF16] outside local the server does not start while superusers have the default password, and the refusal names each", async () => {
  const began = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  const second = await superuserWith(began, "binnacle");
  const safe = await superuserWith(began, "not the default one");
  const refusal = await inProduction(began).catch((error: Error) => error);
  expect(refusal).toBeInstanceOf(Error);
  const { message } = refusal as Error;
  for (const username of ["admin", second]) {
    expect(message).toContain(`the superuser "${username}" still has the default password`);
    expect(message).toContain(`npm run password -- ${username}`);
  }
  expect(message).not.toContain(safe);

  await renew(second, began);
  await expect(inProduction(began)).rejects.toThrow('"admin" still has the default password');
  await renew("admin", began);
  const production = await inProduction(began);
  expect(production.admin.username).toBe("admin");
  await production.stop();
  await began.stop();
}, 60_000);

test("[OP18] outside local /metrics is only on a port of its own, which serves nothing else", async () => {
  const production = await startWorld({ env: { ...PRODUCTION, BINNACLE_ROLES: "api" } });
  expect((await fetch(`${production.url}/metrics`)).status).toBe(404);
  const metrics = await fetch(`${production.metricsUrl}/metrics`);
  expect([metrics.status, metrics.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
  expect(await metrics.text()).toContain("binnacle_http_requests_total");
  expect((await fetch(`${production.metricsUrl}/api/v1/user/me`)).status).toBe(404);
  await production.stop();
});

test("[CF17] a password that is set without a login ends the user's sessions and CLI tokens, and leaves an audit entry", async () => {
  const { api, id, username, password } = await world.person();
  const made = await api.post("/cli-tokens", { name: "laptop", scopes: ["bundles:read"] });
  const byToken = world.anyone.with({ authorization: `Bearer ${made.body.token}` });
  expect([await statusOf(api), (await byToken.get("/version")).status]).toEqual([200, 200]);

  expect(await renew(username)).toBe(true);
  expect([await statusOf(api), (await byToken.get("/version")).status]).toEqual([401, 401]);
  await expect(world.login(username, password)).rejects.toThrow("refused");
  await world.login(username, NEW_PASSWORD);
  const recorded = await world.database.kysely
    .selectFrom("audit_log")
    .select(["action", "via", "actor_id", "changes"])
    .where("resource_id", "=", id)
    .where("action", "=", "user.update")
    .execute();
  expect(recorded).toEqual([
    { action: "user.update", via: "system", actor_id: null, changes: { password: "changed" } },
  ]);
});

test("[CF17] setting the password of an unknown user reports that there is none", async () => {
  expect(await renew("nobody-of-this-name")).toBe(false);
});

test("[OP18] in local /metrics is on the port of the API", async () => {
  expect(world.metricsUrl).toBeNull();
  expect((await fetch(`${world.url}/metrics`)).status).toBe(200);
});
