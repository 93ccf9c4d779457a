import { randomBytes } from "node:crypto";
import { Deployment } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { schemaProblems } from "../http/checked.fixture.ts";
import { newId } from "../id.adapter.ts";
import { openShop, WEB } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const act = (name: string, rest: string, body?: unknown) => shop.editor.api.post(shop.path(name, rest), body);
const read = (name: string, rest: string, query = "", api = shop.viewer.api) => api.get(shop.path(name, rest, query));
const ids = async (name: string): Promise<string[]> =>
  (await read(name, "/deployments")).body.data.map(({ deployment_id }: Deployment) => deployment_id);

test("[AP81] viewers read one deployment of an app", async () => {
  const name = await shop.app();
  await act(name, "/scale", { component_name: "web", replicas: 3 });
  const [newest, first] = await ids(name);
  const found = await read(name, `/deployments/${first}`);
  expect(found).toMatchObject({ status: 200, body: { deployment_id: first, revision: 1, status: "superseded" } });
  expect(schemaProblems(Deployment, found.body)).toEqual([]);
  expect((await read(name, `/deployments/${newest}`)).body).toMatchObject({ operation: "scale", revision: 2 });
});

test("[AP81] a deployment that is unknown, or another app's, is a 404, and so is every one for strangers", async () => {
  const [name, other] = [await shop.app(), await shop.app()];
  const [[own], [foreign]] = [await ids(name), await ids(other)];
  for (const id of [foreign, newId()]) {
    expect((await read(name, `/deployments/${id}`)).status).toBe(404);
    expect((await read(name, `/deployments/${own}/diff`, `&against=${id}`)).status).toBe(404);
    expect((await read(name, `/deployments/${id}/diff`, `&against=${own}`)).status).toBe(404);
  }
  expect((await read(name, `/deployments/${own}`, "", shop.stranger.api)).status).toBe(404);
  expect((await read(name, `/deployments/${own}/diff`, `&against=${own}`, shop.stranger.api)).status).toBe(404);
  expect((await read(name, `/deployments/${own}/diff`)).status).toBe(422);
});

test("[AP82] the diff goes from the deployment in `against` to the one in the path", async () => {
  const name = await shop.app();
  await act(name, "/scale", { component_name: "web", replicas: 3 });
  const [newest, first] = await ids(name);
  const path = "/components/web/workload_spec/replicas";
  expect((await read(name, `/deployments/${newest}/diff`, `&against=${first}`)).body.changes).toEqual([
    { path, change: "changed", before: 2, after: 3 },
  ]);
  expect((await read(name, `/deployments/${first}/diff`, `&against=${newest}`)).body.changes).toEqual([
    { path, change: "changed", before: 3, after: 2 },
  ]);
});

test("[AP83] changed secrets are in a diff without their values, also over several deployments and backwards", async () => {
  const name = await shop.app([{ ...WEB, secrets: { API_KEY: "the first value", OTHER: "stays as it is" } }]);
  const secrets = shop.path(name, "/components/web/secrets");
  await shop.editor.api.patch(secrets, { API_KEY: "the second value" });
  await act(name, "/redeploy");
  const [newest, changed, first] = await ids(name);
  const expected = [{ path: "/components/web/secrets/API_KEY", change: "changed" }];
  for (const [one, other] of [
    [newest, first],
    [first, newest],
    [changed, first],
  ]) {
    const { body } = await read(name, `/deployments/${one}/diff`, `&against=${other}`);
    expect(body.changes).toEqual(expected);
    expect(JSON.stringify(body)).not.toContain("value");
  }
  expect((await read(name, `/deployments/${newest}/diff`, `&against=${changed}`)).body.changes).toEqual([]);
});

test("[AP31] the oldest deployments of an app are deleted beyond its limits, and those that are left are counted", async () => {
  const name = await shop.app();
  const { kysely: db } = world.database;
  const { id } = await db.selectFrom("apps").select("id").where("name", "=", name).executeTakeFirstOrThrow();
  const first = await db.selectFrom("app_deployments").selectAll().where("app_id", "=", id).executeTakeFirstOrThrow();
  // PostgreSQL compresses what repeats.
  const large = (bytes: number) => ({ components: [{ name: "web", noise: randomBytes(bytes).toString("hex") }] });
  const copies = (revisions: readonly number[], spec: object) =>
    revisions.map((revision) => ({
      ...first,
      id: newId(),
      revision,
      status: "succeeded" as const,
      changes: null,
      spec: JSON.stringify(spec),
    }));
  const between = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await db
    .insertInto("app_deployments")
    .values(copies(between(2, 250), { components: [] }))
    .execute();
  await db.updateTable("apps").set({ revision: 250 }).where("id", "=", id).execute();
  await act(name, "/scale", { component_name: "web", replicas: 3 });
  const listed = (await read(name, "/deployments", "&items_per_page=100&page=2")).body;
  expect(listed).toMatchObject({ total_count: 200, has_more: false });
  expect(listed.data.at(-1).revision).toBe(52);
  expect((await act(name, "/rollback", { revision: 51 })).status).toBe(404);

  await db
    .insertInto("app_deployments")
    .values(copies(between(252, 263), large(1_500_000)))
    .execute();
  await db.updateTable("apps").set({ revision: 263 }).where("id", "=", id).execute();
  await act(name, "/scale", { component_name: "web", replicas: 4 });
  const revisions = (await read(name, "/deployments", "&items_per_page=100")).body.data.map(
    ({ revision }: Deployment) => revision,
  );
  expect(revisions).toEqual(between(255, 264).reverse());
});
