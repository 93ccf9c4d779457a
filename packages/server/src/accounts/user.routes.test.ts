import { randomBytes } from "node:crypto";
import { type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

function newcomer(fields: Record<string, unknown> = {}) {
  const username = `n${randomBytes(6).toString("hex")}`;
  return { name: "New Comer", username, email: `${username}@example.com`, password: "a good password", ...fields };
}

const create = (fields: Record<string, unknown> = {}, { api }: Person = world.admin) =>
  api.post("/user", newcomer(fields));

const invalidFields = (answer: { body: { detail: { loc: string[]; type: string }[] } }) =>
  answer.body.detail.map(({ loc, type }) => `${loc.join(".")} ${type}`).sort();

describe("POST /user", () => {
  test("[AU30] [AU41] POST /user answers with the new user, who is in the tier free and may sign in", async () => {
    const fields = newcomer({ profile_image_url: "https://example.com/ada.png" });
    const answer = await world.admin.api.post("/user", fields);
    const { password, ...shown } = fields;
    const now = world.clock.now().toISOString();
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...shown,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email_verified: true,
      is_superuser: false,
      disabled: false,
      tier: "free",
      created_at: now,
      updated_at: now,
    });
    await world.login(fields.username, password);
  });

  test("[AU31] POST /user is for superusers and for administrators of an organization", async () => {
    const org = await world.org();
    expect((await create({}, await world.person({ org, role: "admin" }))).status).toBe(201);
    for (const person of [await world.person({ org }), await world.person()]) {
      expect((await create({}, person)).status).toBe(403);
    }
    expect((await world.anyone.post("/user", newcomer())).status).toBe(401);
  });

  test("[AU32] POST /user reports all wrong and unknown fields at once", async () => {
    const answer = await create({ name: "A", username: "Ada!", email: "ada", password: "short", is_superuser: true });
    expect(answer.status).toBe(422);
    expect(invalidFields(answer)).toEqual([
      "body.email value_error",
      "body.is_superuser extra_forbidden",
      "body.name string_too_short",
      "body.password string_too_short",
      "body.username string_pattern_mismatch",
    ]);
    expect(invalidFields(await world.admin.api.post("/user", {}))).toEqual(
      ["email", "name", "password", "username"].map((field) => `body.${field} missing`),
    );
  });

  test.each([
    ["name", "x".repeat(2), 201],
    ["name", "x".repeat(30), 201],
    ["name", "x".repeat(31), 422],
    ["username", "x", 422],
    ["username", "y".repeat(20), 201],
    ["username", "y".repeat(21), 422],
    ["username", "Upper", 422],
    ["password", "x".repeat(7), 422],
    ["password", "x".repeat(8), 201],
    ["password", "🧭".repeat(128), 201],
    ["password", "x".repeat(129), 422],
    ["profile_image_url", "javascript:alert(1)", 422],
  ])("[AU17] [AU32] a new user with a %s of %j is %i", async (field, value, status) => {
    expect((await create({ [field]: value })).status).toBe(status);
  });

  test("[AU17] POST /user refuses a password of a million characters without hashing it", async () => {
    const started = performance.now();
    expect([413, 422]).toContain((await create({ password: "x".repeat(1_000_000) })).status);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test("[AU33] POST /user stores the email address in lower case and refuses one that is taken, in any case", async () => {
    const { username, email } = newcomer();
    const first = await create({ username, email: email.toUpperCase() });
    expect(first).toMatchObject({ status: 201, body: { email } });
    const detail = "A user with this email already exists.";
    expect(await create({ email })).toMatchObject({ status: 409, body: { detail } });
    const sameName = await create({ username });
    expect(sameName).toMatchObject({ status: 409, body: { detail: "A user with this username already exists." } });
  });

  test("[AU33] of users who are created at once with the same email address or username, one is created", async () => {
    const { username, email } = newcomer();
    for (const fields of [{ email: `x${email}` }, { username: `x${username}` }]) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => create(fields)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    }
  });
});

