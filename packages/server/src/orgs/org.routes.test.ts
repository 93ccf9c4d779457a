import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import { newId } from "../id.adapter.ts";

const MINUTE_MS = 60_000;
const uniqueName = () => `Org ${newId()}`;

const world = await startWorld();
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

describe("GET /orgs", () => {
  test("[OR1] GET /orgs has the organizations that the caller belongs to, newest first", async () => {
    const [older, newer] = [await world.org(), await world.org()];
    const person = await world.person({ org: older });
    await world.admin.api.post(`/orgs/${newer}/members`, { user_id: person.id, role: "member" });

    const { status, body } = await person.api.get("/orgs");
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_count: 2, page: 1, items_per_page: 10, has_more: false });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([newer, older]);

    const second = await person.api.get("/orgs?page=2&items_per_page=1");
    expect(second.body).toMatchObject({ data: [{ id: older }], total_count: 2, has_more: false });
  });

  test("[OR1] GET /orgs is empty for a user without an organization, and only a superuser may ask for all", async () => {
    expect((await stranger.api.get("/orgs")).body).toMatchObject({ data: [], total_count: 0 });
    expect(await stranger.api.get("/orgs?all=true")).toMatchObject({ status: 403 });

    const operator = await world.person();
    await world.database.kysely
      .updateTable("users")
      .set({ is_superuser: true })
      .where("id", "=", operator.id)
      .execute();
    expect((await operator.api.get("/orgs")).body).toMatchObject({ data: [], total_count: 0 });
    const all = await operator.api.get("/orgs?all=true&items_per_page=100");
    expect(all.body.data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([org, world.demoOrgId]));
    expect(all.body.total_count).toBe(all.body.data.length);
  });
});

describe("POST /orgs", () => {
  test("[OR2] the superuser who creates an organization becomes its first administrator", async () => {
    const name = uniqueName();
    const created = await world.admin.api.post("/orgs", { name, description: "Everything." });
    expect(created.status).toBe(201);
    const members = await world.admin.api.get(`/orgs/${created.body.id}/members`);
    expect(members.body.data).toMatchObject([{ user_id: world.admin.id, role: "admin" }]);
  });

  test("[OR2] POST /orgs is for superusers alone", async () => {
    expect((await admin.api.post("/orgs", { name: uniqueName() })).status).toBe(403);
  });

  test("[OR3] POST /orgs answers with the whole organization, as its members then read it", async () => {
    const name = uniqueName();
    const created = await world.admin.api.post("/orgs", { name });
    const now = world.clock.now().toISOString();
    expect(created.body).toEqual({
      id: created.body.id,
      name,
      slug: name.toLowerCase().replace(" ", "-"),
      description: null,
      created_at: now,
      updated_at: now,
    });
    const reader = await world.person({ org: created.body.id });
    expect(await reader.api.get(`/orgs/${created.body.id}`)).toMatchObject({ status: 200, body: created.body });
  });

  test("[OR4] POST /orgs with a name that is taken is a 409", async () => {
    const name = uniqueName();
    await world.admin.api.post("/orgs", { name });
    expect(await world.admin.api.post("/orgs", { name })).toMatchObject({
      status: 409,
      body: { detail: "An organization with this name already exists." },
    });
  });

  test.each([
    ["", "string_too_short"],
    ["x".repeat(101), "string_too_long"],
    ["two\nlines", "string_pattern_mismatch"],
  ])("[OR4] POST /orgs with the name %j is a 422", async (name, type) => {
    const refused = await world.admin.api.post("/orgs", { name });
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "name"], type }] } });
  });

  test("[OR5] organizations whose names lead to the same slug get different slugs, also when created at once", async () => {
    const name = uniqueName();
    const names = [name, `${name}!`, `${name}?`, `${name}.`];
    const created = await Promise.all(names.map((each) => world.admin.api.post("/orgs", { name: each })));
    expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(created.map(({ body }) => body.slug)).size).toBe(4);
  });
});

describe("PUT /orgs/{id}", () => {
  test("[OR6] PUT /orgs/{id} replaces name and description, and the slug follows the name", async () => {
    const id = await world.org();
    const operator = await world.person({ org: id, role: "admin" });
    const name = uniqueName();
    world.clock.advance(MINUTE_MS);
    const described = await operator.api.put(`/orgs/${id}`, { name, description: "Ours." });
    expect(described).toMatchObject({ status: 200, body: { id, name, description: "Ours." } });
    expect(described.body.slug).toBe(name.toLowerCase().replace(" ", "-"));
    expect(described.body.updated_at > described.body.created_at).toBe(true);

    const bare = await operator.api.put(`/orgs/${id}`, { name });
    expect(bare.body).toMatchObject({ name, slug: described.body.slug, description: null });
  });

  test("[OR4] PUT /orgs/{id} with the name of another organization is a 409", async () => {
    const name = uniqueName();
    await world.admin.api.post("/orgs", { name });
    expect((await admin.api.put(`/orgs/${org}`, { name })).status).toBe(409);
  });

  test("[OR6] PUT /orgs/{id} needs an administrator", async () => {
    expect((await member.api.put(`/orgs/${org}`, { name: uniqueName() })).status).toBe(403);
    expect((await stranger.api.put(`/orgs/${org}`, { name: uniqueName() })).status).toBe(403);
  });
});

describe("DELETE /orgs/{id}", () => {
  test("[OR7] DELETE /orgs/{id} deletes the organization with its memberships", async () => {
    const id = await world.org();
    const person = await world.person({ org: id });
    expect((await world.admin.api.delete(`/orgs/${id}`)).status).toBe(204);
    expect((await world.admin.api.get(`/orgs/${id}`)).status).toBe(404);
    expect((await world.admin.api.delete(`/orgs/${id}`)).status).toBe(404);
    expect((await person.api.get("/user/me")).body.organizations).toEqual([]);
  });

  test("[OR7] DELETE /orgs/{id} is for superusers alone", async () => {
    expect((await admin.api.delete(`/orgs/${org}`)).status).toBe(403);
  });

  test("[OR8] an organization with clusters cannot be deleted", async () => {
    const id = await world.org();
    await insertCluster(world.database.kysely, id);
    expect(await world.admin.api.delete(`/orgs/${id}`)).toMatchObject({
      status: 409,
      body: { detail: "The organization still has clusters; delete them first." },
    });
    expect((await world.admin.api.get(`/orgs/${id}`)).status).toBe(200);
  });
});
