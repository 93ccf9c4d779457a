import type { Operation } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { insertAddonInstance } from "../projects/contents.fixture.ts";
import { describedRoutes } from "../routes.ts";
import { endAbandoned } from "./abandonment.runner.ts";
import { abandonmentProblem, leftBehind } from "./abandonment.ts";
import type { Cluster } from "./cluster.ts";
import { connectOperator, provisionedCluster, registeredCluster } from "./clusters.fixture.ts";

let cluster: { id: string; name: string };

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin: orgAdmin } = await world.orgWithPeople();
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await registeredCluster(orgAdmin.api, org);
});

const abandon = (name = cluster.name, api = orgAdmin.api) => api.post(`/clusters/${cluster.id}/abandon`, { name });
const ports = [{ name: "http", port: 80 }];
const components = [
  { name: "web", workload_spec: { image: "nginx:1.29", ports, ingress: { host: "shop.example.com" } } },
];

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

const read = async (path: string) => (await orgAdmin.api.get(path)).body;
const ABANDONED = { lifecycle: "cleanup_degraded", lifecycle_reason: "cluster_abandoned" };

test("[CL66] [PR73] an abandoned cluster and its projects stay readable and listed, with their new state", async () => {
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
  expect(await read(`/clusters/${cluster.id}`)).toMatchObject({ status: "abandoned", message: null });
  const clusters = await read(`/orgs/${org}/clusters?status=abandoned&search=${encodeURIComponent(cluster.name)}`);
  expect(clusters).toMatchObject({ total_count: 1, data: [{ id: cluster.id, status: "abandoned" }] });
  for (const id of [shop, leaving]) expect(await read(`/projects/${id}`)).toMatchObject(ABANDONED);
  const listed = await read(`/projects?cluster_id=${cluster.id}&lifecycle=cleanup_degraded`);
  expect(listed.data.map(({ id }: { id: string }) => id).sort()).toEqual([shop, leaving].sort());
  const deleting = { phase: "deleting", phase_reason: "cluster_abandoned" };
  expect(await read(`/apps/shop/web?project_id=${shop}`)).toMatchObject(deleting);
  expect((await read(`/addon-instances?project_id=${shop}`)).data).toMatchObject([deleting]);
  expect(await abandon()).toMatchObject({ status: 202, body: { ...body } });
});

test("[CL66] abandoning a cluster marks everything on it for removal by its operator", async () => {
  await fill();
  await abandon();
  const wanted = await world.database.kysely
    .selectFrom("desired_resources")
    .select(["key", "removed_at"])
    .where("cluster_id", "=", cluster.id)
    .execute();
  expect(wanted.map(({ key }) => key).sort()).toEqual([
    "addon_instance/shop/db",
    "app/shop/web",
    "project/leaving",
    "project/shop",
    "registry_secrets/leaving",
    "registry_secrets/shop",
  ]);
  expect(wanted.every(({ removed_at }) => removed_at !== null)).toBe(true);
});

test("[CL108] the name of an abandoned cluster is free, and a cluster of that name may have projects of the same names", async () => {
  await fill();
  const register = () => orgAdmin.api.post(`/orgs/${org}/clusters`, { name: cluster.name });
  expect((await register()).status).toBe(409);
  await abandon();
  const again = await register();
  expect(again.status).toBe(201);
  expect((await orgAdmin.api.post("/projects", { name: "shop", cluster_id: again.body.id })).status).toBe(201);
  expect((await register()).status).toBe(409);
  const found = await read(`/orgs/${org}/clusters?search=${encodeURIComponent(cluster.name)}`);
  expect(found.data.map(({ status }: { status: string }) => status)).toEqual(["pending", "abandoned"]);
});