describe("reading users", () => {
  test("[AU34] GET /users lists all users for a superuser, newest first and in pages", async () => {
    const [older, newer] = [await world.person(), await world.person()];
    const answer = await world.admin.api.get("/users?items_per_page=2");
    expect(answer.body).toMatchObject({ page: 1, items_per_page: 2, has_more: true });
    expect(idsOf(answer)).toEqual([newer.id, older.id]);
    const past = await world.admin.api.get("/users?page=1000");
    expect(past).toMatchObject({ status: 200, body: { data: [], total_count: answer.body.total_count } });
    expect((await world.admin.api.get("/users?items_per_page=101")).status).toBe(422);
  });

  test("[AU34] GET /users lists for others themselves and the users who share an organization with them", async () => {
    const [org, elsewhere] = [await world.org(), await world.org()];
    const [ada, bob] = [await world.person({ org }), await world.person({ org })];
    const stranger = await world.person({ org: elsewhere });
    const loner = await world.person();
    const answer = await ada.api.get("/users");
    expect(idsOf(answer)).toEqual([bob.id, ada.id, world.admin.id]);
    expect(answer.body.total_count).toBe(3);
    expect(idsOf(answer)).not.toContain(stranger.id);
    expect(idsOf(await loner.api.get("/users"))).toEqual([loner.id]);
    expect((await world.anyone.get("/users")).status).toBe(401);
  });

  test("[AU35] GET /user/{id} is a 404 for a user whom the caller may not see", async () => {
    const org = await world.org();
    const [ada, bob, stranger] = [await world.person({ org }), await world.person({ org }), await world.person()];
    expect(await ada.api.get(`/user/${bob.id}`)).toMatchObject({ status: 200, body: { id: bob.id } });
    expect(await ada.api.get(`/user/${ada.id}`)).toMatchObject({ status: 200, body: { id: ada.id } });
    expect(await world.admin.api.get(`/user/${stranger.id}`)).toMatchObject({ status: 200, body: { id: stranger.id } });
    const notFound = { status: 404, body: { detail: "User not found." } };
    expect(await ada.api.get(`/user/${stranger.id}`)).toMatchObject(notFound);
    expect(await world.admin.api.get(`/user/${NOBODY}`)).toMatchObject(notFound);
    expect((await ada.api.get("/user/no-id")).status).toBe(422);
    expect((await world.anyone.get(`/user/${bob.id}`)).status).toBe(401);
  });

  test("[AU36] GET /user/me has the caller's organizations and role bindings", async () => {
    const org = await world.org("The Docks");
    const ada = await world.person({ org, role: "admin" });
    for (const path of ["/user/me", "/user/me/"]) {
      const { status, body } = await ada.api.get(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: ada.id, username: ada.username, email: ada.email, tier: "free" });
      expect(body.organizations).toEqual([{ id: org, name: "The Docks", role: "admin" }]);
      expect(body.role_bindings).toEqual([]);
    }
  });
});

