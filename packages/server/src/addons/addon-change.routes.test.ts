import { randomBytes } from "node:crypto";
import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { EVENTS_TOPIC } from "../events/event.ts";
import { createVault, parseVaultKeys } from "../vault/vault.ts";
import { addonIn, NOBODY, problemsOf, RABBITMQ, refused, secretsOf } from "./addon.fixture.ts";

const VAULT_KEYS = `test:${randomBytes(32).toString("base64")}`;
const vault = createVault(parseVaultKeys(VAULT_KEYS));
const PASSWORD_REF = { secret_ref: { name: "db-addon-values", key: "auth.password" } };

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_VAULT_KEYS: VAULT_KEYS } });
const place = await world.projectWithPeople();
afterAll(() => world.stop());

describe("changing an instance", () => {
  test.each([{}, { notes: "x" }, { values: {}, chart_version: "0.10.0" }])(
    "[AD18] a change of an addon instance with %j is a 422, because it needs exactly one of values and chart_version",
    async (body) => {
      const answer = await refused(world, place.editor, "PATCH", `/addon-instances/${NOBODY}`, body);
      expect([answer.status, problemsOf(answer)]).toEqual([422, [["body", "value_error"]]]);
    },
  );

  test("[AD18] a change of an addon instance by an editor makes a revision with its notes", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const path = `/addon-instances/${id}`;
    const body = { values: { persistence: { size: "20Gi" } }, notes: "more room" };
    expect(await here.editor.api.patch(path, body)).toMatchObject({
      status: 200,
      body: { revision_number: 2, generation: 2, values: { persistence: { size: "20Gi" } } },
    });
    const { data } = (await here.viewer.api.get(`${path}/revisions`)).body;
    expect(data[0]).toMatchObject({ revision_number: 2, notes: "more room", created_by: here.editor.email });
    expect(data[0].values).toEqual({ persistence: { size: "20Gi" }, auth: { password: PASSWORD_REF } });
    expect(data[1].values).toEqual({ auth: { password: PASSWORD_REF } });

    expect((await refused(world, here.viewer, "PATCH", path, body)).status).toBe(403);
    expect((await refused(world, here.member, "PATCH", path, body)).status).toBe(404);
    expect((await world.anyone.patch(path, body)).status).toBe(401);
    expect((await here.editor.api.patch(`/addon-instances/${NOBODY}`, body)).status).toBe(404);
  });

  test("[AD19] given values replace all values, and secrets stay or are replaced one by one", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here, { name: "mq", addon_definition_id: RABBITMQ, values: { replicaCount: 3 } });
    const path = `/addon-instances/${id}`;
    const before = await secretsOf(world, vault, id);

    const left = await here.editor.api.patch(path, { values: { auth: { username: "shop" } } });
    expect(left.body.values).toEqual({
      auth: {
        username: "shop",
        password: { secret_ref: { name: "mq-addon-values", key: "auth.password" } },
        erlangCookie: { secret_ref: { name: "mq-addon-values", key: "auth.erlangCookie" } },
      },
    });
    expect((await here.editor.api.patch(path, { values: left.body.values })).body.values).toEqual(left.body.values);
    expect(await secretsOf(world, vault, id)).toEqual(before);

    const auth = { ...left.body.values.auth, password: "a new secret of ours" };
    expect((await here.editor.api.patch(path, { values: { auth } })).body.values).toEqual(left.body.values);
    expect(await secretsOf(world, vault, id)).toEqual({ ...before, "auth.password": "a new secret of ours" });
  });

  test("[AD20] a secret reference that was not read from this addon instance is a 422", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const values = { auth: { password: { secret_ref: { name: "other", key: "auth.password" } } } };
    const answer = await refused(world, here.editor, "PATCH", `/addon-instances/${id}`, { values });
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body.values.auth.password", "value_error"]]]);
  });

  test("[AD22] a change of the chart version leaves the values", async () => {
    const here = await world.projectWithPeople();
    const { id, values } = await addonIn(here, { values: { persistence: { size: "20Gi" } } });
    const path = `/addon-instances/${id}`;
    const body = { chart_version: "0.10.0", allow_downgrade: true };
    expect(await here.editor.api.patch(path, body)).toMatchObject({
      status: 200,
      body: { chart_version: "0.10.0", values, revision_number: 2 },
    });
    const answer = await refused(world, here.editor, "PATCH", path, { chart_version: "9.9.9" });
    expect([answer.status, problemsOf(answer)]).toEqual([422, [["body.chart_version", "value_error"]]]);
  });

  test("[AD28] an addon instance whose definition is gone can be read and rolled back, and not changed otherwise", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const path = `/addon-instances/${id}`;
    const gone = { definition_id: NOBODY };
    await world.database.kysely.updateTable("addon_instances").set(gone).where("id", "=", id).execute();
    expect((await here.viewer.api.get(path)).status).toBe(200);
    expect(await here.editor.api.post(`${path}/rollback`, { revision_number: 1 })).toMatchObject({
      status: 200,
      body: { revision_number: 2, values: { auth: { password: PASSWORD_REF } } },
    });
    for (const body of [{ values: {} }, { chart_version: "0.10.0" }]) {
      expect((await refused(world, here.editor, "PATCH", path, body)).status).toBe(409);
    }
  });
});

