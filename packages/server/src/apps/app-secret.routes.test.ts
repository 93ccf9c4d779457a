import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { definitionId } from "../catalog/catalog-file.ts";
import { openShop, WEB, workload } from "./app.fixture.ts";

const VALUE = "s3cret-of-the-shop";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const secretsOf = (name: string, component = "web", key = "") =>
  shop.path(name, `/components/${component}/secrets${key}`);
const keys = async (name: string, component = "web") =>
  (await shop.viewer.api.get(secretsOf(name, component))).body.data.map(({ key }: { key: string }) => key);

async function sealed(name: string) {
  return world.database.kysely
    .selectFrom("app_secrets")
    .innerJoin("apps", "apps.id", "app_secrets.app_id")
    .select(["app_secrets.component", "app_secrets.key", "app_secrets.sealed_value"])
    .where("apps.name", "=", name)
    .orderBy("app_secrets.component")
    .orderBy("app_secrets.key")
    .execute();
}

describe("the secrets of a component", () => {
  test("[AP38] the secrets of a component are listed, set and changed by key, and removed one by one", async () => {
    const name = await shop.app([{ ...WEB, secrets: { B: VALUE } }]);
    const changed = await shop.editor.api.patch(secretsOf(name), { A: VALUE, B: "other" });
    const at = world.clock.now().toISOString();
    expect(changed).toMatchObject({
      status: 200,
      body: {
        data: [
          { key: "A", updated_at: at },
          { key: "B", updated_at: at },
        ],
        total_count: 2,
      },
    });
    expect((await shop.editor.api.delete(secretsOf(name, "web", "/A"))).status).toBe(204);
    expect(await keys(name)).toEqual(["B"]);
    expect((await shop.editor.api.delete(secretsOf(name, "web", "/A"))).status).toBe(404);
  });

  test("[AP38] changing the secrets of a component needs an editor, and a viewer reads the keys", async () => {
    const name = await shop.app();
    expect((await shop.viewer.api.get(secretsOf(name))).body).toEqual({ data: [], total_count: 0 });
    expect((await shop.viewer.api.patch(secretsOf(name), { A: VALUE })).status).toBe(403);
    expect((await shop.viewer.api.delete(secretsOf(name, "web", "/A"))).status).toBe(403);
    expect((await shop.stranger.api.get(secretsOf(name))).status).toBe(404);
    expect((await world.anyone.get(secretsOf(name))).status).toBe(401);
  });

  test("[AP63] the secret values of an addon component become secrets of the component, under their paths", async () => {
    const addon_spec = { definition_id: definitionId("postgresql"), values: { auth: { password: VALUE } } };
    const name = await shop.app([{ name: "db", type: "addon", addon_spec }]);
    const other = { values: { auth: { password: "another-of-the-shop", database: "shop" } } };
    const patch = { components: [{ op: "patch", name: "db", addon_spec: other }] };
    const changed = await shop.editor.api.patch(shop.path(name), patch);
    expect(changed).toMatchObject({
      status: 200,
      body: { components: [{ secrets: ["auth.password"], addon_spec: { values: { auth: { database: "shop" } } } }] },
    });
    const from = `/stack-templates/from-app/${shop.namespace}/${name}?project_id=${shop.project}`;
    const captured = await shop.editor.api.post(from, { name });
    expect(captured.body.components[0].secrets).toEqual({ "auth.password": `\${db_auth_password}` });
    const kept = await world.database.kysely.selectFrom("app_deployments").selectAll().execute();
    const seen = [
      changed.body,
      captured.body,
      kept,
      await world.database.kysely.selectFrom("apps").selectAll().execute(),
    ];
    for (const value of [VALUE, "another-of-the-shop"]) expect(JSON.stringify(seen)).not.toContain(value);
    expect(await sealed(name)).toMatchObject([{ component: "db", key: "auth.password" }]);
  });

  test("[AP39] the secrets of an unknown component are a 404, and an invalid key or value is a 422", async () => {
    const name = await shop.app();
    expect((await shop.viewer.api.get(secretsOf(name, "absent"))).status).toBe(404);
    expect((await shop.editor.api.patch(secretsOf(name, "absent"), { A: VALUE })).status).toBe(404);
    for (const body of [{}, { "not a key": VALUE }, { "..": VALUE }, { A: 1 }, { A: null }]) {
      expect((await shop.editor.api.patch(secretsOf(name), body)).status).toBe(422);
    }
    expect(await keys(name)).toEqual([]);
  });

  test("[AP39] a component has at most 200 secrets", async () => {
    const many = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`K${from + index}`, "v"]));
    const name = await shop.app([{ ...WEB, secrets: many(0, 200) }]);
    expect((await shop.editor.api.patch(secretsOf(name), many(199, 1))).status).toBe(200);
    expect(await shop.editor.api.patch(secretsOf(name), many(200, 1))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body"], type: "too_long" }] },
    });
  });

  test("[AP40] the secrets of a component are stored encrypted, and no answer or audit entry shows a value", async () => {
    const name = await shop.app([{ ...WEB, secrets: { FIRST: VALUE } }]);
    const answers = [
      await shop.editor.api.patch(secretsOf(name), { SECOND: VALUE }),
      await shop.editor.api.get(shop.path(name)),
      await shop.editor.api.get(shop.path(name, "/deployments")),
      await shop.editor.api.get("/apps"),
    ];
    const audit = await world.database.kysely
      .selectFrom("audit_log")
      .selectAll()
      .where("resource_name", "=", name)
      .execute();
    const [rows, revisions] = [
      await sealed(name),
      await world.database.kysely.selectFrom("app_deployments").select("spec").execute(),
    ];
    expect(rows.map(({ key }) => key)).toEqual(["FIRST", "SECOND"]);
    expect(audit).toMatchObject([
      { action: "app.create", changes: { "web.secrets.FIRST": "added" } },
      { action: "app.update_secrets", changes: { "web.secrets.SECOND": "added" } },
    ]);
    const shown = JSON.stringify([answers.map(({ body }) => body), audit, rows, revisions, world.logged]);
    expect(shown).not.toContain(VALUE);
  });

  test("[AP85] [AP86] exports show secrets by their keys, and an unknown placeholder is refused", async () => {
    const exports = { dsn: `postgres://app:\${secret.PASSWORD|uri}@\${host}:\${port}/app` };
    const db = { name: "db", workload_spec: { image: "postgres:18", ports: [{ name: "postgres", port: 5432 }] } };
    const name = await shop.app([{ ...db, exports, secrets: { PASSWORD: VALUE } }]);
    const changed = await shop.editor.api.patch(shop.path(name), {
      components: [{ op: "patch", name: "db", exports: { dsn: `\${secret.PASSWORD}@\${hots}` } }],
    });
    expect(changed).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components", 0, "exports", "dsn"], type: "value_error" }] },
    });
    const answers = [
      await shop.viewer.api.get(shop.path(name)),
      await shop.viewer.api.get(shop.path(name, "/deployments")),
    ];
    expect(answers[0]?.body.components).toMatchObject([{ name: "db", exports, secrets: ["PASSWORD"] }]);
    const audit = await world.database.kysely
      .selectFrom("audit_log")
      .selectAll()
      .where("resource_name", "=", name)
      .execute();
    expect(JSON.stringify([answers.map(({ body }) => body), audit, world.logged])).not.toContain(VALUE);
  });

  test("[AP41] the secrets of a component are deleted with it, and no rollback restores or changes them", async () => {
    const name = await shop.app([
      { ...WEB, secrets: { KEY: VALUE } },
      { ...workload("worker"), secrets: { KEY: VALUE } },
    ]);
    const patch = (components: object[]) => shop.editor.api.patch(shop.path(name), { components });
    await patch([{ op: "remove", name: "worker" }]);
    expect((await sealed(name)).map(({ component }) => component)).toEqual(["web"]);
    const [{ sealed_value: before } = { sealed_value: "" }] = await sealed(name);
    const back = await shop.editor.api.post(shop.path(name, "/rollback"), { revision: 1 });
    expect(back.body.components).toMatchObject([{ secrets: ["KEY"] }, { secrets: [] }]);
    expect(await sealed(name)).toMatchObject([{ component: "web", sealed_value: before }]);
  });

  test("[AP42] a patch of a component sets and removes its secrets too", async () => {
    const name = await shop.app([{ ...WEB, secrets: { A: VALUE, B: VALUE } }]);
    const patch = (secrets: unknown) =>
      shop.editor.api.patch(shop.path(name), { components: [{ op: "patch", name: "web", secrets }] });
    expect((await patch({ A: null, C: VALUE })).body.components).toMatchObject([{ secrets: ["B", "C"] }]);
    expect((await patch(null)).body.components).toMatchObject([{ secrets: [] }]);
    expect(await sealed(name)).toEqual([]);
  });
});
