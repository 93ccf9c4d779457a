import type { OperatorFrames } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { POSTGRESQL } from "../addons/addon.fixture.ts";
import { openShop, someName } from "../apps/app.fixture.ts";
import { inTransaction } from "../database/transaction.ts";
import { dispatchResources } from "../dispatch/dispatch.store.ts";
import {
  addonReport,
  appReport,
  confirmHeld,
  desiredRowOf,
  heldApp,
  listeningSink,
  registerSession,
  status,
} from "./reports.fixture.ts";

type Report = OperatorFrames["status"]["report"];

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const sink = await listeningSink(world);
const shop = await openShop(world);
const fence = await registerSession(world, shop.cluster);
afterAll(() => world.stop());
beforeEach(() => void [sink.heard(), sink.hinted()]);

/** A project of the shop's cluster, made as people do. */
async function heldProject() {
  const { kysely: db } = world.database;
  const made = await world.admin.api.post("/projects", { name: someName(), cluster_id: shop.cluster });
  const { id, name } = made.body as { id: string; name: string };
  await confirmHeld(db, id);
  const key = `project/${name}`;
  return {
    id,
    name,
    shop: { ...shop, project: id, namespace: name },
    said: (generation: number, report: Report) => status({ key, resource_id: id, generation, report }),
    read: async () => (await world.admin.api.get(`/projects/${id}`)).body,
    delete: () => world.admin.api.delete(`/projects/${id}`),
    rows: () =>
      db.selectFrom("desired_resources").select(["kind", "acked_generation"]).where("resource_id", "=", id).execute(),
    async app() {
      const app = { name: someName(), project_id: id, components: [{ name: "web", workload_spec: {} }] };
      const { body } = await world.admin.api.post("/apps", app);
      const said = (generation: number, report: Report) =>
        status({ key: `app/${name}/${app.name}`, resource_id: body.id, generation, report });
      return { id: body.id as string, said };
    },
    async addon() {
      const addon = { name: someName(), project_id: id, addon_definition_id: POSTGRESQL };
      const { body } = await world.admin.api.post("/addon-instances", addon);
      const said = (generation: number, report: Report) =>
        status({ key: `addon_instance/${name}/${addon.name}`, resource_id: body.id, generation, report });
      return {
        id: body.id as string,
        said,
        row: () => db.selectFrom("addon_instances").selectAll().where("id", "=", body.id).executeTakeFirst(),
      };
    },
  };
}

const GONE = { state: "gone" } as const;
const READY = { state: "ready", message: null } as const;

describe("a project", () => {
  test("[DS14] a project is ready once that is reported, announced once, and degraded with the reported reason", async () => {
    const project = await heldProject();
    await sink.storeStatuses(fence, [project.said(1, READY)]);
    await sink.storeStatuses(fence, [project.said(1, READY)]);
    expect(await project.read()).toMatchObject({ lifecycle: "ready" });
    expect(sink.heard()).toMatchObject([{ type: "project", project_id: project.id, lifecycle: "ready" }]);
    await sink.storeStatuses(fence, [
      project.said(1, { state: "apply_failed", message: "The API server refuses it." }),
    ]);
    expect(await project.read()).toMatchObject({
      lifecycle: "degraded",
      lifecycle_reason: "apply_failed",
      lifecycle_message: "The API server refuses it.",
    });
    expect(sink.heard()).toHaveLength(1);
  });

  test("[DS12] a project ignores a report on another generation", async () => {
    const project = await heldProject();
    await sink.storeStatuses(fence, [project.said(2, READY), project.said(0, READY)]);
    expect(await project.read()).toMatchObject({ lifecycle: "pending" });
    await project.delete();
    await sink.storeStatuses(fence, [project.said(1, { state: "cleanup_blocked", message: "late" })]);
    expect(await project.read()).toMatchObject({ lifecycle: "cleanup_pending", lifecycle_reason: null });
    await sink.storeStatuses(fence, [
      project.said(2, { state: "cleanup_blocked", message: "A finalizer of example.com/x." }),
    ]);
    expect(await project.read()).toMatchObject({
      lifecycle: "cleanup_pending",
      lifecycle_reason: "cleanup_degraded",
      lifecycle_message: "A finalizer of example.com/x.",
    });
  });

  test("[DS22] the record of an empty project is deleted when its namespace is gone, with its desired resources", async () => {
    const project = await heldProject();
    await project.delete();
    sink.heard();
    await sink.storeStatuses(fence, [project.said(2, GONE)]);
    expect(await project.read()).toEqual({ detail: "Project not found." });
    expect(await project.rows()).toEqual([]);
    expect(sink.heard()).toMatchObject([{ type: "project", project_id: project.id, deleted: true }]);
    const again = await world.admin.api.post("/projects", { name: project.name, cluster_id: shop.cluster });
    expect(again.status).toBe(201);
  });

  test("[DS22] the record of a project stays until the last app and addon instance in it are gone", async () => {
    const project = await heldProject();
    const [app, addon] = [await project.app(), await project.addon()];
    await project.delete();
    await sink.storeStatuses(fence, [project.said(2, GONE)]);
    expect(await project.read()).toMatchObject({ lifecycle: "cleanup_pending" });
    await sink.storeStatuses(fence, [app.said(2, GONE)]);
    expect(await project.read()).toMatchObject({ lifecycle: "cleanup_pending" });
    sink.heard();
    await sink.storeStatuses(fence, [addon.said(2, GONE)]);
    expect((await world.admin.api.get(`/projects/${project.id}`)).status).toBe(404);
    expect(sink.heard().map(({ type, deleted }) => [type, deleted])).toEqual([
      ["addon", true],
      ["project", true],
    ]);
    expect(await project.rows()).toEqual([]);
  });

  test("[DS22] the record of a project stays while its namespace does, and goes when everything is reported gone at once", async () => {
    const project = await heldProject();
    const [app, addon] = [await project.app(), await project.addon()];
    await project.delete();
    await sink.storeStatuses(fence, [app.said(2, GONE), project.said(2, { state: "cleaning", message: null })]);
    expect(await project.read()).toMatchObject({ lifecycle: "cleanup_pending" });
    await sink.storeStatuses(fence, [project.said(2, GONE), addon.said(2, GONE)]);
    expect((await world.admin.api.get(`/projects/${project.id}`)).status).toBe(404);
  });

  test("[DS21] a project and an app that are still wanted are not deleted by a reported absence", async () => {
    const project = await heldProject();
    const app = await project.app();
    await sink.storeStatuses(fence, [project.said(1, READY), project.said(1, GONE), app.said(1, GONE)]);
    expect(await project.read()).toMatchObject({ lifecycle: "ready" });
    expect(sink.hinted()).toEqual([{ cluster_id: shop.cluster }]);
    expect(await project.rows()).toEqual(
      expect.arrayContaining([
        { kind: "project", acked_generation: null },
        { kind: "registry_secrets", acked_generation: 1 },
      ]),
    );
  });

  test("[DS21] pull secrets that are gone are no longer sent, and the project stays until it is gone itself", async () => {
    const project = await heldProject();
    await project.delete();
    const key = `registry_secrets/${project.name}`;
    await sink.storeStatuses(fence, [status({ key, resource_id: project.id, generation: 2, report: GONE })]);
    expect(await project.rows()).toMatchObject([{ kind: "project" }]);
    expect(await project.read()).toMatchObject({ lifecycle: "cleanup_pending" });
  });
});