describe("rolling an instance back", () => {
  test.each([{}, { revision_number: 1, revision_id: NOBODY }])(
    "[AD23] a rollback of an addon instance with %j is a 422, because it needs exactly one revision",
    async (body) => {
      const answer = await refused(world, place.editor, "POST", `/addon-instances/${NOBODY}/rollback`, body);
      expect([answer.status, problemsOf(answer)]).toEqual([422, [["body", "value_error"]]]);
    },
  );

  test("[AD23] a rollback restores values and chart version as a new revision, and no secret", async () => {
    const here = await world.projectWithPeople();
    const { id, values } = await addonIn(here, { values: { persistence: { size: "20Gi" } }, chart_version: "0.10.0" });
    const path = `/addon-instances/${id}`;
    await here.editor.api.patch(path, { values: { auth: { password: "a new secret of ours" } } });
    await here.editor.api.patch(path, { chart_version: "0.20.1" });
    const restored = { values, chart_version: "0.10.0", revision_number: 4, generation: 4 };
    const body = { revision_number: 1, allow_downgrade: true };
    expect(await here.editor.api.post(`${path}/rollback`, body)).toMatchObject({
      status: 200,
      body: restored,
    });
    expect(await secretsOf(world, vault, id)).toEqual({ "auth.password": "a new secret of ours" });
    const { data } = (await here.editor.api.get(`${path}/revisions`)).body;
    expect(data[0]).toMatchObject({ revision_number: 4, notes: "Rollback to revision 1.", chart_version: "0.10.0" });

    const { revision_id } = data[1];
    expect(await here.editor.api.post(`${path}/rollback`, { revision_id })).toMatchObject({
      status: 200,
      body: { revision_number: 5, chart_version: "0.20.1" },
    });
  });

  test("[AD4402] the 200 newest revisions of an addon instance are kept, and counted", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const { kysely: db } = world.database;
    const first = await db
      .selectFrom("addon_revisions")
      .selectAll()
      .where("addon_instance_id", "=", id)
      .executeTakeFirstOrThrow();
    const copies = Array.from({ length: 249 }, (_, index) => ({
      ...first,
      id: crypto.randomUUID(),
      revision_number: index + 2,
      values: JSON.stringify(first.values),
    }));
    await db.insertInto("addon_revisions").values(copies).execute();
    await db.updateTable("addon_instances").set({ revision_number: 250 }).where("id", "=", id).execute();
    const path = `/addon-instances/${id}`;
    await here.editor.api.patch(path, { values: { persistence: { size: "20Gi" } } });
    const { body } = await here.viewer.api.get(`${path}/revisions?items_per_page=200`);
    expect(body).toMatchObject({ total_count: 200, has_more: false });
    expect(body.data.map(({ revision_number }: { revision_number: number }) => revision_number)).toEqual(
      Array.from({ length: 200 }, (_, index) => 251 - index),
    );
    expect((await here.editor.api.post(`${path}/rollback`, { revision_number: 51 })).status).toBe(404);
  });

  test("[AD23] a rollback to an unknown revision or one of another addon instance is a 404", async () => {
    const here = await world.projectWithPeople();
    const [one, two] = [await addonIn(here, { name: "one" }), await addonIn(here, { name: "two" })];
    const ofTwo = (await here.editor.api.get(`/addon-instances/${two.id}/revisions`)).body.data[0].revision_id;
    const path = `/addon-instances/${one.id}/rollback`;
    const unknown = { status: 404, body: { detail: "Revision not found." } };
    for (const body of [{ revision_number: 2 }, { revision_id: NOBODY }, { revision_id: ofTwo }]) {
      expect(await refused(world, here.editor, "POST", path, body)).toMatchObject(unknown);
    }
    expect((await refused(world, here.editor, "POST", path, { revision_number: 0 })).status).toBe(422);
    expect((await refused(world, here.viewer, "POST", path, { revision_number: 1 })).status).toBe(403);
    expect((await refused(world, here.stranger, "POST", path, { revision_number: 1 })).status).toBe(404);
    expect((await world.anyone.post(path, { revision_number: 1 })).status).toBe(401);
  });
});

