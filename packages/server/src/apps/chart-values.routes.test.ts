import { type Client, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openShop, type Shop } from "./app.fixture.ts";

const PASSWORD = "s3cret-of-the-chart";
const chart = (spec: object = {}) => ({
  name: "db",
  type: "chart",
  chart_spec: {
    repo: "oci://registry.example.com/charts",
    name: "postgres",
    values: { auth: { password: PASSWORD, user: "app" } },
    secret_values: ["auth.password"],
    ...spec,
  },
});
const ref = (app: string) => ({ secret_ref: { name: `${app}-db-secrets`, key: "auth.password" } });

let world: World;
let shop: Shop;

beforeAll(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
afterAll(() => world?.stop());

const read = async (name: string, rest = "", api: Client = shop.viewer.api) =>
  (await api.get(shop.path(name, rest))).body;
const patch = (name: string, chart_spec: object | null, more: object = {}) =>
  shop.editor.api.patch(shop.path(name), { components: [{ op: "patch", name: "db", chart_spec, ...more }] });
const sealed = async () =>
  world.database.kysely.selectFrom("app_secrets").select(["component", "key", "sealed_value"]).execute();

describe("a chart with secret values", () => {
  test("[SV1] [SV2] shows references, and its secret is in no answer, row, audit entry or log line", async () => {
    const name = await shop.app([chart()]);
    const app = await read(name);
    expect(app.components[0]).toMatchObject({
      secrets: ["auth.password"],
      chart_spec: { values: { auth: { user: "app", password: ref(name) } }, secret_values: ["auth.password"] },
    });
    const { data } = await read(name, "/deployments");
    const deployment = await read(name, `/deployments/${data[0].deployment_id}`);
    expect(deployment.spec.components[0].chart_spec.values.auth.password).toEqual(ref(name));
    expect((await read(name, "/components/db/secrets")).data).toMatchObject([{ key: "auth.password" }]);
    const { kysely: db } = world.database;
    const rows = [
      await db.selectFrom("apps").selectAll().execute(),
      await db.selectFrom("app_deployments").selectAll().execute(),
      await db.selectFrom("audit_log").selectAll().execute(),
      await sealed(),
    ];
    expect(JSON.stringify([app, data, deployment, rows, world.logged])).not.toContain(PASSWORD);
  });

  test("[SV4] keeps its secret through a patch that gives back what was read", async () => {
    const name = await shop.app([chart()]);
    const before = await sealed();
    const { chart_spec } = (await read(name)).components[0];
    const back = await patch(name, { ...chart_spec, values: { ...chart_spec.values, color: "red" } });
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(back.body.components[0].chart_spec.values).toEqual({
      auth: { user: "app", password: ref(name) },
      color: "red",
    });
    expect(await sealed()).toEqual(before);
    const stored = await world.database.kysely
      .selectFrom("apps")
      .select("components")
      .where("name", "=", name)
      .execute();
    expect(JSON.stringify(stored)).not.toContain("secret_ref");
  });

  test("[SV3] refuses a reference that it has not given", async () => {
    const name = await shop.app([chart()]);
    const other = await shop.app([chart()]);
    expect(await patch(name, { values: { auth: { password: ref(other) } } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components", 0, "chart_spec", "values", "auth", "password"] }] },
    });
    const created = await shop.editor.api.post("/apps", {
      name: "copied",
      project_id: shop.project,
      components: [chart({ values: { auth: { password: ref("copied") } } })],
    });
    expect(created.status).toBe(422);
  });

  test("[SV4] loses its secret with the key, and shows no reference any more", async () => {
    const name = await shop.app([chart()]);
    expect((await shop.editor.api.delete(shop.path(name, "/components/db/secrets/auth.password"))).status).toBe(204);
    expect((await read(name)).components[0].chart_spec.values).toEqual({ auth: { user: "app" } });
    const set = { "auth.password": "another" };
    expect((await shop.editor.api.patch(shop.path(name, "/components/db/secrets"), set)).status).toBe(200);
    expect((await read(name)).components[0].chart_spec.values.auth.password).toEqual(ref(name));
  });

  test("[SV7] keeps its secret through a rollback", async () => {
    const name = await shop.app([chart()]);
    await patch(name, { values: { auth: { password: "changed" } } });
    const before = await sealed();
    expect((await shop.editor.api.post(shop.path(name, "/rollback"), { revision: 1 })).status).toBe(200);
    expect(await sealed()).toEqual(before);
    expect((await read(name)).components[0].chart_spec.values.auth.password).toEqual(ref(name));
  });

  test("[SV1] seals from then on what was open before", async () => {
    const name = await shop.app([chart({ secret_values: undefined, plain_values: ["auth.password"] })]);
    expect((await read(name)).components[0].chart_spec.values.auth.password).toBe(PASSWORD);
    await patch(name, { secret_values: ["auth.password"], plain_values: null });
    const app = await read(name);
    expect(app.components[0].chart_spec.values.auth.password).toEqual(ref(name));
    expect(JSON.stringify(app)).not.toContain(PASSWORD);
  });

  test("[SV11] is sealed where its path looks like that of a secret, for a viewer, in every revision and in the database", async () => {
    const password = "sealed-by-its-name";
    const name = await shop.app([chart({ secret_values: undefined, values: { auth: { password, user: "app" } } })]);
    const shown = { values: { auth: { user: "app", password: ref(name) } }, sealed_values: ["auth.password"] };
    const app = await read(name);
    expect(app.components[0]).toMatchObject({ secrets: ["auth.password"], chart_spec: shown });
    expect((await read(name, "/components/db/secrets")).data).toMatchObject([{ chart_value: "sealed_values" }]);
    const changed = await patch(name, { values: { color: "red" }, sealed_values: null });
    expect(changed.body.components[0].chart_spec).toMatchObject(shown);
    const back = await patch(name, changed.body.components[0].chart_spec);
    expect(back.body.components[0].chart_spec).toMatchObject(shown);
    const { kysely: db } = world.database;
    const rows = [
      await db.selectFrom("apps").selectAll().execute(),
      await db.selectFrom("app_deployments").selectAll().execute(),
    ];
    expect(JSON.stringify([app, await read(name, "/deployments"), rows])).not.toContain(password);
  });

  test("[SV12] is readable where its path is called plain, and both lists cannot have it", async () => {
    const name = await shop.app([chart({ secret_values: undefined, plain_values: ["auth.password"] })]);
    const { chart_spec } = (await read(name)).components[0];
    expect(chart_spec.values.auth.password).toBe(PASSWORD);
    expect(chart_spec).not.toHaveProperty("sealed_values");
    expect(await patch(name, { secret_values: ["auth.password"] })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components", 0, "chart_spec", "plain_values", 0] }] },
    });
  });

  test("[CS1] is refused at an address of the cloud's metadata, and nothing is stored", async () => {
    const created = await shop.editor.api.post("/apps", {
      name: "stealing",
      project_id: shop.project,
      components: [chart({ repo: "http://169.254.169.254/latest/meta-data" })],
    });
    expect(created).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ["body", "components", 0, "chart_spec", "repo"], msg: "The address is not a public one" }],
      },
    });
    expect((await shop.editor.api.get(shop.path("stealing"))).status).toBe(404);
    const name = await shop.app([chart()]);
    expect((await patch(name, { repo: "http://charts.example.com" })).status).toBe(422);
    expect((await read(name)).components[0].chart_spec.repo).toBe("oci://registry.example.com/charts");
  });
});
