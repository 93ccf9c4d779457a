import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { bindRole, insertCluster } from "../access/bindings.fixture.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { newId } from "../id.adapter.ts";
import { insertAddonInstance, insertApp, type Location } from "./contents.fixture.ts";

const SEALED = "v1.test.a-sealed-string";

let cluster: string;
let project: string;
let location: Location;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, member, stranger } = await world.orgWithPeople();
const viewer = await world.person({ org });
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await insertCluster(world.database.kysely, org);
  project = (await world.admin.api.post("/projects", { name: "shop", cluster_id: cluster })).body.id;
  await bindRole(world.database.kysely, viewer.id, "viewer", { project });
  location = { org_id: org, cluster_id: cluster, project_id: project, namespace: "shop" };
});

const read = async (what: string, api: Client = viewer.api) => (await api.get(`/projects/${project}/${what}`)).body;

describe.each([
  ["[PR20]", "apps"],
  ["[PR21]", "available-exports"],
  ["[PR22]", "secrets-overview"],
])("%s GET /projects/{id}/%s", (rule, what) => {
  test(`${rule} GET /projects/{id}/${what} is for those who see the project`, async () => {
    const status = async (api: Client, id = project) => (await api.get(`/projects/${id}/${what}`)).status;
    expect(await status(viewer.api)).toBe(200);
    expect(await status(member.api)).toBe(404);
    expect(await status(stranger.api)).toBe(404);
    expect(await status(world.anyone)).toBe(401);
    expect(await status(world.admin.api, newId())).toBe(404);
    expect(await status(world.admin.api, "nonsense")).toBe(422);
  });

  test(`${rule} GET /projects/{id}/${what} is empty in an empty project`, async () => {
    expect(await read(what)).toMatchObject({ data: [], total_count: 0 });
  });
});

describe("GET /projects/{id}/apps", () => {
  test("[PR20] GET /projects/{id}/apps lists the project's apps, newest first, in pages", async () => {
    const { kysely } = world.database;
    const other = (await world.admin.api.post("/projects", { name: "other", cluster_id: cluster })).body.id;
    await insertApp(kysely, { ...location, project_id: other, namespace: "other" }, "elsewhere");
    const ids = [await insertApp(kysely, location, "a"), await insertApp(kysely, location, "b")];
    const first = await read("apps?items_per_page=1");
    expect(first).toMatchObject({ total_count: 2, page: 1, items_per_page: 1, has_more: true });
    expect(first.data).toMatchObject([{ id: ids[1], name: "b", namespace: "shop", phase: "running" }]);
    expect((await read("apps?items_per_page=1&page=2")).data).toMatchObject([{ id: ids[0] }]);
  });
});

describe("GET /projects/{id}/available-exports", () => {
  test("[PR21] GET /projects/{id}/available-exports has the keys of standalone addon instances, and none of apps", async () => {
    const { kysely } = world.database;
    await insertApp(kysely, location, "web");
    const instance = await insertAddonInstance(kysely, location, "db", {
      definition_id: definitionId("postgresql"),
      exports: { host: "db.shop.svc" },
    });
    const { data, total_count } = await read("available-exports");
    expect(total_count).toBe(data.length);
    const keys = data.map(({ key }: { key: string }) => key);
    expect(keys).toContain("host");
    expect(keys).toContain("password");
    expect(keys).not.toContain("path");
    expect(data.find(({ key }: { key: string }) => key === "host")).toEqual({
      addon_instance_id: instance,
      addon_instance_name: "db",
      key: "host",
      description: expect.any(String),
      secret: false,
      published: true,
    });
    expect(data.find(({ key }: { key: string }) => key === "password")).toMatchObject({
      secret: true,
      published: false,
    });
    expect(JSON.stringify(data)).not.toContain("db.shop.svc");
  });

  test("[PR21] available-exports has the reported keys of an addon instance whose definition is gone", async () => {
    const exports = { host: "x", password: { secret_ref: { name: "s", key: "password" } } };
    await insertAddonInstance(world.database.kysely, location, "db", { exports });
    expect((await read("available-exports")).data).toMatchObject([
      { key: "host", description: null, secret: false, published: true },
      { key: "password", description: null, secret: true, published: true },
    ]);
  });

  test("[PR21] available-exports has nothing of an addon instance that is being deleted", async () => {
    const instance = await insertAddonInstance(world.database.kysely, location, "db", { exports: { host: "x" } });
    await world.database.kysely
      .updateTable("addon_instances")
      .set({ phase: "deleting" })
      .where("id", "=", instance)
      .execute();
    expect(await read("available-exports")).toEqual({ data: [], total_count: 0, next_cursor: null });
  });
});

describe("GET /projects/{id}/secrets-overview", () => {
  test("[PR22] GET /projects/{id}/secrets-overview has every secret with its keys and origin, and no value", async () => {
    const { kysely } = world.database;
    const password = "a registry's own secret";
    const registry = { name: "quay", server_url: "quay.io", username: "robot", password };
    await world.admin.api.post(`/clusters/${cluster}/registry-secrets`, registry);
    await world.admin.api.post(`/clusters/${cluster}/registry-secrets`, {
      ...registry,
      name: "x",
      server_url: "ghcr.io",
    });
    await world.admin.api.post(`/projects/${project}/registry-secrets`, {
      ...registry,
      name: "y",
      server_url: "ghcr.io",
    });
    const [app, instance] = [
      await insertApp(kysely, location, "shop"),
      await insertAddonInstance(kysely, location, "db"),
    ];
    const [old, late] = [new Date("2030-01-01T00:00:00Z"), new Date("2030-01-02T00:00:00Z")];
    const sealed = { sealed_value: SEALED };
    await kysely
      .insertInto("app_secrets")
      .values([
        { id: newId(), app_id: app, component: "web", key: "TOKEN", updated_at: old, ...sealed },
        { id: newId(), app_id: app, component: "web", key: "API_KEY", updated_at: late, ...sealed },
        { id: newId(), app_id: app, component: "worker", key: "TOKEN", updated_at: old, ...sealed },
      ])
      .execute();
    await kysely
      .insertInto("addon_secrets")
      .values({ id: newId(), addon_instance_id: instance, path: "auth.password", updated_at: late, ...sealed })
      .execute();

    const { data, total_count } = await read("secrets-overview");
    expect(total_count).toBe(5);
    const named = { project: { id: project, name: "shop" }, cluster: { id: cluster, name: `cluster ${cluster}` } };
    const docker = [".dockerconfigjson"];
    expect(data).toMatchObject([
      { kind: "registry", inherited_from: "project", source: named.project, name: "y", keys: docker },
      { kind: "registry", inherited_from: "cluster", source: named.cluster, name: "quay", keys: docker },
      {
        kind: "component",
        inherited_from: "app",
        source: { id: app, name: "shop" },
        name: "web",
        keys: ["API_KEY", "TOKEN"],
        updated_at: late.toISOString(),
      },
      { kind: "component", inherited_from: "app", name: "worker", keys: ["TOKEN"] },
      { kind: "addon", inherited_from: "addon", source: { id: instance, name: "db" }, keys: ["auth.password"] },
    ]);
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`${password}|${SEALED}`));
  });
});