describe("an older chart version of an addon that keeps data", () => {
  const guarded = (from_version: string, to_version: string) => ({
    status: 409,
    body: { detail: { code: "stateful_downgrade", from_version, to_version } },
  });

  test("[AD37] an older chart version of a stateful addon needs allow_downgrade, which is in the audit log", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const path = `/addon-instances/${id}`;
    for (const body of [{ chart_version: "0.10.0" }, { chart_version: "0.10.0", allow_downgrade: false }]) {
      expect(await refused(world, here.editor, "PATCH", path, body)).toMatchObject(guarded("0.20.1", "0.10.0"));
    }
    expect(await here.viewer.api.get(path)).toMatchObject({ body: { chart_version: "0.20.1", revision_number: 1 } });
    const confirmed = { chart_version: "0.10.0", allow_downgrade: true };
    expect(await here.editor.api.patch(path, confirmed)).toMatchObject({ status: 200 });
    const audit = await world.database.kysely
      .selectFrom("audit_log")
      .select("changes")
      .where("resource_id", "=", id)
      .where("action", "=", "addon_instance.update")
      .execute();
    expect(audit).toEqual([
      { changes: { chart_version: { before: "0.20.1", after: "0.10.0" }, allow_downgrade: true } },
    ]);
    expect((await here.editor.api.patch(path, { chart_version: "0.20.1" })).status).toBe(200);
  });

  test("[AD37] a rollback to an older chart version of a stateful addon is refused, and one of values alone is not", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here, { chart_version: "0.10.0" });
    const path = `/addon-instances/${id}`;
    await here.editor.api.patch(path, { chart_version: "0.20.1" });
    await here.editor.api.patch(path, { values: { persistence: { size: "20Gi" } } });
    const back = (body: object) => here.editor.api.post(`${path}/rollback`, body);
    expect(await back({ revision_number: 1 })).toMatchObject(guarded("0.20.1", "0.10.0"));
    expect((await back({ revision_number: 2 })).status).toBe(200);
    expect((await back({ revision_number: 1, allow_downgrade: true })).status).toBe(200);
  });
});

describe("every change", () => {
  test("[AD25] concurrent changes of an addon instance have a revision each, without gaps", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const path = `/addon-instances/${id}`;
    const sizes = Array.from({ length: 12 }, (_, index) => `${index + 1}Gi`);
    const answers = await Promise.all(
      sizes.map((size) => here.editor.api.patch(path, { values: { persistence: { size } } })),
    );
    const numbers = answers.map(({ body }) => body.revision_number).toSorted((a, b) => a - b);
    expect(numbers).toEqual(sizes.map((_, index) => index + 2));

    const { data } = (await here.editor.api.get(`${path}/revisions`)).body;
    for (const { body } of answers) {
      const revision = data.find(
        ({ revision_number }: { revision_number: number }) => revision_number === body.revision_number,
      );
      expect(revision.values).toEqual(body.values);
    }
    const { body: last } = await here.editor.api.get(path);
    expect([last.revision_number, last.generation, last.values]).toEqual([13, 13, data[0].values]);
  });

  test("[AD26] a change of an addon instance with an If-Match of an earlier state is a 412", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const path = `/addon-instances/${id}`;
    const etag = (await here.editor.api.get(path)).headers.get("etag") ?? "";
    const body = { values: {} };
    const first = await here.editor.api.send("PATCH", path, { body, headers: { "if-match": etag } });
    expect([first.status, first.headers.get("etag")]).toEqual([200, `"${id}.2"`]);

    const stale = { "if-match": etag };
    expect((await refused(world, here.editor, "PATCH", path, body, stale)).status).toBe(412);
    expect((await refused(world, here.editor, "POST", `${path}/rollback`, { revision_number: 1 }, stale)).status).toBe(
      412,
    );
    expect((await refused(world, here.editor, "DELETE", path, undefined, stale)).status).toBe(412);
  });

  test("[AD27] a change of an addon instance raises the cluster's desired state and is announced", async () => {
    const here = await world.projectWithPeople();
    const { kysely: db } = world.database;
    const announced = new Promise<Record<string, unknown>[]>((resolve) => {
      const events: Record<string, unknown>[] = [];
      const stopListening = world.bus.subscribe(EVENTS_TOPIC, (event) => {
        const { type, project_id } = event as Record<string, unknown>;
        if (type === "addon" && project_id === here.project) events.push(event as Record<string, unknown>);
        if (events.length < 3) return;
        stopListening();
        resolve(events);
      });
    });
    const desired = () =>
      db.selectFrom("desired_resources").selectAll().where("cluster_id", "=", here.cluster).executeTakeFirstOrThrow();

    const { id } = await addonIn(here);
    const key = `addon_instance/project-${here.project}/db`;
    expect(await desired()).toMatchObject({ kind: "addon_instance", resource_id: id, key, generation: 1, revision: 1 });
    await here.editor.api.patch(`/addon-instances/${id}`, { values: {} });
    await here.editor.api.post(`/addon-instances/${id}/rollback`, { revision_number: 1 });
    expect(await desired()).toMatchObject({ generation: 3, revision: 3, removed_at: null });

    const events = await announced;
    expect(events[0]).toMatchObject({
      type: "addon",
      org_id: here.org,
      cluster_id: here.cluster,
      project_id: here.project,
      resource: { type: "addon", id, name: "db", namespace: `project-${here.project}` },
      phase: "pending",
      revision_number: 1,
    });
    expect(events.map(({ revision_number }) => revision_number)).toEqual([1, 2, 3]);
  });
});