const UUID = "01932c07-31f1-7a4e-8d8b-000000000001";
const CHANGES: Readonly<Record<string, { readonly body?: object; readonly query?: string }>> = {
  updateCluster: { body: { name: "renamed" } },
  suspendCluster: { body: {} },
  unsuspendCluster: {},
  updateClusterSettings: { body: { pod_security: "restricted" } },
  createAgentCredentials: {},
  rotateClusterToken: {},
  reportInstallEvent: { body: { stage: "preflight", status: "started" } },
  recordClusterBundle: { body: { bundle_version: "1.4", profiles: [], ha_tier: "single-server" } },
  scaleCluster: { body: { desired_node_count: 2 } },
  replaceNode: { body: {} },
  upgradeKubernetes: { body: { release: "v1.37.1+k3s1" } },
  grantClusterRole: { body: { user_id: UUID, role: "viewer" } },
  replaceClusterRole: { body: { user_id: UUID, role: "viewer" } },
  attachClusterRegistrySecret: {
    body: { name: "r", server_url: "registry.example.com", username: "u", password: "p" },
  },
  detachClusterRegistrySecret: {},
};
/** These end the record, or take rights away. */
const STILL_TAKEN = ["abandonCluster", "deleteCluster", "detachCluster", "planCluster", "revokeClusterRole"];
const ofClusters = describedRoutes()
  .map(({ operation }) => operation)
  .filter(({ path, method }) => path.startsWith("/clusters/{id}") && method !== "GET");

test("[CL109] every other operation that changes a cluster is tried in this file and describes a 409", () => {
  expect(ofClusters.map(({ id }) => id).sort()).toEqual([...Object.keys(CHANGES), ...STILL_TAKEN].sort());
  const undescribed = ofClusters.filter(({ id, failures }) => id in CHANGES && !failures?.includes(409));
  expect(undescribed).toEqual([]);
});

test.each(Object.entries(CHANGES))(
  "[CL109] %s on an abandoned cluster is a 409 that says why",
  async (name, { body }) => {
    await abandon();
    const { method, path } = ofClusters.find(({ id }) => id === name) as Operation;
    const at = path.replace("{id}", cluster.id).replace(/\{.*\}/, UUID);
    const answer = await orgAdmin.api.send(method, at, body ? { body } : {});
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining("was abandoned") } });
  },
);

test("[CL109] [PR74] nothing is created on an abandoned cluster or in its projects, and nothing in them is changed", async () => {
  const { shop } = await fill();
  await abandon();
  const app = `/apps/shop/web`;
  const tries = [
    orgAdmin.api.post("/projects", { name: "late", cluster_id: cluster.id }),
    orgAdmin.api.post("/apps", { name: "late", project_id: shop, components: [{ name: "web", workload_spec: {} }] }),
    orgAdmin.api.patch(`/projects/${shop}/policy`, { isolation: "none" }),
    orgAdmin.api.post(`${app}/pause?project_id=${shop}`),
  ];
  for (const { status, body } of await Promise.all(tries))
    expect([status, body.detail]).toEqual([409, expect.anything()]);
  expect((await tries[1])?.body.detail).toContain("was abandoned");
  expect(await orgAdmin.api.delete(`/projects/${shop}`)).toMatchObject({ status: 202, body: ABANDONED });
});

test("[CL110] deleting an abandoned cluster ends its record and those of its projects at once", async () => {
  const { shop, leaving } = await fill();
  await abandon();
  const heard: Event[] = [];
  const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => void heard.push(event as Event));
  expect((await orgAdmin.api.delete(`/clusters/${cluster.id}`)).status).toBe(204);
  unsubscribe();
  const deleted = heard.filter((event) => event["deleted"] === true).map(({ type, resource }) => [type, resource.name]);
  expect(deleted.sort()).toEqual([
    ["project", "leaving"],
    ["project", "shop"],
  ]);
  expect((await read(`/orgs/${org}/audit-log`)).data[0]).toMatchObject({
    action: "cluster.delete",
    changes: { namespaces: ["leaving", "shop"], confirmed_by_cluster: false },
  });
  for (const path of [`/clusters/${cluster.id}`, `/projects/${shop}`, `/projects/${leaving}`]) {
    expect((await orgAdmin.api.get(path)).status).toBe(404);
  }
  for (const table of ["projects", "apps", "addon_instances", "desired_resources", "ingress_hosts"] as const) {
    expect([table, await rowsOf(table)]).toEqual([table, 0]);
  }
});

