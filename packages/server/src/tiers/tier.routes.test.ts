import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";

const UNKNOWN = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const superuser = world.admin;
const user = await world.person();
afterAll(() => world.stop());

const limitPath = () => `/paths/${newId()}`;

async function limit(fields: object = {}, tier = "free") {
  const body = { path: limitPath(), limit: 5, period: 60, ...fields };
  return (await superuser.api.post(`/tier/${tier}/rate_limit`, body)).body;
}

describe("tiers", () => {
  test("[TI1] GET /tiers lists all tiers by name, and a new user is in the tier free", async () => {
    const { status, body } = await user.api.get("/tiers");
    expect(status).toBe(200);
    expect(body).toMatchObject({ data: [{ name: "free" }, { name: "pro" }], total_count: 2 });
    expect(Object.keys(body.data[0])).toEqual(["name", "created_at", "updated_at"]);
    expect((await user.api.get("/user/me")).body.tier).toBe("free");
  });

  test("[TI3] the limits of an unknown tier are a 404 to read and to change", async () => {
    const { id } = await limit();
    const fields = { path: "/a", limit: 1, period: 1 };
    const refusals = [
      await superuser.api.post("/tier/gold/rate_limit", fields),
      await user.api.get("/tier/gold/rate_limits"),
      await user.api.get(`/tier/gold/rate_limit/${id}`),
      await superuser.api.patch(`/tier/gold/rate_limit/${id}`, { limit: 1 }),
      await superuser.api.delete(`/tier/gold/rate_limit/${id}`),
    ];
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 404, body: { detail: "Tier not found." } });
  });
});

describe("limits", () => {
  test("[TI4] a limit is created with path, limit and period, and answered whole", async () => {
    const path = limitPath();
    const made = await superuser.api.post("/tier/pro/rate_limit", { path, limit: 0, period: 1 });
    const now = world.clock.now().toISOString();
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: made.body.id,
      tier: "pro",
      path,
      limit: 0,
      period: 1,
      name: null,
      created_at: now,
      updated_at: now,
    });
    expect(await user.api.get(`/tier/pro/rate_limit/${made.body.id}`)).toMatchObject({ status: 200, body: made.body });
  });

  test.each([
    [{ limit: 1, period: 1 }, "path", "missing"],
    [{ path: "/a", period: 1 }, "limit", "missing"],
    [{ path: "/a", limit: 1 }, "period", "missing"],
    [{ path: "", limit: 1, period: 1 }, "path", "string_too_short"],
    [{ path: "/a", limit: -1, period: 1 }, "limit", "greater_than_equal"],
    [{ path: "/a", limit: 1, period: 0 }, "period", "greater_than_equal"],
    [{ path: "/a", limit: "1", period: 1 }, "limit", "int_type"],
    [{ path: "/a", limit: 1, period: 1, burst: 1 }, "burst", "extra_forbidden"],
  ])("[TI4] a limit with %j is a 422", async (body, field, type) => {
    expect(await superuser.api.post("/tier/free/rate_limit", body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", field], type }] },
    });
  });

  test("[TI2] limits are read by every signed-in user and changed by superusers alone", async () => {
    const { id } = await limit();
    expect((await user.api.get("/tier/free/rate_limits")).status).toBe(200);
    expect((await user.api.get(`/tier/free/rate_limit/${id}`)).status).toBe(200);
    const refusals = [
      await user.api.post("/tier/free/rate_limit", { path: "/a", limit: 1, period: 1 }),
      await user.api.patch(`/tier/free/rate_limit/${id}`, { limit: 1 }),
      await user.api.delete(`/tier/free/rate_limit/${id}`),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  test("[TI3] a limit under another tier or with an unknown id is a 404", async () => {
    const { id } = await limit();
    const refusals = [
      await user.api.get(`/tier/pro/rate_limit/${id}`),
      await superuser.api.patch(`/tier/pro/rate_limit/${id}`, { limit: 1 }),
      await superuser.api.delete(`/tier/pro/rate_limit/${id}`),
      await user.api.get(`/tier/free/rate_limit/${UNKNOWN}`),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 404, body: { detail: "Rate limit not found." } });
    }
  });

  test("[TI44] the path of a limit has at most 500 characters, with the slash that is put before it", async () => {
    const longest = `a${newId()}`.padEnd(499, "x");
    expect((await limit({ path: longest })).path).toBe(`/${longest}`);
    for (const path of [`${longest}x`, `/${longest}x`]) {
      const refused = await superuser.api.post("/tier/pro/rate_limit", { path, limit: 1, period: 1 });
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "path"] }] } });
    }
  });

  test("[TI5] a limit is stored with a normalised path", async () => {
    const path = limitPath();
    expect((await limit({ path: `//api/v1${path}/?page=1` })).path).toBe(path);
  });

  test("[TI5] a tier has one limit for a path, however the path is written", async () => {
    const { path } = await limit();
    const other = await limit();
    const taken = { status: 409, body: { detail: "The tier already has a limit for this path." } };
    const again = { path: `${path}/`, limit: 1, period: 1 };
    expect(await superuser.api.post("/tier/free/rate_limit", again)).toMatchObject(taken);
    expect(await superuser.api.patch(`/tier/free/rate_limit/${other.id}`, { path: `/${path}` })).toMatchObject(taken);
    expect((await superuser.api.post("/tier/pro/rate_limit", again)).status).toBe(201);
  });

  test("[TI6] the limits of a tier are listed newest first, in pages", async () => {
    const older = await limit({}, "pro");
    const newer = await limit({}, "pro");
    const page = await user.api.get("/tier/pro/rate_limits?items_per_page=2");
    expect(page.status).toBe(200);
    expect(page.body.data).toEqual([newer, older]);
    expect(page.body).toMatchObject({ page: 1, items_per_page: 2, has_more: page.body.total_count > 2 });
  });

  test("[TI7] a change of a limit keeps omitted fields", async () => {
    const made = await limit({ name: "a few" });
    const changed = await superuser.api.patch(`/tier/free/rate_limit/${made.id}`, { limit: 7 });
    expect(changed).toMatchObject({ status: 200, body: { ...made, limit: 7 } });
    const moved = await superuser.api.patch(`/tier/free/rate_limit/${made.id}`, { path: `${made.path}/x/`, period: 9 });
    expect(moved.body).toMatchObject({ path: `${made.path}/x`, limit: 7, period: 9, name: "a few" });
    const nameless = await superuser.api.patch(`/tier/free/rate_limit/${made.id}`, { name: null });
    expect(nameless.body).toMatchObject({ limit: 7, period: 9, name: null });
  });

  test("[TI7] concurrent changes of a limit are all kept", async () => {
    const { id } = await limit();
    const change = (body: object) => superuser.api.patch(`/tier/free/rate_limit/${id}`, body);
    await Promise.all([change({ limit: 8 }), change({ period: 120 }), change({ name: "both" })]);
    expect((await user.api.get(`/tier/free/rate_limit/${id}`)).body).toMatchObject({
      limit: 8,
      period: 120,
      name: "both",
    });
  });

  test("[TI8] a deleted limit is a 404, and of two deletions at once one is a 404", async () => {
    const { id } = await limit();
    const lift = () => superuser.api.delete(`/tier/free/rate_limit/${id}`);
    const answers = await Promise.all([lift(), lift()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect((await user.api.get(`/tier/free/rate_limit/${id}`)).status).toBe(404);
  });
});
