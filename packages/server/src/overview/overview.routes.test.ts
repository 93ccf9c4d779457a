import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { insertInstance, openShop } from "../apps/app.fixture.ts";
import { connectOperator } from "../clusters/clusters.fixture.ts";

const world = await startWorld();
const shop = await openShop(world);
const { kysely: db } = world.database;
await connectOperator(db, shop.cluster, world.clock.now(), 600_000);
await db.updateTable("clusters").set({ last_heartbeat: world.clock.now() }).where("id", "=", shop.cluster).execute();
afterAll(() => world.stop());

const app = async (columns: object): Promise<string> => {
  const name = await shop.app();
  await world.database.kysely.updateTable("apps").set(columns).where("name", "=", name).execute();
  return name;
};
type Item = { kind: string; name: string; reason: string; severity: string };
const overviewFor = async (api = shop.viewer.api) => (await api.get(`/orgs/${shop.org}/overview`)).body;
const listed = (body: { attention: { items: Item[] } }) =>
  body.attention.items.map(({ kind, name, reason }) => [kind, name, reason]);

test("[OV1] [OV2] the overview counts everything by state, and lists each object in trouble once, with its worst reason", async () => {
  const { kysely: db } = world.database;
  const since = (minutes: number) => new Date(world.clock.now().getTime() - minutes * 60_000);
  const failed = await app({
    phase: "failed",
    phase_since: since(5),
    phase_message: "No image.",
    drift_state: "drifted",
  });
  const blocked = await app({ phase: "running", drift_state: "blocked_sync", drift_detected_at: since(9) });
  await app({ phase: "running" });
  await app({ phase: "deleting", drift_state: "drifted" });
  const addon = await insertInstance(world, shop, "db");
  await db
    .updateTable("addon_instances")
    .set({ phase: "failed", phase_since: since(7) })
    .where("id", "=", addon)
    .execute();
  const body = await overviewFor();
  expect(body).toMatchObject({
    clusters: { total: 1, by_status: { connected: 1 }, stale: 0 },
    projects: { total: 1, by_lifecycle: { pending: 1 } },
    apps: { total: 4, by_phase: { failed: 1, running: 2, deleting: 1 }, drifted: 2, blocked: 1, stale: 0 },
    addon_instances: { total: 1, by_phase: { failed: 1, ready: 0 } },
    attention: { total: 3 },
  });
  expect(listed(body)).toEqual([
    ["addon_instance", "db", "failed"],
    ["app", failed, "failed"],
    ["app", blocked, "blocked_sync"],
  ]);
  expect(body.attention.items[1]).toMatchObject({
    severity: "failed",
    message: "No image.",
    namespace: shop.namespace,
    project_id: shop.project,
    cluster_id: shop.cluster,
    since: since(5).toISOString(),
  });
});

test("[OV1] the overview has nothing of projects that the caller cannot see", async () => {
  const counts = {
    projects: { total: 0 },
    apps: { total: 0 },
    addon_instances: { total: 0 },
    attention: { total: 0, items: [] },
  };
  expect(await overviewFor(shop.member.api)).toMatchObject({ clusters: { total: 1 }, ...counts });
  expect((await shop.stranger.api.get(`/orgs/${shop.org}/overview`)).status).toBe(403);
  const fleet = (await shop.member.api.get(`/orgs/${shop.org}/fleet`)).body.data;
  expect(fleet).toMatchObject([{ id: shop.cluster, apps: 0, failing: 0, held_up: 0 }]);
  expect((await shop.stranger.api.get(`/orgs/${shop.org}/fleet`)).status).toBe(403);
});

test("[OV2] the overview lists a project that is degraded, or whose cleanup is stuck", async () => {
  const { kysely: db } = world.database;
  const project = await insertProject(db, shop.org, shop.cluster);
  const named = async (columns: object) => {
    await db.updateTable("projects").set(columns).where("id", "=", project).execute();
    const body = await overviewFor(world.admin.api);
    return body.attention.items.filter(({ kind }: Item) => kind === "project").map(({ reason }: Item) => reason);
  };
  expect(await named({ lifecycle: "ready" })).toEqual([]);
  expect(await named({ lifecycle: "degraded", lifecycle_reason: "apply_failed" })).toEqual(["degraded"]);
  expect(await named({ lifecycle: "degraded", lifecycle_reason: "namespace_conflict" })).toEqual([
    "namespace_conflict",
  ]);
  expect(await named({ lifecycle: "cleanup_pending", lifecycle_reason: "cleanup_degraded" })).toEqual([
    "cleanup_degraded",
  ]);
  await db.deleteFrom("projects").where("id", "=", project).execute();
});

