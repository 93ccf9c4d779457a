import { startWorld } from "@binnacle/world";
import { Kysely, PostgresDialect } from "kysely";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openShop, WEB } from "../apps/app.fixture.ts";
import type { Tables } from "../database/tables.ts";
import { inTransaction } from "../database/transaction.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import type { Fence } from "./ports.ts";
import {
  appReport,
  desiredRowOf,
  heldApp,
  type ListeningSink,
  listeningSink,
  registerSession,
} from "./reports.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const sink = await listeningSink(world);
const shop = await openShop(world);
const fence = await registerSession(world, shop.cluster);
afterAll(() => world.stop());
beforeEach(() => void [sink.heard(), sink.hinted()]);

/** Stores the report and makes sure that nothing comes of it. */
async function passedOver(from: Fence, ...frames: Parameters<ListeningSink["storeStatuses"]>[1]) {
  const before = await rowsOf(world);
  await sink.storeStatuses(from, frames);
  expect(await rowsOf(world)).toEqual(before);
  expect([sink.heard(), sink.hinted()]).toEqual([[], []]);
}

const DRIFT = {
  state: "drifted" as const,
  summary: "spec.replicas differs.",
  fields: [{ object: { kind: "Deployment", name: "web" }, pointer: "/spec/replicas", desired: 2, observed: 5 }],
  detected_at: "2026-01-31T09:30:00.000Z",
};

describe("whose reports count", () => {
  test.each<[string, Partial<Fence>]>([
    ["an earlier session", { epoch: 6 }],
    ["a session of another hub", { hubId: newId() }],
  ])("[DS10] a report of %s changes nothing", async (_, other) => {
    const app = await heldApp(world, shop);
    await passedOver({ ...fence, ...other }, app.said(1, appReport()), app.said(1, { state: "gone" }));
  });

  test("[DS10] a report of a session that is not registered changes nothing", async () => {
    const other = await openShop(world);
    const app = await heldApp(world, other);
    await passedOver({ ...fence, clusterId: other.cluster }, app.said(1, appReport()));
  });

  test("[DS10] a report of a session that is superseded at the same moment changes nothing", async () => {
    const { kysely: db, pool } = world.database;
    const other = await openShop(world);
    const [app, earlier] = [await heldApp(world, other), await registerSession(world, other.cluster)];
    let taking = Promise.resolve();
    await inTransaction(db, async (tx) => {
      await tx.updateTable("cluster_sessions").set({ epoch: 8 }).where("cluster_id", "=", other.cluster).execute();
      taking = sink.storeStatuses(earlier, [app.said(1, appReport())]);
      await vi.waitFor(async () => {
        const waiting =
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
        expect((await pool.query(waiting)).rows).toHaveLength(1);
      }, SOON);
    });
    await taking;
    expect((await app.row())?.phase).toBe("pending");
    await sink.storeStatuses({ ...earlier, epoch: 8 }, [app.said(1, appReport())]);
    expect((await app.row())?.phase).toBe("running");
  });

  test("[DS11] a report on a resource of another cluster changes nothing, whatever it says", async () => {
    const app = await heldApp(world, shop);
    const foreign = await registerSession(world, (await openShop(world)).cluster);
    await passedOver(foreign, app.said(1, appReport()), app.said(9, { state: "gone" }));
    await shop.editor.api.delete(shop.path(app.name));
    await passedOver(foreign, app.said(2, { state: "gone" }));
  });

  test("[DS11] a report on an unknown resource or under the key of another one changes nothing", async () => {
    const [app, other] = [await heldApp(world, shop), await heldApp(world, shop)];
    await passedOver(fence, { ...app.said(1, appReport()), resource_id: newId() });
    await passedOver(fence, { ...app.said(1, appReport()), key: other.key });
    await passedOver(fence, { ...app.said(1, { state: "ready", message: null }), key: `project/${shop.namespace}` });
    await passedOver(fence, { ...app.said(1, { state: "gone" }), key: `registry_secrets/${shop.namespace}` });
  });

  test("[DS12] a report on a generation that was never sent changes nothing", async () => {
    const app = await heldApp(world, shop);
    await passedOver(fence, app.said(2, appReport()));
    expect((await app.row())?.phase).toBe("pending");
  });
});

