import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

test("[OP33] a superuser reads the status of the installation", async () => {
  const before = (await world.admin.api.get("/system/status")).body;
  await world.org();
  await world.admin.api.post("/tasks/task", { kind: "ping" });
  const { status, body } = await world.admin.api.get("/system/status");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    environment: "local",
    database: { version: expect.stringMatching(/^\d+/), migration: expect.stringMatching(/^\d{4}_/) },
    hub: { sessions: 0, pending: 0 },
    organizations: before.organizations + 1,
    users: before.users,
  });
  expect(body.database.size_bytes).toBeGreaterThan(1_000_000);
  expect(body.database.connections).toBeGreaterThan(0);
  expect(body.database.connections).toBeLessThanOrEqual(body.database.max_connections);
});

test("[OP33] the status of the installation says how long the oldest job that could run has waited", async () => {
  await world.admin.api.post("/tasks/task", { kind: "ping" });
  await sql`update jobs set run_at = now() - interval '90 seconds' where status = 'pending'`.execute(
    world.database.kysely,
  );
  const { jobs } = (await world.admin.api.get("/system/status")).body;
  expect(jobs.pending).toBeGreaterThan(0);
  expect(jobs.oldest_pending_seconds).toBeGreaterThanOrEqual(90);
});

test("[OP33] only a superuser reads the status of the installation", async () => {
  const person = await world.person({ org: world.demoOrgId, role: "admin" });
  expect((await person.api.get("/system/status")).status).toBe(403);
  expect((await world.anyone.get("/system/status")).status).toBe(401);
});
