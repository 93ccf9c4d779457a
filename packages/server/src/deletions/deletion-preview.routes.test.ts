import { randomBytes } from "node:crypto";
import type { ObservationRequest, ObservedVolume } from "@binnacle/contract";
import { type Person, startWorld } from "@binnacle/world";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertInstance, openShop, type Shop, WEB, workload } from "../apps/app.fixture.ts";
import { operatorFor, type TestOperator } from "../hub/operator.fixture.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");
const AT = "2026-01-31T09:30:00.000Z";
const DB = workload("db", {
  workload_spec: {
    kind: "statefulset",
    image: "postgres:18",
    volumes: [{ name: "data", mount_path: "/data", size_gb: 10 }],
  },
});

let shop: Shop;
let admin: Person;
const open: TestOperator[] = [];

const world = await startWorld({ env: { BINNACLE_SECRET_KEY: SIGNING_KEY } });
beforeEach(async () => {
  shop = await openShop(world);
  admin = await world.person({ org: shop.org, role: "admin" });
});
afterAll(() => world.stop());
afterEach(async () => {
  for (const operator of open.splice(0)) await operator.leave();
});

const kept: ObservedVolume = {
  claim: "data-shop-db-0",
  component: "db",
  size: "10Gi",
  storage_class: "standard",
  volume: "pv-1",
  reclaim_policy: "Retain",
  fate: "kept",
  kept_by: "app",
};
const released: ObservedVolume = { ...kept, fate: "released", kept_by: null };
const gone = { component: "db", kind: "StatefulSet", name: "shop-db", namespace: "shop" };

/** The cluster's operator, which answers with the volumes. */
async function connected(...volumes: ObservedVolume[]) {
  const operator = await operatorFor(world, SIGNING_KEY, shop.cluster);
  open.push(operator);
  operator.observes(() => ({ deletion: { objects: [gone], volumes, truncated: false, observed_at: AT } }));
  await operator.greet();
  return operator;
}
const asked = async (operator: TestOperator): Promise<ObservationRequest> =>
  (await operator.next("request")).request as ObservationRequest;

const preview = (name: string, query = "", person = shop.editor) =>
  person.api.get(shop.path(name, "/deletion-preview", query));
const audited = async (action: string) => {
  const { body } = await admin.api.get(`/orgs/${shop.org}/audit-log?items_per_page=100`);
  return body.data.find((entry: { action: string }) => entry.action === action)?.changes;
};

describe("of an app", () => {
  test("[AP92] editors read which components and objects a deletion of the app removes, and which volumes are kept and how", async () => {
    const operator = await connected(released);
    const name = await shop.app([WEB, DB]);
    const { status, body } = await preview(name);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      target: { type: "app", name },
      components: ["web", "db"],
      objects: [gone],
      volumes: [{ claim: "data-shop-db-0", fate: "released", reclaim_policy: "Retain" }],
      volumes_known: true,
      message: null,
      observed_at: AT,
    });
    expect(body.volumes[0].recovery).toContain("pv-1");
    expect(await asked(operator)).toEqual({
      name: "deletion",
      namespace: shop.namespace,
      app: name,
      components: null,
      addon_instance: null,
    });
    expect((await shop.editor.api.get(shop.path(name))).body.phase).not.toBe("deleting");
  });

  test("[AP92] the deletion preview of an app is a 403 for viewers and a 404 for strangers", async () => {
    const name = await shop.app();
    expect((await preview(name, "", shop.viewer)).status).toBe(403);
    expect((await preview(name, "", shop.stranger)).status).toBe(404);
    expect((await preview("absent")).status).toBe(404);
  });

  test("[AP93] the deletion preview of one component keeps its volumes, and asks the cluster about that component alone", async () => {
    const operator = await connected(kept);
    const name = await shop.app([WEB, DB]);
    expect((await preview(name, "&component=db")).body).toMatchObject({
      target: { type: "component", name: "db" },
      components: ["db"],
      volumes: [{ fate: "kept", recovery: expect.stringContaining("same name with the same volume") }],
    });
    expect(await asked(operator)).toMatchObject({ app: name, components: ["db"] });
    expect((await preview(name, "&component=absent")).status).toBe(404);
  });

  test("[AP93] the preview of detaching an addon names the components that lose its exports, and no volumes", async () => {
    const id = await insertInstance(world, shop, "pg");
    const name = await shop.app([WEB, DB]);
    expect((await preview(name, `&addon_instance_id=${id}`)).status).toBe(404);
    await shop.editor.api.post(shop.path(name, "/attach-addon"), { addon_instance_id: id, component_name: "web" });
    expect(await preview(name, `&addon_instance_id=${id}`)).toMatchObject({
      status: 200,
      body: { target: { type: "addon_attachment", id, name: "pg" }, components: ["web"], objects: [], volumes: [] },
    });
    expect(await preview(name, `&addon_instance_id=${id}&component=web`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "addon_instance_id"] }] },
    });
  });

  test("[AP94] a deletion preview without an operator has what is on record, and says that the rest is unknown", async () => {
    const name = await shop.app([WEB, DB]);
    const claim = `data-${name}-db-0`;
    expect((await preview(name)).body).toMatchObject({
      volumes_known: false,
      message: "No operator of the cluster is connected. Try again in a moment.",
      observed_at: null,
      components: ["web", "db"],
      volumes: [{ claim, fate: "unknown" }],
    });
    expect((await preview(name, "&component=db")).body).toMatchObject({
      volumes_known: false,
      volumes: [{ claim, fate: "kept" }],
    });
  });

  test("[AP95] the audit entry of an app's deletion has the fate of its volumes", async () => {
    await connected(released);
    const name = await shop.app([WEB, DB]);
    expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
    expect(await audited("app.delete")).toEqual({ volumes: { released: ["data-shop-db-0 (pv-1)"] } });
  });

  test("[AP95] without an operator the audit entry of an app's deletion has unknown volumes, and the deletion goes on", async () => {
    const name = await shop.app([WEB, DB]);
    expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
    expect(await audited("app.delete")).toEqual({ volumes: "unknown" });
  });

  test("[AP95] the audit entry of a component's removal has the volumes that are kept", async () => {
    await connected(kept);
    const name = await shop.app([WEB, DB]);
    const change = { components: [{ op: "remove", name: "db" }] };
    expect((await shop.editor.api.patch(shop.path(name), change)).status).toBe(200);
    expect(await audited("app.update")).toMatchObject({ volumes: { kept: ["data-shop-db-0"] } });
  });
});