describe("an app", () => {
  test("[DS15] an app has the reported phase, reason, message, replicas and drift, and that is announced", async () => {
    const app = await heldApp(world, shop);
    world.clock.advance(1_000);
    await sink.storeStatuses(fence, [app.said(1, appReport())]);
    expect(await app.row()).toMatchObject({
      phase: "running",
      phase_reason: "RolloutComplete",
      phase_message: "All replicas are ready.",
      observed_generation: 1,
      component_statuses: [{ name: "web", ready_replicas: 2 }],
      drift_state: "in_sync",
      updated_at: world.clock.now(),
    });
    expect(sink.heard()).toMatchObject([
      {
        type: "app",
        time: world.clock.now().toISOString(),
        org_id: shop.org,
        cluster_id: shop.cluster,
        project_id: shop.project,
        workload_id: app.id,
        phase: "running",
        phase_reason: "RolloutComplete",
        observed_generation: 1,
        deployment: { revision: 1, status: "succeeded" },
      },
      { type: "drift", state: "in_sync" },
    ]);
    const read = await shop.viewer.api.get(shop.path(app.name));
    expect(read.body).toMatchObject({ phase: "running", components: [{ ready_replicas: 2 }] });
  });

  test("[DS13] a report on an earlier generation does not change the phase of an app", async () => {
    const app = await heldApp(world, shop);
    await shop.editor.api.post(shop.path(app.name, "/redeploy"));
    await sink.storeStatuses(fence, [app.said(1, appReport())]);
    expect(await app.row()).toMatchObject({ phase: "pending", observed_generation: 1, drift_state: "unknown" });
    expect((await app.deployments()).map(({ status }) => status)).toEqual(["superseded", "pending"]);
    expect(sink.heard()).toMatchObject([{ type: "app", phase: "pending", components: [{ ready_replicas: 2 }] }]);
  });

  test.each([
    ["running", "succeeded", null],
    ["paused", "succeeded", null],
    ["failed", "failed", "why"],
    ["invalid", "failed", "why"],
  ] as const)("[DS17] an app that is %s has a deployment that has %s", async (phase, result, message) => {
    const app = await heldApp(world, shop);
    await sink.storeStatuses(fence, [app.said(1, appReport({ phase: "deploying" }))]);
    expect(await app.deployments()).toMatchObject([{ status: "pending", finished_at: null }]);
    world.clock.advance(60_000);
    await sink.storeStatuses(fence, [app.said(1, appReport({ phase, message: "why" }))]);
    const ended = [{ status: result, message, finished_at: world.clock.now() }];
    expect(await app.deployments()).toMatchObject(ended);
    world.clock.advance(60_000);
    for (const later of ["degraded", "running", "failed"] as const) {
      await sink.storeStatuses(fence, [app.said(1, appReport({ phase: later }))]);
    }
    expect(await app.deployments()).toMatchObject(ended);
    expect(sink.heard().filter(({ deployment }) => deployment)).toHaveLength(1);
  });

  test("[DS17] the deployment of an app that was rolled back keeps its summary of the rollback", async () => {
    const app = await heldApp(world, shop);
    await shop.editor.api.post(shop.path(app.name, "/scale"), { component_name: "web", replicas: 3 });
    await shop.editor.api.post(shop.path(app.name, "/rollback"), { revision: 1 });
    await sink.storeStatuses(fence, [app.said(3, appReport())]);
    expect((await app.deployments())[2]).toMatchObject({
      status: "succeeded",
      summary: "Rolled back to revision 1: web: 3 → 2 replicas",
    });
  });

  test("[DS18] the drift of an app is announced once for each change of the drift", async () => {
    const app = await heldApp(world, shop);
    const drifts = async (facts: object) => {
      await sink.storeStatuses(fence, [app.said(1, appReport({ drift: { ...DRIFT, ...facts } }))]);
      return sink.heard().filter(({ type }) => type === "drift");
    };
    expect(await drifts({})).toMatchObject([{ workload_id: app.id, state: "drifted", fields: DRIFT.fields }]);
    expect(await drifts({})).toEqual([]);
    expect(await drifts({ detected_at: "2026-02-01T00:00:00.000Z" })).toEqual([]);
    expect((await app.row())?.drift_detected_at?.toISOString()).toBe(DRIFT.detected_at);
    expect(await drifts({ fields: [{ ...DRIFT.fields[0], observed: 6 }] })).toHaveLength(1);
    expect(await drifts({ state: "in_sync", fields: [], summary: null })).toMatchObject([
      { state: "in_sync", fields: [] },
    ]);
  });

  test("[DS32] [DS33] an app shows its components with their pods, and the list of apps shows them without", async () => {
    const app = await heldApp(world, shop);
    const pods = [
      {
        name: "web-1",
        phase: "Running",
        reason: null,
        restarts: 1,
        node: "node-1",
        started_at: "2026-01-31T09:30:00.000Z",
      },
    ] as const;
    const { pods: _, ...web } = {
      name: "web",
      phase: "running",
      reason: null,
      message: null,
      desired: 2,
      ready: 2,
      updated: 2,
      restarts: 1,
      image: "nginx:1.29",
      pods,
    } as const;
    const phase_since = new Date(world.clock.now().getTime() - 60_000).toISOString();
    const said = appReport({ phase_since, components_status: [{ ...web, pods: [...pods] }] });
    await sink.storeStatuses(fence, [app.said(1, said)]);
    const { body } = await shop.viewer.api.get(shop.path(app.name));
    expect(body).toMatchObject({ phase_since, components_status: [{ ...web, pods }] });
    const list = await shop.viewer.api.get(`/apps?project_id=${shop.project}&items_per_page=100`);
    const listed = list.body.data.find(({ id }: { id: string }) => id === app.id);
    expect(listed.components_status).toEqual([web]);
    sink.heard();

    // Another restart of a pod is stored and not announced.
    const restarted = pods.map((pod) => ({ ...pod, restarts: 2 }));
    await sink.storeStatuses(fence, [
      app.said(1, { ...said, components_status: [{ ...web, restarts: 2, pods: restarted }] }),
    ]);
    expect((await shop.viewer.api.get(shop.path(app.name))).body.components_status[0]).toMatchObject({ restarts: 2 });
    expect(sink.heard()).toEqual([]);
    await shop.editor.api.post(shop.path(app.name, "/redeploy"));
    expect((await shop.viewer.api.get(shop.path(app.name))).body).toMatchObject({
      phase: "pending",
      phase_since: world.clock.now().toISOString(),
    });
  });

  test("[DS15] an app with the drift state blocked_sync accepts no operation but a forced redeploy", async () => {
    const app = await heldApp(world, shop);
    await sink.storeStatuses(fence, [app.said(1, appReport({ drift: { ...DRIFT, state: "blocked_sync" } }))]);
    const refused = await shop.editor.api.post(shop.path(app.name, "/redeploy"));
    expect(refused).toMatchObject({ status: 409, body: { detail: { code: "blocked_sync", fields: DRIFT.fields } } });
    expect((await shop.editor.api.post(shop.path(app.name, "/redeploy"), { force: true })).status).toBeLessThan(300);
  });

  test("[DS24] a report on an app that comes again is neither written nor announced again", async () => {
    const app = await heldApp(world, shop);
    const said = appReport({ drift: DRIFT });
    await sink.storeStatuses(fence, [app.said(1, said)]);
    sink.heard();
    world.clock.advance(180_000);
    await passedOver(fence, app.said(1, said), app.said(1, structuredClone(said)));
  });
});