test("[CL110] deleting an abandoned provisioned cluster destroys its infrastructure, and its projects stay until then", async () => {
  const { id, name } = await provisionedCluster(orgAdmin.api, org);
  const { body: project } = await orgAdmin.api.post("/projects", { name: "shop", cluster_id: id });
  await orgAdmin.api.post(`/clusters/${id}/abandon`, { name });
  expect((await orgAdmin.api.post(`/clusters/${id}/plan`, { action: "destroy" })).status).toBe(202);
  expect((await orgAdmin.api.delete(`/clusters/${id}`)).status).toBe(204);
  expect(await read(`/clusters/${id}`)).toMatchObject({ status: "destroying" });
  expect(await read(`/projects/${project.id}`)).toMatchObject(ABANDONED);
});

test("[CL111] the record of an abandoned cluster ends when its operator has been back and nothing is left on it", async () => {
  const { kysely: db } = world.database;
  const { bus, clock } = world;
  const end = async () => {
    await endAbandoned({ db, bus, clock: clock.now });
    return (await orgAdmin.api.get(`/clusters/${cluster.id}`)).status;
  };
  const { shop } = await fill();
  await abandon();
  const isBack = { last_heartbeat: new Date(world.clock.now().getTime() + 1) };
  await db.updateTable("clusters").set(isBack).where("id", "=", cluster.id).execute();
  expect(await end()).toBe(200);
  await db.deleteFrom("projects").where("cluster_id", "=", cluster.id).execute();
  await db.updateTable("clusters").set({ last_heartbeat: null }).where("id", "=", cluster.id).execute();
  expect(await end()).toBe(200);
  await db.updateTable("clusters").set(isBack).where("id", "=", cluster.id).execute();
  expect(await end()).toBe(404);
  expect((await orgAdmin.api.get(`/projects/${shop}`)).status).toBe(404);
  expect((await read(`/orgs/${org}/audit-log`)).data[0]).toMatchObject({
    action: "cluster.delete",
    actor: { id: null },
    changes: { confirmed_by_cluster: true },
  });
});

test("[CL111] the record of an abandoned provisioned cluster stays until its infrastructure is destroyed", async () => {
  const { id, name } = await provisionedCluster(orgAdmin.api, org);
  await orgAdmin.api.post(`/clusters/${id}/abandon`, { name });
  const { kysely: db } = world.database;
  const last_heartbeat = new Date(world.clock.now().getTime() + 1);
  await db.updateTable("clusters").set({ last_heartbeat }).where("id", "=", id).execute();
  await endAbandoned({ db, bus: world.bus, clock: world.clock.now });
  expect(await read(`/clusters/${id}`)).toMatchObject({ status: "abandoned" });
});

test("[CL59] abandoning a cluster is for administrators of the organization alone", async () => {
  const [admin, member, stranger] = [await world.person({ org }), await world.person({ org }), await world.person()];
  await bindRole(world.database.kysely, admin.id, "admin", { cluster: cluster.id });
  await fill();
  expect((await abandon(cluster.name, admin.api)).status).toBe(403);
  expect((await abandon(cluster.name, member.api)).status).toBe(403);
  expect((await abandon(cluster.name, stranger.api)).status).toBe(404);
  expect((await abandon(cluster.name, world.anyone)).status).toBe(401);
  expect(await rowsOf("projects")).toBe(2);
});

test("[CL59] abandoning a cluster with another name is a 422, and a connected one a 409; nothing changes", async () => {
  await fill();
  for (const name of ["", `${cluster.name} `, cluster.name.toUpperCase()]) {
    expect(await abandon(name)).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "name"] }] } });
  }
  await connectOperator(world.database.kysely, cluster.id, world.clock.now());
  expect(await abandon()).toMatchObject({ status: 409, body: { detail: expect.stringContaining("is connected") } });
  expect([await rowsOf("projects"), await rowsOf("apps")]).toEqual([2, 1]);
});

test("[CL432] abandoning a cluster a second time leaves no second audit entry", async () => {
  await fill();
  const [first, second] = [await abandon(), await abandon()];
  expect(second).toMatchObject({ status: 202, body: first.body });
  const { data } = await read(`/orgs/${org}/audit-log?action=cluster.abandon&resource_id=${cluster.id}`);
  expect(data).toHaveLength(1);
});

