import { type Client, startWorld } from "@binnacle/world";
import { decodeJwt } from "jose";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { placeStore } from "../access/place.store.ts";
import { connect } from "../database/connection.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { projectList } from "./project-place.store.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const db = world.database.kysely;
const [ours, theirs] = [await world.org(), await world.org()];
const orgAdmin = await world.person({ org: ours, role: "admin" });
const mixed = await world.person({ org: ours });
await world.admin.api.post(`/orgs/${theirs}/members`, { user_id: mixed.id, role: "member" });
const member = await world.person({ org: ours });
const clusters = {
  ours: await insertCluster(db, ours),
  ours2: await insertCluster(db, ours),
  theirs: await insertCluster(db, theirs),
};
const projects = {
  a: await insertProject(db, ours, clusters.ours),
  b: await insertProject(db, ours, clusters.ours2),
  c: await insertProject(db, theirs, clusters.theirs),
  d: await insertProject(db, ours, clusters.ours),
  e: await insertProject(db, theirs, clusters.theirs),
};
await bindRole(db, mixed.id, "viewer", { cluster: clusters.ours });
await bindRole(db, mixed.id, "editor", { project: projects.d });
await bindRole(db, mixed.id, "admin", { project: projects.c });
afterAll(() => world.stop());

async function list(api: Client, query = "") {
  const { status, body } = await api.get(`/projects${query}`);
  expect(status).toBe(200);
  return { ids: body.data.map(({ id }: { id: string }) => id), total: body.total_count, more: body.has_more };
}

describe("GET /projects", () => {
  test("[PR7] GET /projects gives a superuser all projects, newest first", async () => {
    const { a, b, c, d, e } = projects;
    expect(await list(world.admin.api)).toEqual({ ids: [e, d, c, b, a], total: 5, more: false });
  });

  test("[PR7] GET /projects gives administrators the projects of their organizations", async () => {
    const { a, b, d } = projects;
    expect(await list(orgAdmin.api)).toEqual({ ids: [d, b, a], total: 3, more: false });
  });

  test("[PR7] GET /projects gives the projects that are bound to the caller, directly or by the cluster, once each", async () => {
    const { a, c, d } = projects;
    expect(await list(mixed.api)).toEqual({ ids: [d, c, a], total: 3, more: false });
  });

  test("[PR7] GET /projects is empty for a member without a role, and a 401 without a credential", async () => {
    expect(await list(member.api)).toEqual({ ids: [], total: 0, more: false });
    expect((await world.anyone.get("/projects")).status).toBe(401);
  });

  test("[PR7] GET /projects gives an administrator also what is bound to them in another organization, once", async () => {
    const both = await world.person({ org: ours, role: "admin" });
    await world.admin.api.post(`/orgs/${theirs}/members`, { user_id: both.id, role: "member" });
    await bindRole(db, both.id, "viewer", { cluster: clusters.ours });
    await bindRole(db, both.id, "viewer", { project: projects.a });
    await bindRole(db, both.id, "viewer", { project: projects.e });
    const { a, b, d, e } = projects;
    expect(await list(both.api)).toEqual({ ids: [e, d, b, a], total: 4, more: false });
  });

  test("[PR7] GET /projects is paged", async () => {
    const { a, c, d } = projects;
    expect(await list(mixed.api, "?items_per_page=2")).toEqual({ ids: [d, c], total: 3, more: true });
    expect(await list(mixed.api, "?items_per_page=2&page=2")).toEqual({ ids: [a], total: 3, more: false });
    expect(await list(mixed.api, "?items_per_page=2&page=9007199254740")).toEqual({ ids: [], total: 3, more: false });
    expect((await mixed.api.get("/projects?items_per_page=101")).status).toBe(422);
    expect((await mixed.api.get("/projects?page=0")).status).toBe(422);
  });

  test("[PR8] GET /projects can be filtered by cluster", async () => {
    const { a, c, d, e } = projects;
    expect(await list(mixed.api, `?cluster_id=${clusters.ours.toUpperCase()}`)).toMatchObject({
      ids: [d, a],
      total: 2,
    });
    expect(await list(mixed.api, `?cluster_id=${clusters.theirs}`)).toMatchObject({ ids: [c], total: 1 });
    expect(await list(world.admin.api, `?cluster_id=${clusters.theirs}`)).toMatchObject({ ids: [e, c], total: 2 });
    expect(await list(orgAdmin.api, `?cluster_id=${clusters.ours}`)).toMatchObject({ ids: [d, a], total: 2 });
  });

  test("[PR8] GET /projects filtered by an unknown or invisible cluster is empty", async () => {
    const nothing = { ids: [], total: 0, more: false };
    expect(await list(orgAdmin.api, `?cluster_id=${clusters.theirs}`)).toEqual(nothing);
    expect(await list(world.admin.api, `?cluster_id=${newId()}`)).toEqual(nothing);
    expect((await orgAdmin.api.get("/projects?cluster_id=mine")).status).toBe(422);
  });
});

test("[PR9] a page of GET /projects reads few rows, however many projects there are that it does not show", async () => {
  const crowd = await world.org();
  const cluster = await insertCluster(db, crowd);
  await sql`insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
    select gen_random_uuid(), ${crowd}, ${cluster}, 'p' || n, 'p' || n, now(), now()
    from generate_series(1, 5000) n`.execute(db);
  await sql`analyze projects`.execute(db);
  const crowdAdmin = await world.person({ org: crowd, role: "admin" });

  // One connection, which counts the rows that its transaction has read.
  const single = connect({ url: world.databaseUrl }, { poolSize: 1, onError: () => undefined });
  const places = placeStore(single);
  const callers = [mixed, orgAdmin, crowdAdmin, member, world.admin];
  // After five uses of a statement PostgreSQL may plan it for any values, which must not read more.
  for (const { id: userId, token } of [...callers, ...callers]) {
    const sessionId = String(decodeJwt(token)["sid"]);
    await single.pool.query("begin");
    const before = await rowsRead(single.kysely);
    const credential = { kind: "session", sessionId, userId, expiresAtMs: 0 } as const;
    const listed = await places.list(projectList, credential, {}, { limit: 10, offset: 0 }, world.clock.now());
    expect(listed?.caller.id).toBe(userId);
    expect((await rowsRead(single.kysely)) - before).toBeLessThanOrEqual(20);
    await single.pool.query("rollback");
  }
  await single.close();
  expect(await list(crowdAdmin.api, "?items_per_page=1")).toMatchObject({ total: 5000, more: true });
});

/** Of the table of projects, so far, by this connection. */
async function rowsRead(tx: Queries): Promise<number> {
  const { rows } = await sql<{ read: number }>`select seq_tup_read + idx_tup_fetch as read
    from pg_stat_xact_user_tables where relname = 'projects'`.execute(tx);
  return rows[0]?.read ?? 0;
}