describe("GET /user/me/access", () => {
  test("[AU55] GET /user/me/access has memberships and role bindings with the places around them, and derives nothing", async () => {
    const { kysely: db } = world.database;
    const [org, other] = [await world.org("Access One"), await world.org("Access Two")];
    const ada = await world.person({ org, role: "admin" });
    await world.admin.api.post(`/orgs/${other}/members`, { user_id: ada.id, role: "member" });
    const [ours, theirs] = [await insertCluster(db, org), await insertCluster(db, other)];
    const [project, shop] = [await insertProject(db, org, ours), await insertProject(db, other, theirs)];
    await bindRole(db, ada.id, "viewer", { cluster: theirs });
    await bindRole(db, ada.id, "editor", { project: shop });
    const access = {
      is_superuser: false,
      orgs: [
        { id: org, name: "Access One", slug: "access-one", role: "admin" },
        { id: other, name: "Access Two", slug: "access-two", role: "member" },
      ],
      clusters: [{ id: theirs, org_id: other, role: "viewer" }],
      projects: [{ id: shop, cluster_id: theirs, org_id: other, role: "editor" }],
      more_roles: 0,
    };
    expect(await ada.api.get("/user/me/access")).toMatchObject({ status: 200, body: access });

    const tokenFor = async (place: object) => {
      const made = await ada.api.post("/cli-tokens", { name: "ci", scopes: ["read"], ...place });
      return world.anyone.with({ authorization: `Bearer ${made.body.token}` });
    };
    const seenBy = async (place: object) => (await (await tokenFor(place)).get("/user/me/access")).body;
    expect(await seenBy({})).toEqual(access);
    expect(await seenBy({ org_id: org })).toEqual({ ...access, orgs: [access.orgs[0]], clusters: [], projects: [] });
    expect(await seenBy({ org_id: other })).toEqual({ ...access, orgs: [access.orgs[1]] });
    expect(await seenBy({ project_id: shop })).toEqual({ ...access, orgs: [], clusters: [] });
    expect(await seenBy({ project_id: project })).toEqual({ ...access, orgs: [], clusters: [], projects: [] });
  });

  test("[AU55] GET /user/me/access is empty for a superuser who is a member of nothing", async () => {
    const { kysely: db } = world.database;
    const boss = await world.person();
    const appoint = (is_superuser: boolean) =>
      db.updateTable("users").set({ is_superuser }).where("id", "=", boss.id).execute();
    await appoint(true);
    onTestFinished(() => appoint(false).then(() => undefined));
    await world.person({ org: await world.org(), role: "admin" });
    const none = { is_superuser: true, orgs: [], clusters: [], projects: [] };
    expect(await boss.api.get("/user/me/access")).toMatchObject({ status: 200, body: none });
    expect((await world.anyone.get("/user/me/access")).status).toBe(401);
  });
});

describe("PATCH /user/{id}", () => {
  test("[AU37] PATCH /user/{id} changes the given fields of the caller's record and leaves the others", async () => {
    const { api, id, username, password: current_password } = await world.person();
    const before = (await api.get(`/user/${id}`)).body;
    world.clock.advance(1_000);
    const changes = { name: "Ada King", email: `King-${username}@Example.com`, profile_image_url: null };
    const answer = await api.patch(`/user/${id.toUpperCase()}`, { ...changes, current_password });
    const updated_at = world.clock.now().toISOString();
    const email = `king-${username}@example.com`;
    const email_verified = false;
    expect(answer).toMatchObject({ status: 200, body: { ...before, ...changes, email, email_verified, updated_at } });
    expect((await api.get("/user/me")).status).toBe(200);
  });

  test("[AU37] PATCH and DELETE /user/{id} of another user are a 403, for a superuser too, and whether the user exists or not", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    for (const caller of [ada, world.admin]) {
      expect((await caller.api.patch(`/user/${bob.id}`, { name: "Robert" })).status).toBe(403);
      expect((await caller.api.patch(`/user/${NOBODY}`, { name: "Robert" })).status).toBe(403);
      expect((await caller.api.delete(`/user/${bob.id}`)).status).toBe(403);
      expect((await caller.api.delete(`/user/${NOBODY}`)).status).toBe(403);
    }
    expect((await bob.api.get("/user/me")).body.name).toBe("Somebody");
    expect((await world.anyone.send("PATCH", `/user/${bob.id}`, { body: {} })).status).toBe(401);
  });

  test("[AU32] PATCH /user/{id} refuses fields that are not the user's to change", async () => {
    const { api, id } = await world.person();
    const answer = await api.patch(`/user/${id}`, { is_superuser: true, tier: "pro", name: "X" });
    expect(answer.status).toBe(422);
    expect(invalidFields(answer)).toEqual([
      "body.is_superuser extra_forbidden",
      "body.name string_too_short",
      "body.tier extra_forbidden",
    ]);
  });

  test("[AU33] PATCH /user/{id} with the email address or username of another user is a 409", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    const current_password = ada.password;
    for (const taken of [{ email: bob.email.toUpperCase(), current_password }, { username: bob.username }]) {
      expect((await ada.api.patch(`/user/${ada.id}`, taken)).status).toBe(409);
    }
    expect((await ada.api.patch(`/user/${ada.id}`, { email: ada.email, username: ada.username })).status).toBe(200);
  });
});