test("[OV4] the overview lists a disconnected cluster instead of everything on it, and none that never connected", async () => {
  const other = await world.org();
  const { kysely: db } = world.database;
  const [lost, waiting] = [await insertCluster(db, other), await insertCluster(db, other)];
  await connectOperator(db, lost, world.clock.now(), -1);
  for (const cluster of [lost, waiting]) {
    const project = await insertProject(db, other, cluster);
    await world.admin.api.post("/apps", {
      name: "front",
      project_id: project,
      components: [{ name: "web", workload_spec: {} }],
    });
  }
  await db.updateTable("apps").set({ phase: "failed" }).where("org_id", "=", other).execute();
  const { body } = await world.admin.api.get(`/orgs/${other}/overview`);
  expect(listed(body)).toEqual([["cluster", `cluster ${lost}`, "disconnected"]]);
  expect(body).toMatchObject({ clusters: { stale: 2 }, apps: { total: 2, stale: 2 }, attention: { total: 1 } });
});

test("[OV5] the overview lists the caller's tokens that expire soon and are valid in the organization, and none to a CLI token", async () => {
  const { api } = shop.viewer;
  const create = (name: string, more: object) =>
    api.post("/cli-tokens", { name, scopes: ["read"], expires_in_days: 3, ...more });
  const elsewhere = await world.org();
  await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: shop.viewer.id, role: "member" });
  const { token } = (await create("everywhere", {})).body;
  await create("here", { project_id: shop.project });
  await create("later", { expires_in_days: 30 });
  await create("elsewhere", { org_id: elsewhere });
  const tokens = (body: { attention: { items: Item[] } }) =>
    listed(body)
      .filter(([kind]) => kind === "cli_token")
      .map(([, name]) => name)
      .sort();
  expect(tokens(await overviewFor())).toEqual(["everywhere", "here"]);
  expect(tokens(await overviewFor(world.admin.api))).toEqual([]);
  expect(tokens(await overviewFor(world.anyone.with({ authorization: `Bearer ${token}` })))).toEqual([]);
});

test("[OV6] the fleet has every cluster by name, with the counts of what the caller sees on it", async () => {
  const { kysely: db } = world.database;
  const empty = await insertCluster(db, shop.org);
  await db.updateTable("clusters").set({ name: "a first one" }).where("id", "=", empty).execute();
  const { body } = await shop.viewer.api.get(`/orgs/${shop.org}/fleet`);
  expect(body).toEqual({
    data: [
      { id: empty, name: "a first one", status: "pending", stale: true, apps: 0, failing: 0, held_up: 0 },
      {
        id: shop.cluster,
        name: `cluster ${shop.cluster}`,
        status: "connected",
        stale: false,
        apps: 4,
        failing: 1,
        held_up: 0,
      },
    ],
    total_count: 2,
    next_cursor: null,
  });
  await db.deleteFrom("clusters").where("id", "=", empty).execute();
});

test("[OV6] [PG17] one answer of the fleet has 10,000 clusters and is within the bound of a list, and the others follow", async () => {
  const org = await world.org();
  await sql`
    insert into clusters (id, org_id, name, created_at, updated_at)
    select gen_random_uuid(), ${org}, lpad(made::text, 63, 'c'), now(), now() from generate_series(1, 10001) made
  `.execute(world.database.kysely);
  const { body: first } = await world.admin.api.get(`/orgs/${org}/fleet`);
  expect(first).toMatchObject({ total_count: 10_001, next_cursor: expect.any(String) });
  expect(first.data).toHaveLength(10_000);
  expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(4 * 1024 * 1024);
  const { body: rest } = await world.admin.api.get(`/orgs/${org}/fleet?cursor=${first.next_cursor}`);
  expect(rest).toMatchObject({ total_count: 10_001, next_cursor: null });
  const names = [...first.data, ...rest.data].map(({ name }: { name: string }) => name);
  expect(names).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(10_001);
  await sql`delete from clusters where org_id = ${org}`.execute(world.database.kysely);
});

