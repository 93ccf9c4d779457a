import { type Client, type Person, startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { newId } from "../id.adapter.ts";

let cluster: string;
let project: string;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin: orgAdmin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await insertCluster(world.database.kysely, org);
  project = await insertProject(world.database.kysely, org, cluster);
});

/** A member with this role on the place that a test is about. */
async function bound(kind: "cluster" | "project", role: "viewer" | "editor" | "admin"): Promise<Person> {
  const person = await world.person({ org });
  await bindRole(world.database.kysely, person.id, role, kind === "cluster" ? { cluster } : { project });
  return person;
}

describe.each(["cluster", "project"] as const)("the roles on a %s", (kind) => {
  const id = () => (kind === "cluster" ? cluster : project);
  const path = () => `/${kind}s/${id()}/rbac`;
  const grant = (userId: string, role: string, api: Client = orgAdmin.api) =>
    api.post(path(), { user_id: userId, role });
  const list = async (api: Client = orgAdmin.api) => (await api.get(path())).body;

  test("[RB1] the role bindings of a cluster or project are listed newest first, without those of other places", async () => {
    const other = await insertCluster(world.database.kysely, org);
    await bindRole(world.database.kysely, member.id, "viewer", { cluster: other });
    await bindRole(world.database.kysely, member.id, "editor", kind === "cluster" ? { project } : { cluster });
    const first = (await grant(member.id, "viewer")).body;
    const second = (await grant(orgAdmin.id, "admin")).body;
    expect(await list()).toEqual({ data: [second, first], total_count: 2, next_cursor: null });
    expect(first).toEqual({
      binding_id: expect.any(String),
      user_id: member.id,
      role: "viewer",
      cluster_id: kind === "cluster" ? cluster : null,
      project_id: kind === "project" ? project : null,
      created_at: world.clock.now().toISOString(),
      updated_at: world.clock.now().toISOString(),
    });
  });

  test("[RB2] role bindings are read by viewers and granted by administrators", async () => {
    const [viewer, editor, admin] = [
      await bound(kind, "viewer"),
      await bound(kind, "editor"),
      await bound(kind, "admin"),
    ];
    expect(await list(viewer.api)).toMatchObject({ total_count: 3, next_cursor: null });
    for (const { api } of [viewer, editor]) {
      expect((await grant(member.id, "viewer", api)).status).toBe(403);
      expect((await api.put(path(), { user_id: admin.id, role: "viewer" })).status).toBe(403);
      expect((await api.delete(`${path()}?binding_id=${newId()}`)).status).toBe(403);
    }
    expect((await grant(member.id, "viewer", admin.api)).status).toBe(201);
    expect((await world.anyone.get(path())).status).toBe(401);
  });

  test("[RB3] a granted role applies from the next request", async () => {
    expect((await member.api.get(`/projects/${project}`)).status).toBe(404);
    expect((await grant(member.id, "viewer")).status).toBe(201);
    expect((await member.api.get(`/projects/${project}`)).status).toBe(200);
    expect((await member.api.get(path())).status).toBe(200);
  });

  test("[RB4] a second role for the same user on one place is a 409, also when both are granted at once", async () => {
    const answers = await Promise.all(["viewer", "editor", "admin"].map((role) => grant(member.id, role)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      detail: `The user already has a role on this ${kind}; replace it with PUT.`,
    });
    expect(await list()).toMatchObject({ total_count: 1, next_cursor: null });
  });

  test("[RB5] only members of the organization can be granted a role", async () => {
    const refusal = {
      status: 422,
      body: {
        detail: [
          { loc: ["body", "user_id"], msg: "The user is not a member of the organization", type: "value_error" },
        ],
      },
    };
    for (const userId of [stranger.id, newId()]) {
      expect(await grant(userId, "viewer")).toMatchObject(refusal);
      expect(await orgAdmin.api.put(path(), { user_id: userId, role: "viewer" })).toMatchObject(refusal);
    }
    expect(await list()).toEqual({ data: [], total_count: 0, next_cursor: null });
  });

  test("[RB4] a grant with an unknown role or field is a 422", async () => {
    expect((await grant(member.id, "owner")).status).toBe(422);
    expect((await orgAdmin.api.post(path(), { user_id: member.id, role: "viewer", until: "noon" })).status).toBe(422);
    expect((await orgAdmin.api.post(path(), {})).status).toBe(422);
  });

  test("[RB6] PUT replaces a role under the same binding id", async () => {
    const granted = (await grant(member.id, "viewer")).body;
    const replaced = await orgAdmin.api.put(path(), { user_id: member.id, role: "admin" });
    expect(replaced).toMatchObject({ status: 200, body: { ...granted, role: "admin" } });
    expect((await grant(orgAdmin.id, "viewer", member.api)).status).toBe(201);
  });

  test("[RB6] PUT for a member without a role is a 404", async () => {
    expect(await orgAdmin.api.put(path(), { user_id: member.id, role: "admin" })).toMatchObject({
      status: 404,
      body: { detail: "Role binding not found." },
    });
    expect(await list()).toEqual({ data: [], total_count: 0, next_cursor: null });
  });

  test("[RB7] a role is revoked by the id of its binding", async () => {
    const { binding_id } = (await grant(member.id, "editor")).body;
    expect(await orgAdmin.api.delete(path())).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "binding_id"], type: "missing" }] },
    });
    expect((await orgAdmin.api.delete(`${path()}?binding_id=${binding_id}`)).status).toBe(204);
    expect((await member.api.get(`/projects/${project}`)).status).toBe(404);
    expect((await orgAdmin.api.delete(`${path()}?binding_id=${binding_id}`)).status).toBe(404);
  });

  test("[RB7] revoking a role under another place is a 404", async () => {
    const elsewhere = kind === "cluster" ? { project } : { cluster };
    const binding = await bindRole(world.database.kysely, member.id, "viewer", elsewhere);
    expect((await orgAdmin.api.delete(`${path()}?binding_id=${binding}`)).status).toBe(404);
    expect((await member.api.get(`/projects/${project}`)).status).toBe(200);
  });

  test("[RB8] no role binding is left of a user who is removed from the organization during the grant", async () => {
    const leaving = await world.person({ org });
    await Promise.all([grant(leaving.id, "admin"), orgAdmin.api.delete(`/orgs/${org}/members/${leaving.id}`)]);
    expect(await list()).toEqual({ data: [], total_count: 0, next_cursor: null });
  });

  test("[RB9] the role bindings of a cluster or project that the caller cannot see are a 404", async () => {
    const requests = (api: Client) => [
      api.get(path()),
      grant(member.id, "viewer", api),
      api.put(path(), { user_id: member.id, role: "viewer" }),
      api.delete(`${path()}?binding_id=${newId()}`),
    ];
    const codes = async (api: Client) => (await Promise.all(requests(api))).map(({ status }) => status);
    expect(await codes(stranger.api)).toEqual([404, 404, 404, 404]);
    expect(await codes(member.api)).toEqual(Array(4).fill(kind === "cluster" ? 403 : 404));
    expect((await orgAdmin.api.get(`/${kind}s/${newId()}/rbac`)).status).toBe(404);
  });
});