describe("an addon instance", () => {
  const EXPORTS = { host: "db.shop.svc", port: "5432", password: null, url: null, unknown: "x" };

  test("[DS20] an addon instance has the reported phase, reason and exports, and that is announced once", async () => {
    const addon = await (await heldProject()).addon();
    await sink.storeStatuses(fence, [addon.said(1, addonReport({ exports: EXPORTS }))]);
    await sink.storeStatuses(fence, [addon.said(1, addonReport({ exports: EXPORTS }))]);
    expect(await addon.row()).toMatchObject({ phase: "ready", phase_reason: "Installed", observed_generation: 1 });
    expect((await addon.row())?.exports).toMatchObject({ host: "db.shop.svc", password: { secret_ref: {} } });
    expect((await addon.row())?.exports).not.toHaveProperty("unknown");
    expect(sink.heard()).toMatchObject([
      { type: "addon", phase: "ready", observed_generation: 1, exports: ["host", "password", "port", "url"] },
    ]);
  });

  test("[DS21] the record of a removed addon instance is deleted when its absence is reported", async () => {
    const { kysely: db } = world.database;
    const project = await heldProject();
    const addon = await project.addon();
    await inTransaction(db, async (tx) => {
      await tx
        .updateTable("addon_instances")
        .set({ phase: "deleting", generation: 2 })
        .where("id", "=", addon.id)
        .execute();
      const { cluster_id: clusterId, kind, resource_id: resourceId, key } = (await desiredRowOf(tx, addon.id)) ?? {};
      if (!clusterId || !kind || !resourceId || !key) throw new Error("the addon is not to be told");
      await dispatchResources(tx, clusterId, [{ kind, resourceId, key, isRemoved: true }], world.clock.now());
    });
    await sink.storeStatuses(fence, [addon.said(1, GONE)]);
    expect(await addon.row()).toMatchObject({ phase: "deleting" });
    await sink.storeStatuses(fence, [addon.said(2, GONE)]);
    expect(await addon.row()).toBeUndefined();
    expect(await desiredRowOf(db, addon.id)).toBeUndefined();
    expect(sink.heard()).toMatchObject([{ type: "addon", resource: { id: addon.id }, deleted: true }]);
    expect(await project.read()).toMatchObject({ lifecycle: "pending" });
  });

  test("[DS23] an addon instance that was deleted on the cluster is sent again", async () => {
    const addon = await (await heldProject()).addon();
    await confirmHeld(world.database.kysely, addon.id);
    await sink.storeStatuses(fence, [addon.said(1, addonReport()), addon.said(1, GONE)]);
    expect(await addon.row()).toMatchObject({ phase: "pending", phase_reason: "DeletedOnCluster" });
    expect(await desiredRowOf(world.database.kysely, addon.id)).toMatchObject({ acked_generation: null });
    expect(sink.hinted()).toEqual([{ cluster_id: shop.cluster }]);
  });
});

test("[DS26] no event contains a secret, whatever is reported", async () => {
  const project = await heldProject();
  const app = await heldApp(world, shop, [{ name: "web", workload_spec: {}, secrets: { KEY: "hunter2" } }]);
  const addon = await project.addon();
  const object = { kind: "Secret", name: "web-secrets" };
  const fields = [{ object, pointer: "/data/KEY", desired: "hunter2", observed: "hunter3" }];
  const drift = { state: "drifted", summary: null, fields, detected_at: null } as const;
  await sink.storeStatuses(fence, [
    app.said(1, appReport({ drift })),
    addon.said(1, addonReport({ exports: { password: "hunter2", url: "postgres://app:hunter2@db/app" } })),
  ]);
  const heard = sink.heard();
  expect(heard.map(({ type }) => type)).toEqual(["app", "drift", "addon"]);
  expect(JSON.stringify(heard)).not.toMatch(/hunter/);
  expect(JSON.stringify(await addon.row())).not.toMatch(/hunter/);
  expect(JSON.stringify(await app.row())).not.toMatch(/hunter/);
});
