import { Deployment } from "@binnacle/contract";
import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schemaProblems } from "../http/checked.fixture.ts";
import { newId } from "../id.adapter.ts";
import { openShop, type Shop, WEB } from "./app.fixture.ts";

let world: World;
let shop: Shop;

beforeAll(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
afterAll(() => world?.stop());

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

test("[AP82] the diff goes from the deployment it is against to the one of the path", async () => {
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

test("[AP83] changed secrets are named without their values, also over several deployments and backwards", async () => {
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