test("[RB3] a role on a cluster applies to its projects, and one on a project to no other", async () => {
  const other = await insertProject(world.database.kysely, org, cluster);
  const [wide, narrow] = [await bound("cluster", "admin"), await bound("project", "admin")];
  const grantOn = (id: string, { api }: Person) =>
    api.post(`/projects/${id}/rbac`, { user_id: member.id, role: "viewer" });
  expect((await grantOn(other, wide)).status).toBe(201);
  expect((await grantOn(project, narrow)).status).toBe(201);
  expect((await grantOn(other, narrow)).status).toBe(404);
  expect((await narrow.api.get(`/clusters/${cluster}/rbac`)).status).toBe(403);
});

test("[RB10] the matrix of roles has every member with the roles in this organization, for its administrators only", async () => {
  const { kysely: db } = world.database;
  const here = await world.org();
  const [boss, ada] = [await world.person({ org: here, role: "admin" }), await world.person({ org: here })];
  await world.admin.api.post(`/orgs/${org}/members`, { user_id: ada.id, role: "admin" });
  const [on, elsewhere] = [await insertCluster(db, here), cluster];
  const shop = await insertProject(db, here, on);
  await bindRole(db, ada.id, "viewer", { cluster: on });
  await bindRole(db, ada.id, "editor", { project: shop });
  await bindRole(db, ada.id, "admin", { cluster: elsewhere });
  const { status, body } = await boss.api.get(`/orgs/${here}/role-matrix`);
  expect(status).toBe(200);
  const rows = new Map(body.data.map((member: { user_id: string }) => [member.user_id, member]));
  expect(rows.size).toBe(3);
  expect(rows.get(boss.id)).toMatchObject({
    name: "Somebody",
    email: boss.email,
    role: "admin",
    clusters: [],
    projects: [],
  });
  expect(rows.get(ada.id)).toEqual({
    user_id: ada.id,
    name: "Somebody",
    email: ada.email,
    role: "member",
    clusters: [{ id: on, name: `cluster ${on}`, role: "viewer" }],
    projects: [{ id: shop, name: `project-${shop}`, cluster_id: on, role: "editor" }],
    more_roles: 0,
  });
  expect((await ada.api.get(`/orgs/${here}/role-matrix`)).status).toBe(403);
  expect((await stranger.api.get(`/orgs/${here}/role-matrix`)).status).toBe(403);
});

