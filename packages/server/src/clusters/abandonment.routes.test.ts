import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { insertAddonInstance } from "../projects/contents.fixture.ts";
import { abandonmentProblem, leftBehind } from "./abandonment.ts";
import type { Cluster } from "./cluster.ts";
import { connectOperator, provisionedCluster, registeredCluster } from "./clusters.fixture.ts";

let world: World;
let org: string;
let orgAdmin: Person;
let cluster: { id: string; name: string };

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  org = await world.org();
  orgAdmin = await world.person({ org, role: "admin" });
});
afterAll(() => world?.stop());
beforeEach(async () => {
  cluster = await registeredCluster(orgAdmin.api, org);
});

const abandon = (name = cluster.name, api = orgAdmin.api) => api.post(`/clusters/${cluster.id}/abandon`, { name });
const components = [{ name: "web", workload_spec: { image: "nginx:1.29", ingress: { host: "shop.example.com" } } }];

/** Two projects, one of which waits for the confirmation of its deletion, with an app and an addon instance. */
async function fill(): Promise<{ shop: string; leaving: string }> {
  const make = async (name: string) =>
    (await orgAdmin.api.post("/projects", { name, cluster_id: cluster.id })).body.id as string;
  const [shop, leaving] = [await make("shop"), await make("leaving")];
  await orgAdmin.api.post("/apps", { name: "web", project_id: shop, components });
  const place = { org_id: org, cluster_id: cluster.id, project_id: shop, namespace: "shop" };
  await insertAddonInstance(world.database.kysely, place, "db");
  await orgAdmin.api.delete(`/projects/${leaving}`);
  return { shop, leaving };
}

const rowsOf = async (table: "projects" | "apps" | "addon_instances" | "desired_resources" | "ingress_hosts") =>
  (await world.database.kysely.selectFrom(table).select("cluster_id").where("cluster_id", "=", cluster.id).execute())
    .length;

test("[CL66] everything on it goes without a confirmation, and the cluster can be deleted then", async () => {
  const { shop, leaving } = await fill();
  expect((await orgAdmin.api.delete(`/clusters/${cluster.id}`)).status).toBe(409);
  await connectOperator(world.database.kysely, cluster.id, world.clock.now(), 0);
  const { status, body } = await abandon();
  expect(status).toBe(202);
  expect(body).toMatchObject({
    cluster_id: cluster.id,
    name: cluster.name,
    namespaces: ["leaving", "shop"],
    apps: 1,
    addon_instances: 1,
  });
  expect(body.left_behind.join(" ")).toContain("leaving, shop");
  for (const table of ["projects", "apps", "addon_instances", "desired_resources", "ingress_hosts"] as const) {
    expect([table, await rowsOf(table)]).toEqual([table, 0]);
  }
  for (const id of [shop, leaving]) expect((await orgAdmin.api.get(`/projects/${id}`)).status).toBe(404);
  expect((await orgAdmin.api.get(`/clusters/${cluster.id}`)).body.status).toBe("disconnected");
  expect(await abandon()).toMatchObject({ status: 202, body: { namespaces: [], apps: 0 } });
  expect((await orgAdmin.api.delete(`/clusters/${cluster.id}`)).status).toBe(204);
});

test("[CL59] it is for administrators of the organization alone", async () => {
  const [admin, member, stranger] = [await world.person({ org }), await world.person({ org }), await world.person()];
  await bindRole(world.database.kysely, admin.id, "admin", { cluster: cluster.id });
  await fill();
  expect((await abandon(cluster.name, admin.api)).status).toBe(403);
  expect((await abandon(cluster.name, member.api)).status).toBe(403);
  expect((await abandon(cluster.name, stranger.api)).status).toBe(404);
  expect((await abandon(cluster.name, world.anyone)).status).toBe(401);
  expect(await rowsOf("projects")).toBe(2);
});