test("[CL60] abandoning a cluster is in the audit log with what may be left, and everything on it is announced", async () => {
  await fill();
  const heard: Event[] = [];
  const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => void heard.push(event as Event));
  const { body } = await abandon();
  unsubscribe();
  const announced = heard.map(({ type, resource, ...event }) => [
    ...[type, resource.name, event["deleted"] ?? false],
    event["lifecycle"] ?? event["phase"] ?? event["status"],
  ]);
  expect(announced.filter(([type]) => type !== "activity").sort()).toEqual([
    ["addon", "db", false, "deleting"],
    ["app", "web", false, "deleting"],
    ["cluster-status", cluster.name, false, "abandoned"],
    ["project", "leaving", false, "cleanup_degraded"],
    ["project", "shop", false, "cleanup_degraded"],
  ]);
  const log = await orgAdmin.api.get(`/orgs/${org}/audit-log`);
  const { cluster_id: _id, name: _name, ...released } = body;
  expect(log.body.data[0]).toMatchObject({
    action: "cluster.abandon",
    resource: { type: "cluster", id: cluster.id, name: cluster.name },
    changes: { ...released, confirmed_by_cluster: false },
  });
});

test("[CL61] the tokens of an abandoned cluster stay valid, so that its operator can come back", async () => {
  await abandon();
  const row = await world.database.kysely
    .selectFrom("clusters")
    .select(["token_version", "token_floor"])
    .where("id", "=", cluster.id)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ token_version: 1, token_floor: 0 });
});

test("[CL66] projects and apps that are created while a cluster is abandoned are given up too or refused", async () => {
  const { shop } = await fill();
  const making = Array.from({ length: 6 }, (_, index) => [
    orgAdmin.api.post("/projects", { name: `p${index}`, cluster_id: cluster.id }),
    orgAdmin.api.post("/apps", {
      name: `a${index}`,
      project_id: shop,
      components: [{ name: "web", workload_spec: {} }],
    }),
  ]).flat();
  const [answer, ...made] = await Promise.all([abandon(), ...making]);
  expect(answer?.status).toBe(202);
  for (const { status } of made) expect([201, 409]).toContain(status);
  const { data } = await read(`/projects?cluster_id=${cluster.id}&items_per_page=100`);
  for (const project of data) expect(project).toMatchObject(ABANDONED);
  const kept = world.database.kysely.selectFrom("desired_resources").select("key").where("cluster_id", "=", cluster.id);
  expect(await kept.where("removed_at", "is", null).execute()).toEqual([]);
});

test("[CL66] what is left of an abandoned cluster has its infrastructure, and nothing if it never connected", async () => {
  const provisioned = await provisionedCluster(orgAdmin.api, org);
  const { body } = await orgAdmin.api.post(`/clusters/${provisioned.id}/abandon`, { name: provisioned.name });
  expect(body.left_behind).toEqual(["The infrastructure at the provider: delete the cluster to have it destroyed."]);
  expect(leftBehind({ first_connected_at: null, credential_id: null }, ["shop"])).toEqual([]);
});

test("[CL66] of many namespaces that are left the first 20 are named and the others counted", () => {
  const names = Array.from({ length: 25 }, (_, index) => `n${index}`);
  expect(leftBehind({ first_connected_at: new Date(), credential_id: null }, names)[0]).toMatch(/n19 and 5 more\.$/);
});

test("[CL59] a cluster whose lease ends at this very instant does not count as connected", () => {
  const now = new Date("2026-02-01T00:00:00.000Z");
  const given = { abandoned_at: null as Date | null, detach_requested_at: null as Date | null };
  const facts = { name: "production", session_lease_until: now, ...given } as Cluster;
  expect(abandonmentProblem(facts, "production", now)).toBeNull();
  expect(
    abandonmentProblem({ ...facts, session_lease_until: new Date(now.getTime() + 1) }, "production", now),
  ).not.toBeNull();
});
