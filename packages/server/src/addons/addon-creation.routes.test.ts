import { randomBytes } from "node:crypto";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { insertProject } from "../access/bindings.fixture.ts";
import { EVENTS_TOPIC } from "../events/event.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { addonIn, NOBODY, POSTGRESQL, problemsOf, RABBITMQ, refused, secretsOf } from "./addon.fixture.ts";

const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;
const vault = createVault(parseVaultKeys(VAULT_KEYS));

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_VAULT_KEYS: VAULT_KEYS } });
const place = await world.projectWithPeople();
afterAll(() => world.stop());

const bodyOf = (fields: object = {}) => ({
  name: "db",
  project_id: place.project,
  addon_definition_id: POSTGRESQL,
  ...fields,
});

describe("creating an instance", () => {
  test("[AD9] an editor of the project creates an addon instance, which is pending with revision 1", async () => {
    const here = await world.projectWithPeople();
    const answer = await here.editor.api.post("/addon-instances", bodyOf({ project_id: here.project }));
    expect(answer).toMatchObject({ status: 201, body: { phase: "pending", revision_number: 1, exports: {} } });
    expect((await here.viewer.api.get(`/addon-instances/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test("[AD9] POST /addon-instances is a 403 for viewers and a 404 for those who do not see the project", async () => {
    expect((await refused(world, place.viewer, "POST", "/addon-instances", bodyOf())).status).toBe(403);
    const hidden = { status: 404, body: { detail: "Project not found." } };
    expect(await refused(world, place.member, "POST", "/addon-instances", bodyOf())).toMatchObject(hidden);
    expect(await refused(world, place.stranger, "POST", "/addon-instances", bodyOf())).toMatchObject(hidden);
    expect((await world.anyone.post("/addon-instances", bodyOf())).status).toBe(401);
  });

  test("[AD10] an addon instance of an unknown definition is a 404", async () => {
    const body = bodyOf({ addon_definition_id: NOBODY });
    expect(await refused(world, place.editor, "POST", "/addon-instances", body)).toMatchObject({
      status: 404,
      body: { detail: "Addon definition not found." },
    });
  });

  test.each(["DB", "-db", "db-", "d_b", "d.b", "", "x".repeat(64)])(
    "[AD11] an addon instance with the name %j is a 422",
    async (name) => {
      const answer = await refused(world, place.editor, "POST", "/addon-instances", bodyOf({ name }));
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ["body", "name"]]);
    },
  );

  test("[AD11] the name of an addon instance is taken in its project and free in another", async () => {
    const here = await world.projectWithPeople();
    await addonIn(here);
    expect(
      await refused(world, here.editor, "POST", "/addon-instances", bodyOf({ project_id: here.project })),
    ).toMatchObject({
      status: 409,
      body: { detail: "An addon instance of this name already exists in the project." },
    });
    const project = await insertProject(world.database.kysely, here.org, here.cluster);
    expect((await world.admin.api.post("/addon-instances", bodyOf({ project_id: project }))).status).toBe(201);
  });

  test("[AD12] the chart version of an addon instance is the definition's own, or another that it offers", async () => {
    const here = await world.projectWithPeople();
    expect((await addonIn(here, { name: "own" })).chart_version).toBe("0.20.1");
    expect((await addonIn(here, { name: "older", chart_version: "0.10.0" })).chart_version).toBe("0.10.0");
    const answer = await refused(world, place.editor, "POST", "/addon-instances", bodyOf({ chart_version: "9.9.9" }));
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body.chart_version", "value_error"]]]);
  });

  test("[AD13] all problems of values and chart version are reported at once", async () => {
    const values = {
      auth: { username: "App!", password: "short" },
      persistence: { size: 10 },
      config: { postgresqlMaxConnections: 1 },
      unheard_of: true,
    };
    const answer = await refused(
      world,
      place.editor,
      "POST",
      "/addon-instances",
      bodyOf({ values, chart_version: "9" }),
    );
    expect(answer.status).toBe(422);
    expect(problemsOf(answer)).toEqual([
      ["body.values.unheard_of", "extra_forbidden"],
      ["body.values.auth.username", "string_pattern_mismatch"],
      ["body.values.auth.password", "string_too_short"],
      ["body.values.persistence.size", "string_type"],
      ["body.values.config.postgresqlMaxConnections", "greater_than_equal"],
      ["body.chart_version", "value_error"],
    ]);
    expect(JSON.stringify(answer.body)).not.toContain('"short"');
  });

  test("[AD13] an addon instance with an unknown field or values that are not a map is a 422", async () => {
    const answer = await refused(world, place.editor, "POST", "/addon-instances", bodyOf({ values: [], replicas: 1 }));
    expect([answer.status, problemsOf(answer)]).toEqual([
      422,
      [
        ["body.replicas", "extra_forbidden"],
        ["body.values", "dict_type"],
      ],
    ]);
  });

  test("[AD16] a text on the path to a secret value is a 422 at the text", async () => {
    const answer = await refused(world, place.editor, "POST", "/addon-instances", bodyOf({ values: { auth: "x" } }));
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body.values.auth", "dict_type"]]]);
  });

  test("[AD14] secrets that are left out are generated, each with another value", async () => {
    const here = await world.projectWithPeople();
    const { id, values } = await addonIn(here, { name: "mq", addon_definition_id: RABBITMQ });
    const secrets = await secretsOf(world, vault, id);
    expect(Object.keys(secrets).sort()).toEqual(["auth.erlangCookie", "auth.password"]);
    expect(new Set(Object.values(secrets)).size).toBe(2);
    for (const secret of Object.values(secrets)) expect(secret).toMatch(/^[0-9a-f]{48}$/);
    expect(values.auth.erlangCookie).toEqual({ secret_ref: { name: "mq-addon-values", key: "auth.erlangCookie" } });
  });

  test("[AD17] a project that is being deleted accepts no addon instance", async () => {
    const here = await world.projectWithPeople();
    const gone = { lifecycle: "cleanup_pending" } as const;
    await world.database.kysely.updateTable("projects").set(gone).where("id", "=", here.project).execute();
    expect(
      await refused(world, here.editor, "POST", "/addon-instances", bodyOf({ project_id: here.project })),
    ).toMatchObject({
      status: 409,
      body: { detail: "The project is being deleted." },
    });
  });

  test("[AD15] the secret of an addon instance is stored encrypted, and is in no other row, event, answer or log line", async () => {
    const here = await world.projectWithPeople();
    const [first, second] = ["hush hush hush one", "hush hush hush two"];
    const announced: string[] = [];
    const stopListening = world.bus.subscribe(EVENTS_TOPIC, (event) => announced.push(JSON.stringify(event)));
    const made = await here.editor.api.post(
      "/addon-instances",
      bodyOf({ project_id: here.project, values: { auth: { password: first } } }),
      { headers: { "idempotency-key": "one-and-only" } },
    );
    const path = `/addon-instances/${made.body.id}`;
    const answers = [
      made,
      await here.editor.api.patch(path, { values: { auth: { password: second } } }),
      await here.editor.api.patch(path, { values: { auth: { password: first, username: "No!" } } }),
      await here.editor.api.post(`${path}/rollback`, { revision_number: 1 }),
      await here.editor.api.get(path),
      await here.editor.api.get(`${path}/revisions`),
      await world.admin.api.get(`/orgs/${here.org}/audit-log`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 422, 200, 200, 200, 200]);
    stopListening();
    expect(announced.length).toBeGreaterThanOrEqual(3);
    expect(await secretsOf(world, vault, made.body.id)).toEqual({ "auth.password": second });

    const tables = await world.database.pool.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    const stored = await Promise.all(
      tables.rows.map(({ name }) => world.database.pool.query(`select t::text as text from "${name}" t`)),
    );
    const everywhere = [answers.map(({ body }) => body), announced, world.logged, stored.map(({ rows }) => rows)];
    expect(JSON.stringify(everywhere)).not.toMatch(/hush hush/);
  });
});
