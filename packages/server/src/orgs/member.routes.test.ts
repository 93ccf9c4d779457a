import { type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";

const MINUTE_MS = 60_000;
const UNKNOWN = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const LAST_ADMIN = { status: 409, body: { detail: "An organization keeps at least one administrator." } };

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

/** An organization whose only administrator is the person returned. */
async function orgOf(): Promise<{ id: string; owner: Person }> {
  const id = await world.org();
  const owner = await world.person({ org: id, role: "admin" });
  await world.admin.api.delete(`/orgs/${id}/members/${world.admin.id}`);
  return { id, owner };
}

describe("GET /orgs/{id}/members", () => {
  test("[OR9] GET /orgs/{id}/members shows each member with name, email and role, newest first", async () => {
    const { id, owner } = await orgOf();
    const later = await world.person();
    const earlier = await world.person();
    for (const person of [earlier, later]) {
      world.clock.advance(MINUTE_MS);
      await owner.api.post(`/orgs/${id}/members`, { user_id: person.id, role: "member" });
    }
    const { status, body } = await later.api.get(`/orgs/${id}/members`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_count: 3, page: 1, items_per_page: 10, has_more: false });
    expect(body.data.map(({ user_id }: { user_id: string }) => user_id)).toEqual([later.id, earlier.id, owner.id]);
    const now = world.clock.now().toISOString();
    expect(body.data[0]).toEqual({
      user_id: later.id,
      name: "Somebody",
      email: later.email,
      role: "member",
      created_at: now,
      updated_at: now,
    });
  });

  test("[OR9] GET /orgs/{id}/members is a 403 for a stranger", async () => {
    expect((await stranger.api.get(`/orgs/${org}/members`)).status).toBe(403);
  });
});

describe("POST /orgs/{id}/members", () => {
  test("[OR10] POST /orgs/{id}/members adds a user by id", async () => {
    const person = await world.person();
    const added = await admin.api.post(`/orgs/${org}/members`, { user_id: person.id, role: "member" });
    expect(added).toMatchObject({ status: 201, body: { user_id: person.id, email: person.email, role: "member" } });
    expect((await person.api.get(`/orgs/${org}`)).status).toBe(200);
  });

  test("[OR10] POST /orgs/{id}/members adds a user by email address, in any case", async () => {
    const person = await world.person();
    const email = person.email.toUpperCase();
    const added = await admin.api.post(`/orgs/${org}/members`, { email, role: "admin" });
    expect(added).toMatchObject({ status: 201, body: { user_id: person.id, role: "admin" } });
  });

  test("[OR10] POST /orgs/{id}/members adds a user by username", async () => {
    const person = await world.person();
    const added = await admin.api.post(`/orgs/${org}/members`, { username: person.username, role: "member" });
    expect(added).toMatchObject({ status: 201, body: { user_id: person.id, role: "member" } });
  });

  test.each([
    ["none", {}],
    ["two", { user_id: UNKNOWN, email: "ada@example.com" }],
    ["two others", { username: "ada", email: "ada@example.com" }],
    ["all", { user_id: UNKNOWN, username: "ada", email: "ada@example.com" }],
  ])("[OR10] POST /orgs/{id}/members with %s of user_id, email and username is a 422", async (_, whom) => {
    const refusal = {
      status: 422,
      body: {
        detail: [{ loc: ["body"], msg: "Exactly one of user_id, email and username is required", type: "value_error" }],
      },
    };
    expect(await admin.api.post(`/orgs/${org}/members`, { ...whom, role: "member" })).toMatchObject(refusal);
    expect(await stranger.api.post(`/orgs/${org}/members`, { ...whom, role: "member" })).toMatchObject(refusal);
    expect((await world.anyone.post(`/orgs/${org}/members`, { ...whom, role: "member" })).status).toBe(401);
  });

  test("[OR11] adding a user who does not exist to an organization is a 404", async () => {
    const notThere = { status: 404, body: { detail: "User not found." } };
    const add = (whom: object) => admin.api.post(`/orgs/${org}/members`, { ...whom, role: "member" });
    expect(await add({ user_id: UNKNOWN })).toMatchObject(notThere);
    expect(await add({ email: "nobody@example.com" })).toMatchObject(notThere);
    expect(await add({ username: "nobody" })).toMatchObject(notThere);
  });

  test("[OR11] adding a user to an organization twice is a 409, also at the same time", async () => {
    const person = await world.person();
    const add = () => admin.api.post(`/orgs/${org}/members`, { user_id: person.id, role: "admin" });
    const answers = await Promise.all([add(), add(), add()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      detail: "The user is already a member of the organization.",
    });
  });

  test("[OR10] POST /orgs/{id}/members needs an administrator", async () => {
    expect((await member.api.post(`/orgs/${org}/members`, { user_id: stranger.id, role: "member" })).status).toBe(403);
  });
});