test("[RB11] [PG17] many roles of many members come in bounded answers, between which others are served, and none is lost", async () => {
  const { kysely: db } = world.database;
  const here = await world.org();
  const boss = await world.person({ org: here, role: "admin" });
  await sql`
    with crowd as (
      insert into users (id, name, username, email, password_hash, tier_name, created_at, updated_at)
      select gen_random_uuid(), 'Member ' || made, 'matrix-' || made, 'matrix-' || made || '@example.com', 'none', tier_name, now(), now()
      from users, generate_series(1, 40) made where id = ${boss.id} returning id
    ) insert into memberships (org_id, user_id, role, created_at, updated_at) select ${here}, id, 'member', now(), now() from crowd
  `.execute(db);
  const on = await insertCluster(db, here);
  await sql`
    insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
    select gen_random_uuid(), ${here}, ${on}, 'shop-' || made, 'shop-' || made, now(), now() from generate_series(1001, 1510) made
  `.execute(db);
  await sql`
    insert into role_bindings (id, user_id, project_id, role, created_at, updated_at)
    select gen_random_uuid(), m.user_id, p.id, 'viewer', now(), now()
    from memberships m join projects p on p.org_id = m.org_id where m.org_id = ${here} and m.role = 'member'
  `.execute(db);
  const members: { user_id: string; name: string; projects: { name: string }[]; more_roles: number }[] = [];
  let answers = 0;
  const readAll = async (cursor = ""): Promise<void> => {
    const { status, body } = await boss.api.get(`/orgs/${here}/role-matrix${cursor}`);
    expect([status, body.total_count]).toEqual([200, 42]);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(4 * 1024 * 1024);
    members.push(...body.data);
    answers += 1;
    if (body.next_cursor !== null) await readAll(`?cursor=${body.next_cursor}`);
  };
  let isUnderWay = true;
  const reading = readAll().finally(() => {
    isUnderWay = false;
  });
  let served = 0;
  for (; isUnderWay; served++) expect((await stranger.api.get("/user/me")).status).toBe(200);
  await reading;
  expect(served).toBeGreaterThan(5);
  expect(answers).toBeGreaterThan(1);
  expect(new Set(members.map(({ user_id }) => user_id)).size).toBe(42);
  const crowd = members.filter(({ name }) => name.startsWith("Member "));
  const first = Array.from({ length: 500 }, (_, made) => `shop-${made + 1001}`);
  expect([members.length, crowd.length]).toEqual([42, 40]);
  for (const { user_id, projects, more_roles } of crowd) {
    expect([user_id, projects.map(({ name }) => name), more_roles]).toEqual([user_id, first, 10]);
  }
});
