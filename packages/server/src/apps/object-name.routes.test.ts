import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test, vi } from "vitest";
import { insertProject } from "../access/bindings.fixture.ts";
import { inTransaction } from "../database/transaction.ts";
import { rowsOf } from "../http/rows.fixture.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { lockNames } from "../projects/project.store.ts";
import { openShop, someName, workload } from "./app.fixture.ts";
import { lockObjectNames } from "./app.store.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const create = (name: string, component: string, project = shop.project) =>
  world.admin.api.post("/apps", { name, project_id: project, components: [workload(component)] });
const taken = (object: string, app: string) => ({
  status: 409,
  body: { detail: { code: "name_taken", name: object, app, message: expect.stringContaining(app) } },
});

test("[AP71] an app whose objects would have the names of another app's is refused, and nothing is stored", async () => {
  const name = someName();
  expect((await create(`${name}-b`, "c")).status).toBe(201);
  const before = await rowsOf(world);
  expect(await create(name, "b-c")).toMatchObject(taken(`${name}-b-c`, `${name}-b`));
  expect(await rowsOf(world)).toEqual(before);
  expect((await create(name, "b-d")).status).toBe(201);
  const elsewhere = await insertProject(world.database.kysely, shop.org, shop.cluster);
  expect((await create(name, "b-c", elsewhere)).status).toBe(201);
});

test("[AP71] an app is refused for the names of another app's objects also while that app is being deleted", async () => {
  const name = someName();
  expect((await create(name, "b-c")).status).toBe(201);
  expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
  expect(await create(`${name}-b`, "c")).toMatchObject(taken(`${name}-b-c`, name));
});

test("[AP71] a component is not added or restored by a rollback if its objects would have the names of another app's", async () => {
  const name = someName();
  expect((await create(name, "b-c")).status).toBe(201);
  expect((await create(`${name}-b`, "d")).status).toBe(201);
  const change = (app: string, op: string, component: string) => {
    const rest = op === "add" ? { workload_spec: { image: "nginx:1.29" } } : {};
    return shop.editor.api.patch(shop.path(app), { components: [{ op, name: component, ...rest }] });
  };
  expect(await change(`${name}-b`, "add", "c")).toMatchObject(taken(`${name}-b-c`, name));
  expect((await change(name, "add", "other")).status).toBe(200);
  expect((await change(name, "remove", "b-c")).status).toBe(200);
  expect((await change(`${name}-b`, "add", "c")).status).toBe(200);
  const rollback = await shop.editor.api.post(shop.path(name, "/rollback"), { revision: 1 });
  expect(rollback).toMatchObject(taken(`${name}-b-c`, `${name}-b`));
});

test("[AP71] an app that waits for a lock on its project does not lock names of objects meanwhile", async () => {
  const { kysely: db } = world.database;
  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(db);
    return rows[0]?.count;
  };
  let created: ReturnType<typeof create> | undefined;
  await inTransaction(db, async (tx) => {
    await lockNames(tx, shop.project);
    created ??= create(someName(), "web");
    await vi.waitFor(async () => expect(await waiting()).toBe(1), SOON);
    await sql`set local lock_timeout = 1`.execute(tx);
    await lockObjectNames(tx, shop.project);
  });
  expect((await created)?.status).toBe(201);
});

test("[AP71] of two apps whose objects would have the same name at the same instant, one is created", async () => {
  const pairs = Array.from({ length: 8 }, someName);
  for (const name of pairs) {
    const answers = await Promise.all([create(`${name}-b`, "c"), create(name, "b-c")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  }
});

test("[AP73] a template is deployed under another name if its own would lead to the names of another app's objects", async () => {
  const name = someName();
  expect((await create(name, "b-c")).status).toBe(201);
  const template = { namespace: shop.namespace, name: `${name}-b`, components: [workload("c")] };
  expect((await shop.editor.api.post("/stack-templates", template)).status).toBe(201);
  const path = `/stack-templates/${shop.namespace}/${template.name}/deploy`;
  const deployed = await shop.editor.api.post(path, { project_id: shop.project });
  expect(deployed.status).toBe(201);
  expect(deployed.body.deploy_name).toMatch(new RegExp(`^${template.name}-[0-9a-f]{4}$`));
});
