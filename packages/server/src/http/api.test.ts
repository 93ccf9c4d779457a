import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const NOBODY = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const broken = { raw: "{", headers: { "content-type": "application/json" } };

test.each([
  ["without a credential", undefined],
  ["with a malformed one", "Bearer nonsense"],
  ["with another scheme", "Basic YWRtaW46YmlubmFjbGU="],
])("[CV19] a request %s is answered with 401, whatever else is wrong", async (_, authorization) => {
  const api = authorization ? world.anyone.with({ authorization }) : world.anyone;
  const answer = await api.send("PUT", "/orgs/nonsense", broken);
  expect([answer.status, answer.body]).toEqual([401, { detail: "User not authenticated." }]);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
});

test("[CV19] a logged-out credential is a 401 before an unreadable body is a 422", async () => {
  const person = await world.person();
  expect((await person.api.send("PUT", "/orgs/nonsense", broken)).status).toBe(422);
  await person.api.with({ cookie: person.cookie }).post("/logout");
  expect((await person.api.send("PUT", "/orgs/nonsense", broken)).status).toBe(401);
});

test("[CV19] a malformed request is a 422 before an unknown or a forbidden organization is a 404 or a 403", async () => {
  const person = await world.person();
  expect((await person.api.put(`/orgs/${NOBODY}`, {})).status).toBe(422);
  expect((await person.api.put(`/orgs/${NOBODY}`, { name: "x" })).status).toBe(404);
  expect((await person.api.put(`/orgs/${world.demoOrgId}`, { name: 7 })).status).toBe(422);
  expect((await person.api.put(`/orgs/${world.demoOrgId}`, { name: "x" })).status).toBe(403);
});

test("[OP15] no answer of the API may be stored by a cache", async () => {
  for (const path of ["/user/me", "/orgs/nonsense", "/version"]) {
    expect((await world.admin.api.get(path)).headers.get("cache-control")).toBe("no-store");
  }
  expect((await world.anyone.get("/user/me")).headers.get("cache-control")).toBe("no-store");
});

test("[CV21] a record has a UUID of version 7 and the times of its creation and its last change, in UTC", async () => {
  const { body } = await world.admin.api.post("/orgs", { name: "times" });
  expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(body.created_at).toBe(world.clock.now().toISOString());
  expect(body.updated_at).toBe(body.created_at);
});

test("[OP2] GET /readyz is a 200 while the database answers", async () => {
  const answer = await fetch(`${world.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "ready", bus: "connected" }]);
});

test("[CV15] [CV16] trailing slashes and HEAD work for the API too", async () => {
  const plain = await world.admin.api.get("/user/me");
  expect(await world.admin.api.get("/user/me/")).toMatchObject({ status: 200, body: plain.body });
  expect(await world.admin.api.send("HEAD", "/user/me")).toMatchObject({ status: 200, body: "" });
});

test.each([
  ["DELETE", "/user/me", "GET, HEAD"],
  ["PATCH", "/orgs", "GET, HEAD, POST"],
  ["HEAD", "/login", "POST"],
  ["OPTIONS", `/orgs/${NOBODY}`, "GET, HEAD, PUT, DELETE"],
])("[ER3] %s %s is a 405 that names %s", async (method, path, allow) => {
  const answer = await world.anyone.send(method, path);
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
});

const WAITING = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

test("[OP9] a request that outlasts the drain is cut off, and the stop ends", async () => {
  const replica = await startWorld({ beside: world, env: { BINNACLE_ROLES: "api", BINNACLE_DRAIN_TIMEOUT_MS: "0" } });
  const lock = await world.database.pool.connect();
  await lock.query("begin; lock table orgs in access exclusive mode");
  const cutOff = expect(replica.admin.api.get("/orgs")).rejects.toThrow();
  await expect.poll(async () => (await lock.query(WAITING)).rowCount).toBe(1);
  const stopped = replica.stop();
  await cutOff;
  await lock.query("rollback");
  lock.release();
  await stopped;
});