describe("PUT /orgs/{id}/members/{user_id}", () => {
  test("[OR12] PUT /orgs/{id}/members/{user_id} changes the role, which applies at once", async () => {
    const person = await world.person({ org });
    const changed = await admin.api.put(`/orgs/${org}/members/${person.id}`, { role: "admin" });
    expect(changed).toMatchObject({ status: 200, body: { user_id: person.id, role: "admin" } });
    expect((await person.api.get(`/orgs/${org}/audit-log`)).status).toBe(200);
  });

  test("[OR12] changing the role of a user who is not a member is a 404", async () => {
    expect(await admin.api.put(`/orgs/${org}/members/${stranger.id}`, { role: "admin" })).toMatchObject({
      status: 404,
      body: { detail: "Member not found." },
    });
  });

  test("[OR12] changing a role needs an administrator, and an unknown role is a 422", async () => {
    expect((await member.api.put(`/orgs/${org}/members/${member.id}`, { role: "admin" })).status).toBe(403);
    expect((await admin.api.put(`/orgs/${org}/members/${member.id}`, { role: "owner" })).status).toBe(422);
  });

  test("[OR13] the last administrator of an organization cannot be demoted, not even by a superuser", async () => {
    const { id, owner } = await orgOf();
    expect(await owner.api.put(`/orgs/${id}/members/${owner.id}`, { role: "member" })).toMatchObject(LAST_ADMIN);
    expect(await world.admin.api.put(`/orgs/${id}/members/${owner.id}`, { role: "member" })).toMatchObject(LAST_ADMIN);
    expect((await owner.api.put(`/orgs/${id}/members/${owner.id}`, { role: "admin" })).status).toBe(200);
  });

  test("[OR13] the last administrator cannot be demoted or removed by an id in capitals either", async () => {
    const { id, owner } = await orgOf();
    const path = `/orgs/${id}/members/${owner.id.toUpperCase()}`;
    expect(await owner.api.put(path, { role: "member" })).toMatchObject(LAST_ADMIN);
    expect(await owner.api.delete(path)).toMatchObject(LAST_ADMIN);
  });
});

describe("DELETE /orgs/{id}/members/{user_id}", () => {
  test("[OR14] removing a member removes every role in the organization, and none elsewhere", async () => {
    const db = world.database.kysely;
    const elsewhere = await world.org();
    const person = await world.person({ org });
    const cluster = await insertCluster(db, org);
    const otherCluster = await insertCluster(db, elsewhere);
    await bindRole(db, person.id, "editor", { cluster });
    await bindRole(db, person.id, "admin", { project: await insertProject(db, org, cluster) });
    const kept = await bindRole(db, person.id, "viewer", { cluster: otherCluster });

    expect((await admin.api.delete(`/orgs/${org}/members/${person.id}`)).status).toBe(204);
    const me = (await person.api.get("/user/me")).body;
    expect(me).toMatchObject({ organizations: [], role_bindings: [{ binding_id: kept }] });
    expect((await person.api.get(`/orgs/${org}`)).status).toBe(403);
  });

  test("[OR14] removing a user who is not a member is a 404, and a member may remove nobody", async () => {
    expect((await admin.api.delete(`/orgs/${org}/members/${stranger.id}`)).status).toBe(404);
    expect((await member.api.delete(`/orgs/${org}/members/${admin.id}`)).status).toBe(403);
  });

  test("[OR13] the last administrator of an organization cannot be removed", async () => {
    const { id, owner } = await orgOf();
    expect(await owner.api.delete(`/orgs/${id}/members/${owner.id}`)).toMatchObject(LAST_ADMIN);
  });

  test("[OR13] one administrator is left when all of them step down at once", async () => {
    const { id, owner } = await orgOf();
    const second = await world.person({ org: id, role: "admin" });
    const third = await world.person({ org: id, role: "admin" });
    const answers = await Promise.all([
      owner.api.delete(`/orgs/${id}/members/${owner.id}`),
      second.api.put(`/orgs/${id}/members/${second.id}`, { role: "member" }),
      third.api.delete(`/orgs/${id}/members/${third.id}`),
    ]);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(1);
    const left = (await world.admin.api.get(`/orgs/${id}/members`)).body.data;
    expect(left.filter(({ role }: { role: string }) => role === "admin")).toHaveLength(1);
  });
});
