import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { insertInstance, openShop } from "../apps/app.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { addonReport, appReport, heldApp, listeningSink, registerSession, status } from "../hub/reports.fixture.ts";

// Without a worker, which would delete the sessions that lapse here.
const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
const fence = await registerSession(world, shop.cluster);
const sink = await listeningSink(world);
afterAll(() => world.stop());

const now = () => world.clock.now();
const read = async (path: string) => (await shop.viewer.api.get(path)).body;
const first = async (path: string, id: string) => (await read(path)).data.find((one: { id: string }) => one.id === id);

/** As the hub does when it renews its leases: nothing else is written for a heartbeat. */
async function beat(leaseMs = 30_000): Promise<string> {
  const { kysely: db } = world.database;
  const lease_until = new Date(now().getTime() + leaseMs);
  await db.updateTable("clusters").set({ last_heartbeat: now() }).where("id", "=", shop.cluster).execute();
  await db.updateTable("cluster_sessions").set({ lease_until }).where("cluster_id", "=", shop.cluster).execute();
  return now().toISOString();
}

/** An app, an addon instance and their project, of which the cluster has reported. */
async function reported() {
  const app = await heldApp(world, shop);
  const addon = await insertInstance(world, shop, `i${app.name}`);
  const rows = [
    { kind: "addon_instance", resource_id: addon, key: `addon_instance/${shop.namespace}/i${app.name}` },
    { kind: "project", resource_id: shop.project, key: `project/${shop.namespace}` },
  ] as const;
  for (const row of rows) {
    await world.database.kysely
      .insertInto("desired_resources")
      .values({ ...row, cluster_id: shop.cluster, generation: 1, revision: 1, acked_generation: 1, updated_at: now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const [{ key }, project] = rows;
  await sink.storeStatuses(fence, [
    app.said(1, appReport()),
    status({ key, resource_id: addon, generation: 1, report: addonReport({ phase: "degraded" }) }),
    status({ ...project, generation: 1, report: { state: "apply_failed", message: null } }),
    status({ ...project, generation: 1, report: { state: "ready", message: null } }),
  ]);
  const places = [
    () => read(shop.path(app.name)),
    () => first(`/apps?project_id=${shop.project}`, app.id),
    () => first(`/projects/${shop.project}/apps`, app.id),
    () => read(`/addon-instances/${addon}`),
    () => first(`/addon-instances?project_id=${shop.project}`, addon),
    () => read(`/projects/${shop.project}`),
    () => first(`/projects?cluster_id=${shop.cluster}`, shop.project),
    () => read(`/clusters/${shop.cluster}`),
    () => first(`/orgs/${shop.org}/clusters`, shop.cluster),
  ];
  return { app, addon, all: () => Promise.all(places.map((place) => place())) };
}

test("[CL63] a heartbeat renews observed_at of everything on the cluster, and writes none of these records", async () => {
  await beat();
  const { app, all } = await reported();
  const before = await app.row();
  world.clock.advance(20_000);
  const observed_at = await beat();
  for (const body of await all()) expect(body).toMatchObject({ observed_at, stale: false });
  expect(await app.row()).toEqual(before);
});

test("[CL62] everything on a cluster is stale 75 seconds after the last heartbeat or without a session, and keeps its time", async () => {
  const observed_at = await beat(600_000);
  const { all } = await reported();
  world.clock.advance(75_000);
  for (const body of await all()) expect(body).toMatchObject({ observed_at, stale: false });
  world.clock.advance(1);
  for (const body of await all()) expect(body).toMatchObject({ observed_at, stale: true });

  const last = await beat(10_000);
  world.clock.advance(10_000);
  for (const body of await all()) expect(body).toMatchObject({ observed_at: last, stale: true });
});

test("[CL64] a change while the operator is disconnected is pending, and says why and since when", async () => {
  const since = await beat(1_000);
  const { app } = await reported();
  world.clock.advance(60_000);
  // Requests to the operator go by the clock of the database, which no test advances.
  const lapsed = { lease_until: new Date(0) };
  await world.database.kysely
    .updateTable("cluster_sessions")
    .set(lapsed)
    .where("cluster_id", "=", shop.cluster)
    .execute();
  const { body } = await shop.editor.api.post(shop.path(app.name, "/redeploy"));
  const waiting = {
    phase: "pending",
    phase_reason: "operator_disconnected",
    phase_message: expect.stringContaining(since),
    observed_at: since,
    stale: true,
  };
  expect(body).toMatchObject(waiting);
  expect(await read(shop.path(app.name))).toMatchObject(waiting);
  expect(await first(`/apps?project_id=${shop.project}`, app.id)).toMatchObject(waiting);
  await shop.editor.api.delete(shop.path(app.name));
  expect(await read(shop.path(app.name))).toMatchObject({ phase: "deleting", phase_reason: "operator_disconnected" });
  await beat();
  expect(await read(shop.path(app.name))).toMatchObject({ phase: "deleting", phase_reason: null });
});

test("[CL64] an app in a project with a namespace conflict is pending with that reason", async () => {
  await beat();
  const name = await shop.app();
  const conflict = {
    lifecycle: "degraded",
    lifecycle_reason: "namespace_conflict",
    lifecycle_message: "It is theirs.",
  };
  const set = (facts: object) =>
    world.database.kysely.updateTable("projects").set(facts).where("id", "=", shop.project).execute();
  await set(conflict);
  const waiting = { phase: "pending", phase_reason: "namespace_conflict", phase_message: "It is theirs." };
  expect(await read(shop.path(name))).toMatchObject(waiting);
  expect((await read(`/apps?project_id=${shop.project}`)).data[0]).toMatchObject(waiting);
  await set({ lifecycle: "ready", lifecycle_reason: null, lifecycle_message: null });
  expect(await read(shop.path(name))).toMatchObject({ phase: "pending", phase_reason: null });
});

test("[CL65] events of reports have the time of the report, and events of changes that of the last heartbeat", async () => {
  await beat();
  sink.heard();
  const { app } = await reported();
  const heard = sink.heard();
  expect(new Set(heard.map(({ type }) => type))).toEqual(new Set(["app", "addon", "project", "drift"]));
  for (const event of heard) expect(event).toMatchObject({ observed_at: now().toISOString(), stale: false });

  const observed_at = await beat(1_000);
  world.clock.advance(60_000);
  const announced: Event[] = [];
  const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => void announced.push(event as Event));
  await shop.editor.api.post(shop.path(app.name, "/redeploy"));
  unsubscribe();
  expect(announced.find(({ type }) => type === "app")).toMatchObject({ observed_at, stale: true });
});
