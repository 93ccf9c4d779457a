import { type Client, startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { insertInstance, openShop } from "../apps/app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const found = async (query: string, api: Client = shop.viewer.api) => {
  const { status, body } = await api.get(`/search?q=${query}`);
  expect({ query, status }).toEqual({ query, status: 200 });
  return body.results.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`);
};
const app = (name: string) =>
  shop.editor.api.post("/apps", { name, project_id: shop.project, components: [{ name: "web", workload_spec: {} }] });

test("[OV7] GET /search finds every kind of object by a part of its name, with its place", async () => {
  const { kysely: db } = world.database;
  await app("my-zebra");
  await app("zebra");
  await insertInstance(world, shop, "zebra-db");
  const cluster = await insertCluster(db, shop.org);
  await db.updateTable("clusters").set({ name: "The Zebra" }).where("id", "=", cluster).execute();
  const template = {
    org_id: shop.org,
    namespace: shop.namespace,
    name: "zebra-stack",
    version: "1.0.0",
    scope: "organization",
  };
  const made = await world.admin.api.post("/stack-templates", {
    ...template,
    components: [{ name: "web" }],
    parameters: [],
  });
  expect(made.status).toBe(201);
  expect(await found("ZEBRA")).toEqual([
    "app zebra",
    "app my-zebra",
    "cluster The Zebra",
    "stack_template zebra-stack",
    "addon_instance zebra-db",
  ]);
  const { body } = await shop.viewer.api.get("/search?q=my-zeb");
  expect(body.results).toMatchObject([
    {
      kind: "app",
      namespace: shop.namespace,
      project_id: shop.project,
      cluster_id: shop.cluster,
      detail: `cluster ${shop.cluster}`,
    },
  ]);
  expect(await found(shop.namespace)).toEqual([`project ${shop.namespace}`]);
  expect(await found("zebra", shop.member.api)).toEqual(["cluster The Zebra", "stack_template zebra-stack"]);
  expect(await found("zebra", shop.stranger.api)).toEqual([]);
  const elsewhere = await world.org();
  expect(await found(`zebra&org_id=${elsewhere}`, world.admin.api)).toEqual([]);
  expect(await found(`zebra&org_id=${shop.org}`, world.admin.api)).toHaveLength(5);
});

test("[OV7] GET /search finds at most eight of a kind, and further kinds beside them", async () => {
  const { kysely: db } = world.database;
  for (let index = 0; index < 9; index++) await app(`many-${index}`);
  const project = await insertProject(db, shop.org, shop.cluster);
  await db.updateTable("projects").set({ name: "so-many" }).where("id", "=", project).execute();
  const names = await found("many", world.admin.api);
  expect(names).toEqual([...Array.from({ length: 8 }, (_, index) => `app many-${index}`), "project so-many"]);
});

test("[OV8] GET /search has no wildcards", async () => {
  for (const wildcard of ["%25", "z_bra", "zeb%25", "*", "\\\\"]) expect(await found(wildcard)).toEqual([]);
});

test.each([
  ["", ["query", "q"], "missing"],
  ["?q=", ["query", "q"], "string_too_short"],
  [`?q=${"x".repeat(101)}`, ["query", "q"], "string_too_long"],
  ["?q=a%00", ["query", "q"], "value_error"],
  ["?q=a&org_id=x", ["query", "org_id"], "uuid_parsing"],
])("[OV8] GET /search%s is a 422", async (query, loc, type) => {
  const { status, body } = await shop.viewer.api.get(`/search${query}`);
  expect({ status, detail: body.detail }).toMatchObject({ status: 422, detail: [{ loc, type }] });
});
