import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { rowsOf } from "./rows.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const extra = (name: string) => ({
  status: 422,
  body: { detail: [{ loc: ["query", name], msg: "Extra inputs are not permitted", type: "extra_forbidden" }] },
});

test("[CV34] an unknown query parameter is refused, on routes that have some and on routes that have none", async () => {
  const { api } = world.admin;
  expect(await api.get("/apps?projectid=x")).toMatchObject(extra("projectid"));
  expect(await api.get("/user/me?verbose=1")).toMatchObject(extra("verbose"));
  expect(await api.get("/events/stream?resource=app")).toMatchObject(extra("resource"));
  const before = await rowsOf(world);
  expect(await api.delete(`/projects/${shop.project}?force=true`)).toMatchObject(extra("force"));
  expect(await api.post("/orgs?dry_run=1", { name: "dry" })).toMatchObject(extra("dry_run"));
  expect(await rowsOf(world)).toEqual(before);
  expect((await world.anyone.get("/user/me?verbose=1")).status).toBe(401);
});

test("[CV35] the 422 of a secret's key, a host and a name says in words what they should be", async () => {
  const component = {
    name: "web_1",
    workload_spec: { ingress: { host: "Shop.Example.com" } },
    secrets: { "bad key": "v", "..data": "v" },
  };
  const { status, body } = await shop.editor.api.post("/apps", {
    name: "shop",
    project_id: shop.project,
    components: [component],
  });
  expect(status).toBe(422);
  const words = Object.fromEntries(
    body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => [loc.at(-1), msg]),
  );
  expect(words).toMatchObject({
    name: expect.stringContaining("lower-case letters, digits and hyphens"),
    host: expect.stringContaining("a host name such as shop.example.com"),
    "bad key": expect.stringMatching(/^The key should have only letters/),
    "..data": expect.stringMatching(/^The key should have only letters/),
  });
  expect(JSON.stringify(body)).not.toMatch(/\^|\[a-z/);
});

test("[CV36] a 403 says which role is needed", async () => {
  const name = await shop.app();
  const refusalOf = async (answer: Promise<{ status: number; body: { detail: string } }>) => {
    const { status, body } = await answer;
    return [status, body.detail];
  };
  expect(await refusalOf(shop.viewer.api.delete(shop.path(name)))).toEqual([
    403,
    "This needs the role editor on the project, or an administrator of the organization.",
  ]);
  expect(await refusalOf(shop.editor.api.delete(`/projects/${shop.project}`))).toEqual([
    403,
    "Only administrators of the organization may do this.",
  ]);
  expect(await refusalOf(shop.member.api.patch(`/clusters/${shop.cluster}`, { name: "x" }))).toEqual([
    403,
    "This needs the role admin on the cluster, or an administrator of the organization.",
  ]);
  expect(await refusalOf(shop.member.api.post("/orgs", { name: "x" }))).toEqual([403, "Only superusers may do this."]);
  expect(await refusalOf(shop.member.api.patch(`/user/${shop.editor.id}`, { name: "Ada" }))).toEqual([
    403,
    "Only the user whose record it is may do this.",
  ]);
});