describe("of an addon instance", () => {
  test("[AD38] editors read the deletion preview of an addon instance, whose volumes are unknown without an operator", async () => {
    const id = await insertInstance(world, shop, "pg");
    const path = `/addon-instances/${id}/deletion-preview`;
    expect((await shop.editor.api.get(path)).body).toMatchObject({ volumes_known: false, volumes: [], objects: [] });
    const operator = await connected({ ...kept, component: null, kept_by: "release" });
    expect(await shop.editor.api.get(path)).toMatchObject({
      status: 200,
      body: {
        target: { type: "addon_instance", id, name: "pg" },
        addon_instances: [{ id, name: "pg" }],
        volumes: [{ fate: "kept", recovery: expect.stringContaining("passwords") }],
      },
    });
    expect(await asked(operator)).toMatchObject({ app: null, addon_instance: "pg" });
    expect((await shop.viewer.api.get(path)).status).toBe(403);
    expect((await shop.stranger.api.get(path)).status).toBe(404);
  });

  test("[AD39] the audit entry of an addon instance's deletion has the fate of its volumes", async () => {
    await connected({ ...kept, component: null, kept_by: "release" });
    const body = { name: "pg", project_id: shop.project, addon_definition_id: await someDefinition() };
    const { id } = (await shop.editor.api.post("/addon-instances", body)).body;
    expect((await shop.editor.api.delete(`/addon-instances/${id}`)).status).toBe(204);
    expect(await audited("addon_instance.delete")).toEqual({ volumes: { kept: ["data-shop-db-0"] } });
  });
});

const someDefinition = async (): Promise<string> => (await shop.editor.api.get("/addon-definitions")).body.data[0].id;

describe("of a project", () => {
  const path = () => `/projects/${shop.project}/deletion-preview`;

  test("[PR30] administrators of the organization read which apps, addons and volumes the deletion of a project removes", async () => {
    const name = await shop.app([DB]);
    const instance = await insertInstance(world, shop, "pg");
    const onRecord = {
      target: { type: "project", id: shop.project },
      apps: [{ name }],
      addon_instances: [{ id: instance, name: "pg" }],
    };
    expect((await admin.api.get(path())).body).toMatchObject({
      ...onRecord,
      volumes_known: false,
      volumes: [{ claim: `data-${name}-db-0`, fate: "unknown" }],
    });
    const operator = await connected(released);
    expect((await admin.api.get(path())).body).toMatchObject({ ...onRecord, volumes: [{ fate: "released" }] });
    expect(await asked(operator)).toMatchObject({ namespace: shop.namespace, app: null, addon_instance: null });
    expect((await shop.editor.api.get(path())).status).toBe(403);
    expect((await shop.stranger.api.get(path())).status).toBe(404);
  });

  test("[PR31] the audit entry of a project's deletion has the fate of its volumes", async () => {
    await connected(released);
    expect((await admin.api.delete(`/projects/${shop.project}`)).status).toBe(202);
    expect(await audited("project.delete")).toEqual({ volumes: { released: ["data-shop-db-0 (pv-1)"] } });
  });
});