describe("DELETE /user/{id}", () => {
  test("[AU38] DELETE /user/{id} deletes sessions, CLI tokens and memberships, and frees username and email address", async () => {
    const org = await world.org();
    const ada = await world.person({ org });
    const { body: cli } = await ada.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] });
    const second = await startWorld({ beside: world });
    onTestFinished(() => second.stop());
    expect((await ada.api.delete(`/user/${ada.id}`)).status).toBe(204);
    for (const { anyone } of [world, second]) {
      expect((await anyone.with({ authorization: `Bearer ${ada.token}` }).get("/user/me")).status).toBe(401);
      expect((await anyone.with({ cookie: ada.cookie }).post("/refresh")).status).toBe(401);
      expect((await anyone.with({ authorization: `Bearer ${cli.token}` }).get("/orgs")).status).toBe(401);
    }
    await expect(world.login(ada.username, ada.password)).rejects.toThrow("refused");
    expect((await world.admin.api.get(`/user/${ada.id}`)).status).toBe(404);
    expect((await world.admin.api.get(`/orgs/${org}/members`)).body.total_count).toBe(1);
    expect((await create({ username: ada.username, email: ada.email })).status).toBe(201);
  });

  test("[AU39] the last superuser cannot delete themselves", async () => {
    const answer = await world.admin.api.delete(`/user/${world.admin.id}`);
    expect(answer).toMatchObject({ status: 409, body: { detail: "The last superuser cannot be deleted." } });
  });

  test("[AU40] the only administrator of an organization cannot delete themselves, and the 409 names the organization", async () => {
    const { org, admins } = await administered("Ropewalk", 1);
    const [ada] = admins as [Person];
    const answer = await ada.api.delete(`/user/${ada.id}`);
    expect(answer.status).toBe(409);
    expect(answer.body.detail).toContain("Ropewalk");
    const heir = await world.person({ org, role: "admin" });
    expect((await ada.api.delete(`/user/${ada.id}`)).status).toBe(204);
    expect((await heir.api.delete(`/user/${heir.id}`)).status).toBe(409);
  });

  test("[AU40] of the last two administrators who delete themselves at once, one stays", async () => {
    const { admins } = await administered("Chandlery", 2);
    const answers = await Promise.all(admins.map(({ api, id }) => api.delete(`/user/${id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
  });
});

describe("PATCH /user/{id}/tier", () => {
  test("[AU41] a superuser moves a user to another tier", async () => {
    const { id, api } = await world.person();
    const answer = await world.admin.api.patch(`/user/${id}/tier`, { tier: "pro" });
    expect(answer).toMatchObject({ status: 200, body: { id, tier: "pro" } });
    expect((await api.get("/user/me")).body.tier).toBe("pro");
  });

  test("[AU41] PATCH /user/{id}/tier with an unknown tier or user is a 404, and is for superusers alone", async () => {
    const { id, api } = await world.person();
    expect((await world.admin.api.patch(`/user/${id}/tier`, { tier: "gold" })).status).toBe(404);
    expect((await world.admin.api.patch(`/user/${NOBODY}/tier`, { tier: "pro" })).status).toBe(404);
    expect((await world.admin.api.patch(`/user/${id}/tier`, {})).status).toBe(422);
    expect((await api.patch(`/user/${id}/tier`, { tier: "pro" })).status).toBe(403);
    expect((await world.anyone.patch(`/user/${id}/tier`, { tier: "pro" })).status).toBe(401);
  });
});

const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id);

/** An organization that these people administer and nobody else. */
async function administered(name: string, count: number): Promise<{ org: string; admins: Person[] }> {
  const org = await world.org(name);
  const admins: Person[] = [];
  for (let made = 0; made < count; made++) admins.push(await world.person({ org, role: "admin" }));
  await world.admin.api.delete(`/orgs/${org}/members/${world.admin.id}`);
  return { org, admins };
}