test("[OV9] an app whose rollout is held up is a warning after 30 seconds, and a failure when the change has failed", async () => {
  const { kysely: db } = world.database;
  const project = await insertProject(db, shop.org, shop.cluster);
  const create = { name: "held", project_id: project, components: [{ name: "web", workload_spec: {} }] };
  const { id } = (await world.admin.api.post("/apps", create)).body;
  const seconds = (count: number) => new Date(world.clock.now().getTime() - count * 1_000);
  const seen = async (columns: object) => {
    await db.updateTable("apps").set(columns).where("id", "=", id).execute();
    const { attention, apps } = await overviewFor(world.admin.api);
    const fleet = (await world.admin.api.get(`/orgs/${shop.org}/fleet`)).body.data;
    const item = attention.items.find((each: { id: string }) => each.id === id) ?? null;
    return [item && [item.severity, item.reason, item.cause, item.action], apps.held_up, fleet[0].held_up];
  };
  const held = { phase: "deploying", phase_reason: "ImagePullBackOff" };
  await sql`update apps set deployed_at = ${seconds(30)} where id = ${id}`.execute(db);
  expect(await seen({ ...held, phase_since: seconds(29) })).toEqual([null, 0, 0]);
  expect(await seen({ ...held, phase_since: seconds(30), phase_reason: "RollingOut" })).toEqual([null, 0, 0]);
  const warning = ["warning", "held_up", "ImagePullBackOff", "edit"];
  expect(await seen({ ...held, phase_since: seconds(30) })).toEqual([warning, 1, 1]);
  await db.updateTable("app_deployments").set({ status: "failed" }).where("app_id", "=", id).execute();
  const failure = ["failed", "rollout_failed", "ImagePullBackOff", "edit"];
  expect(await seen({ phase: "degraded" })).toEqual([failure, 0, 0]);
  await db.deleteFrom("apps").where("id", "=", id).execute();
  await db.deleteFrom("projects").where("id", "=", project).execute();
});

test("[OV333] apps whose images cannot be pulled are one item only where the image is the same, with the step that resolves it", async () => {
  const { kysely: db } = world.database;
  const project = await insertProject(db, shop.org, shop.cluster);
  const failing = async (name: string, columns: object) => {
    const components = [{ name: "web", workload_spec: {} }];
    const { body } = await world.admin.api.post("/apps", { name, project_id: project, components });
    const phase_since = new Date(world.clock.now().getTime() - 60_000);
    await db
      .updateTable("apps")
      .set({ phase: "failed", phase_since, ...columns })
      .where("id", "=", body.id)
      .execute();
  };
  const pulling = (image: string) => ({
    phase_reason: "ImagePullBackOff",
    phase_message: `The image ${image} is not there.`,
  });
  for (const name of ["one", "two", "three"]) await failing(name, pulling("typo:1"));
  await failing("other", pulling("nowhere:2"));
  const crowded = (node: string) => ({ phase_reason: "Unschedulable", phase_message: `No node takes ${node}.` });
  for (const name of ["big", "bigger"]) await failing(name, crowded(name));
  await failing("chart", { phase_reason: "InstallFailed", phase_message: "An address cannot be reached." });
  const { attention } = await overviewFor(world.admin.api);
  const items = attention.items.filter((item: { project_id: string }) => item.project_id === project);
  expect(
    items.map((item: { name: string; action: string; others: number }) => [item.name, item.action, item.others]),
  ).toEqual([
    ["one", "edit", 2],
    ["other", "edit", 0],
    ["big", "see_pods", 1],
    ["chart", "edit", 0],
  ]);
  await db.deleteFrom("apps").where("project_id", "=", project).execute();
  await db.deleteFrom("projects").where("id", "=", project).execute();
});