test("[CL59] another name is a 422 at the name, and a connected cluster a 409; nothing changes", async () => {
  await fill();
  for (const name of ["", `${cluster.name} `, cluster.name.toUpperCase()]) {
    expect(await abandon(name)).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "name"] }] } });
  }
  await connectOperator(world.database.kysely, cluster.id, world.clock.now());
  expect(await abandon()).toMatchObject({ status: 409, body: { detail: expect.stringContaining("is connected") } });
  expect([await rowsOf("projects"), await rowsOf("apps")]).toEqual([2, 1]);
});

test("[CL60] it is on record with what may be left, and every deletion is announced", async () => {
  await fill();
  const heard: Event[] = [];
  const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => void heard.push(event as Event));
  const { body } = await abandon();
  unsubscribe();
  const deleted = heard.filter((event) => event["deleted"] === true).map(({ type, resource }) => [type, resource.name]);
  expect(deleted.sort()).toEqual([
    ["addon", "db"],
    ["app", "web"],
    ["project", "leaving"],
    ["project", "shop"],
  ]);
  const log = await orgAdmin.api.get(`/orgs/${org}/audit-log`);
  const { cluster_id: _id, name: _name, ...released } = body;
  expect(log.body.data[0]).toMatchObject({
    action: "cluster.abandon",
    resource: { type: "cluster", id: cluster.id, name: cluster.name },
    changes: { ...released, confirmed_by_cluster: false },
  });
});

test("[CL61] no token of before counts any more", async () => {
  await abandon();
  const row = await world.database.kysely
    .selectFrom("clusters")
    .select(["token_version", "token_floor"])
    .where("id", "=", cluster.id)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ token_version: 2, token_floor: 2 });
});

test("[CL66] projects and apps that are being made at the same time are gone or refused, and nobody is left waiting", async () => {
  const { shop } = await fill();
  const making = Array.from({ length: 6 }, (_, index) => [
    orgAdmin.api.post("/projects", { name: `p${index}`, cluster_id: cluster.id }),
    orgAdmin.api.post("/apps", { name: `a${index}`, project_id: shop, components: [] }),
  ]).flat();
  const [answer, ...made] = await Promise.all([abandon(), ...making]);
  expect(answer?.status).toBe(202);
  for (const { status } of made) expect([201, 404]).toContain(status);
  const orphans = await world.database.kysely
    .selectFrom("desired_resources as d")
    .leftJoin("projects as p", "p.id", "d.resource_id")
    .select("d.key")
    .where("d.cluster_id", "=", cluster.id)
    .where("d.kind", "=", "project")
    .where("p.id", "is", null)
    .execute();
  expect(orphans).toEqual([]);
});

test("[CL66] provisioned infrastructure is named among what is left, and a cluster that was never reached is not", async () => {
  const provisioned = await provisionedCluster(orgAdmin.api, org);
  const { body } = await orgAdmin.api.post(`/clusters/${provisioned.id}/abandon`, { name: provisioned.name });
  expect(body.left_behind).toEqual(["The infrastructure at the provider: delete the cluster to have it destroyed."]);
  expect(leftBehind({ first_connected_at: null, credential_id: null }, ["shop"])).toEqual([]);
});

test("[CL66] many namespaces are told by their number", () => {
  const names = Array.from({ length: 25 }, (_, index) => `n${index}`);
  expect(leftBehind({ first_connected_at: new Date(), credential_id: null }, names)[0]).toMatch(/n19 and 5 more\.$/);
});

test("[CL59] a lease that ends at this very instant does not count as connected", () => {
  const now = new Date("2026-02-01T00:00:00.000Z");
  const facts = { name: "production", session_lease_until: now } as Cluster;
  expect(abandonmentProblem(facts, "production", now)).toBeNull();
  expect(
    abandonmentProblem({ ...facts, session_lease_until: new Date(now.getTime() + 1) }, "production", now),
  ).not.toBeNull();
});