describe("an absence", () => {
  test("[DS21] the reported absence of a removed app deletes it with all that belongs to it and frees its name", async () => {
    const { kysely: db } = world.database;
    const app = await heldApp(world, shop, [{ ...WEB, secrets: { API_KEY: "hunter2" } }]);
    await shop.editor.api.delete(shop.path(app.name));
    await passedOver(fence, app.said(1, { state: "gone" }));
    await sink.storeStatuses(fence, [app.said(2, { state: "gone" })]);
    expect(await app.row()).toBeUndefined();
    expect(await app.deployments()).toEqual([]);
    expect(await desiredRowOf(db, app.id)).toBeUndefined();
    expect(sink.heard()).toMatchObject([{ type: "app", workload_id: app.id, phase: "deleting", deleted: true }]);
    await passedOver(fence, app.said(2, { state: "gone" }), app.said(2, appReport()));
    const again = await shop.editor.api.post("/apps", { name: app.name, project_id: shop.project, components: [WEB] });
    expect(again.status).toBe(201);
  });

  test("[DS21] the reported absence of an app does nothing to a later app of the same name", async () => {
    const app = await heldApp(world, shop);
    await shop.editor.api.delete(shop.path(app.name));
    await sink.storeStatuses(fence, [app.said(2, { state: "gone" })]);
    await shop.editor.api.post("/apps", { name: app.name, project_id: shop.project, components: [WEB] });
    sink.heard();
    await passedOver(fence, app.said(2, { state: "gone" }), app.said(1, appReport()));
    expect((await shop.viewer.api.get(shop.path(app.name))).body.phase).toBe("pending");
  });

  test("[DS23] an app that is wanted and reported absent is sent again, once, and is not running meanwhile", async () => {
    const { kysely: db } = world.database;
    const app = await heldApp(world, shop);
    await sink.storeStatuses(fence, [app.said(1, appReport())]);
    sink.heard();
    await sink.storeStatuses(fence, [app.said(1, { state: "gone" })]);
    expect(await desiredRowOf(db, app.id)).toMatchObject({
      removed_at: null,
      acked_generation: null,
      acked_hash: null,
    });
    expect(await app.row()).toMatchObject({ phase: "pending", phase_reason: "DeletedOnCluster" });
    expect(sink.hinted()).toEqual([{ cluster_id: shop.cluster }]);
    expect(sink.heard()).toMatchObject([
      { type: "app", phase: "pending" },
      { type: "drift", state: "unknown" },
    ]);
    await passedOver(fence, app.said(1, { state: "gone" }));
    await sink.storeStatuses(fence, [app.said(1, appReport())]);
    expect(await app.row()).toMatchObject({ phase: "running" });
  });

  test("[DS23] pull secrets that are wanted and reported absent are sent again", async () => {
    const { kysely: db } = world.database;
    const path = `/projects/${shop.project}/registry-secrets`;
    await shop.editor.api.post(path, { name: "hub", server_url: "ghcr.io", username: "robot", password: "hunter2" });
    await db
      .updateTable("desired_resources")
      .set({ acked_generation: 1 })
      .where("resource_id", "=", shop.project)
      .execute();
    const about = { ...(await heldApp(world, shop)).said(1, { state: "gone" }), resource_id: shop.project };
    await sink.storeStatuses(fence, [{ ...about, key: `registry_secrets/${shop.namespace}` }]);
    expect(await desiredRowOf(db, shop.project)).toMatchObject({ kind: "registry_secrets", acked_generation: null });
    expect([sink.hinted(), sink.heard()]).toEqual([[{ cluster_id: shop.cluster }], []]);
  });
});

test("[DS25] many reports take as many statements as one", async () => {
  const apps = [];
  for (let count = 0; count < 5; count++) apps.push(await heldApp(world, shop));
  const statements: string[] = [];
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: world.database.pool }),
    log: ({ query }) => void statements.push(query.sql),
  });
  const counting = await listeningSink(world, db);
  const [first, ...rest] = apps;
  await counting.storeStatuses(fence, first ? [first.said(1, appReport())] : []);
  const ofOne = statements.splice(0).length;
  await counting.storeStatuses(
    fence,
    rest.flatMap((app) => [app.said(1, appReport({ phase: "deploying" })), app.said(1, appReport())]),
  );
  expect(statements.length).toBe(ofOne);
  expect(counting.heard().map(({ type }) => type)).toEqual(Array.from({ length: 5 }, () => ["app", "drift"]).flat());
  for (const app of apps) expect((await app.row())?.phase).toBe("running");
  const before = statements.splice(0).length;
  await counting.storeStatuses(fence, []);
  expect([before > 0, statements]).toEqual([true, []]);
});
