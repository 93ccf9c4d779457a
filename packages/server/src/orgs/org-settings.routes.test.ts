import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

/** An organization without settings, for the seeded superuser to change. */
async function settingsOfNewOrg() {
  const id = await world.org();
  return {
    id,
    change: (settings: object) => world.admin.api.patch(`/org/settings?org_id=${id}`, { settings }),
    read: async () => (await world.admin.api.get(`/org/settings?org_id=${id}`)).body.settings,
  };
}

describe("/org/settings", () => {
  test("[OR18] /org/settings is read by members and changed by administrators", async () => {
    const changed = await admin.api.patch(`/org/settings?org_id=${org}`, { settings: { drift_policy: "heal" } });
    expect(changed).toMatchObject({ status: 200, body: { org_id: org, settings: { drift_policy: "heal" } } });
    expect(await member.api.get(`/org/settings?org_id=${org}`)).toMatchObject({ status: 200, body: changed.body });
    expect((await member.api.patch(`/org/settings?org_id=${org}`, { settings: {} })).status).toBe(403);
  });

  test("[AC5] /org/settings is a 404 for a stranger and for an unknown organization", async () => {
    const unknown = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
    const refusals = [
      await stranger.api.get(`/org/settings?org_id=${org}`),
      await stranger.api.patch(`/org/settings?org_id=${org}`, { settings: {} }),
      await world.admin.api.get(`/org/settings?org_id=${unknown}`),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 404, body: { detail: "Organization not found." } });
    }
  });

  test("[OR18] /org/settings without org_id is a 422", async () => {
    const missing = { status: 422, body: { detail: [{ loc: ["query", "org_id"], type: "missing" }] } };
    expect(await admin.api.get("/org/settings")).toMatchObject(missing);
    expect(await admin.api.patch("/org/settings", { settings: {} })).toMatchObject(missing);
    expect(await admin.api.get("/org/settings?org_id=ours")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "org_id"], type: "uuid_parsing" }] },
    });
  });

  test("[OR15] PATCH /org/settings merges the given keys into the stored ones", async () => {
    const settings = await settingsOfNewOrg();
    await settings.change({ drift_policy: "report", theme: { dark: true, size: 2 } });
    const merged = await settings.change({ theme: { dark: false }, motd: "hello" });
    expect(merged.body.settings).toEqual({ drift_policy: "report", theme: { dark: false }, motd: "hello" });
    await settings.change({ drift_policy: null, theme: null });
    expect(await settings.read()).toEqual({ motd: "hello" });
  });

  test("[OR15] concurrent changes of the settings are all kept", async () => {
    const settings = await settingsOfNewOrg();
    await Promise.all(["a", "b", "c", "d"].map((key) => settings.change({ [key]: 1 })));
    expect(await settings.read()).toEqual({ a: 1, b: 1, c: 1, d: 1 });
  });

  test.each([
    [{ drift_policy: "ignore" }, ["body", "settings", "drift_policy"], "enum"],
    [{ gitops: { branch: "main" } }, ["body", "settings", "gitops", "base_url"], "missing"],
    [{ gitops: { provider: "gitea", colour: 1 } }, ["body", "settings", "gitops", "colour"], "extra_forbidden"],
  ])("[OR16] PATCH /org/settings with the invalid known setting %j is a 422", async (settings, loc, type) => {
    const refused = await admin.api.patch(`/org/settings?org_id=${org}`, { settings });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toContainEqual(expect.objectContaining({ loc, type }));
  });

  test("[OR16] settings with unknown keys are stored as they are given", async () => {
    const settings = await settingsOfNewOrg();
    const given = { "any key": [1, "two", { three: null }], drift_policy: "report" };
    await settings.change(given);
    expect(await settings.read()).toEqual(given);
  });

  test("[OR20] settings of more than 64 KiB of JSON are a 413 that says how to make room", async () => {
    const settings = await settingsOfNewOrg();
    const half = "é".repeat(16 * 1024 - 20);
    expect((await settings.change({ a: half })).status).toBe(200);
    expect((await settings.change({ b: half })).status).toBe(200);
    const refused = await settings.change({ c: "x".repeat(100) });
    expect(refused).toMatchObject({ status: 413, body: { detail: expect.stringContaining("as null") } });
    expect(Object.keys(await settings.read())).toEqual(["a", "b"]);
    expect((await settings.change({ c: "x".repeat(100), a: null })).status).toBe(200);
  });

  test("[OR17] an organization has at most 100 settings", async () => {
    const settings = await settingsOfNewOrg();
    const keys = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`key ${from + index}`, true]));
    expect((await settings.change(keys(0, 100))).status).toBe(200);
    expect(await settings.change({ one: "more" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "settings"], type: "value_error" }] },
    });
    expect((await settings.change({ one: "more", "key 0": null })).status).toBe(200);
  });
});
