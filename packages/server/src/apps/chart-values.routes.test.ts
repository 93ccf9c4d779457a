import { type Client, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { openShop } from "./app.fixture.ts";

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

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const read = async (name: string, rest = "", api: Client = shop.viewer.api) =>
  (await api.get(shop.path(name, rest))).body;
const patch = (name: string, chart_spec: object | null, more: object = {}) =>
  shop.editor.api.patch(shop.path(name), { components: [{ op: "patch", name: "db", chart_spec, ...more }] });
const sealed = async () =>
  world.database.kysely.selectFrom("app_secrets").select(["component", "key", "sealed_value"]).execute();

describe("a chart with secret values", () => {
  test("[SV1] [SV2] a chart shows references for its secret values, and no answer, row, audit entry or log line has them", async () => {
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

  test("[SV4] a patch that sends back what was read keeps the secret values of a chart", async () => {
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

  test("[SV3] a reference to the secret value of another app is refused", async () => {
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

  test("[SV3] a reference is never stored as a value, also where no secret is listed", async () => {
    const name = await shop.app([chart()]);
    const unlisted = chart({ values: { auth: { password: ref(name) } }, secret_values: undefined });
    const at = ["body", "components", 0, "chart_spec", "values", "auth"];
    expect(
      await shop.editor.api.post("/apps", { name: "moved", project_id: shop.project, components: [unlisted] }),
    ).toMatchObject({ status: 422, body: { detail: [{ loc: [...at, "password"] }] } });
    expect(await patch(name, { values: { auth: { other: ref(name) } } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: [...at, "other"] }] },
    });
  });

  test("[SV4] removing a secret by its key removes the reference from the values of the chart", async () => {
    const name = await shop.app([chart()]);
    expect((await shop.editor.api.delete(shop.path(name, "/components/db/secrets/auth.password"))).status).toBe(204);
    expect((await read(name)).components[0].chart_spec.values).toEqual({ auth: { user: "app" } });
    const set = { "auth.password": "another" };
    expect((await shop.editor.api.patch(shop.path(name, "/components/db/secrets"), set)).status).toBe(200);
    expect((await read(name)).components[0].chart_spec.values.auth.password).toEqual(ref(name));
  });

  test("[SV7] a rollback does not change the secret values of a chart", async () => {
    const name = await shop.app([chart()]);
    await patch(name, { values: { auth: { password: "changed" } } });
    const before = await sealed();
    expect((await shop.editor.api.post(shop.path(name, "/rollback"), { revision: 1 })).status).toBe(200);
    expect(await sealed()).toEqual(before);
    expect((await read(name)).components[0].chart_spec.values.auth.password).toEqual(ref(name));
  });

  test("[SV1] a value that was readable before its path was listed as secret is sealed from then on", async () => {
    const name = await shop.app([chart({ secret_values: undefined, plain_values: ["auth.password"] })]);
    expect((await read(name)).components[0].chart_spec.values.auth.password).toBe(PASSWORD);
    await patch(name, { secret_values: ["auth.password"], plain_values: null });
    const app = await read(name);
    expect(app.components[0].chart_spec.values.auth.password).toEqual(ref(name));
    expect(JSON.stringify(app)).not.toContain(PASSWORD);
  });

  test("[SV11] a value whose path looks like a secret is sealed in answers, revisions and the database", async () => {
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

  test("[SV315] what looks like a secret and cannot be sealed is a 422 at its place, unless plain_values lists its path", async () => {
    const values = {
      users: [{ password: "s3cret" }],
      extraEnv: [{ name: "API_TOKEN", value: "s3cret" }],
      pin: { password: 12345 },
    };
    const post = (spec: object) =>
      shop.editor.api.post("/apps", {
        name: "in-lists",
        project_id: shop.project,
        components: [chart({ secret_values: undefined, values, ...spec })],
      });
    const refused = await post({});
    const at = ["body", "components", 0, "chart_spec", "values"];
    expect(refused).toMatchObject({
      status: 422,
      body: {
        detail: [
          {
            loc: [...at, "users", 0, "password"],
            msg: expect.stringContaining("list users.0.password in plain_values"),
          },
          { loc: [...at, "extraEnv", 0, "value"], msg: expect.stringContaining("refer to a Secret of your own") },
          { loc: [...at, "pin", "password"], msg: expect.stringContaining("write it in quotes") },
        ],
      },
    });
    expect(JSON.stringify(refused.body)).not.toMatch(/s3cret|12345/);
    const plain_values = ["users.0.password", "extraEnv", "pin.password"];
    expect((await post({ plain_values })).status).toBe(201);
    expect((await read("in-lists")).components[0].chart_spec.values).toEqual(values);
  });

  test("[SV12] a value in plain_values is readable, and a path in both lists is a 422", async () => {
    const name = await shop.app([chart({ secret_values: undefined, plain_values: ["auth.password"] })]);
    const { chart_spec } = (await read(name)).components[0];
    expect(chart_spec.values.auth.password).toBe(PASSWORD);
    expect(chart_spec).not.toHaveProperty("sealed_values");
    expect(await patch(name, { secret_values: ["auth.password"] })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components", 0, "chart_spec", "plain_values", 0] }] },
    });
  });

  test("[CS1] a chart repository at the address of the cloud's metadata is refused, and nothing is stored", async () => {
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
