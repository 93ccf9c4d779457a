import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { addonIn, NOBODY, POSTGRESQL } from "./addon.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const place = await world.projectWithPeople();
afterAll(() => world.stop());

const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

describe("the definitions", () => {
  test("[AD1] GET /addon-definitions lists the definitions by name, in pages, for any signed-in user", async () => {
    const { addons } = await loadCatalog();
    const names = addons.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    const first = await place.stranger.api.get("/addon-definitions?items_per_page=3");
    expect(first).toMatchObject({ status: 200, body: { total_count: addons.length, has_more: true } });
    expect(first.body.data).toEqual(addons.slice(0, 3));
    const second = await place.stranger.api.get("/addon-definitions?items_per_page=3&page=2");
    expect(second.body.data).toEqual(addons.slice(3, 6));
    expect((await world.anyone.get("/addon-definitions")).status).toBe(401);
    expect((await place.stranger.api.get("/addon-definitions?items_per_page=101")).status).toBe(422);
  });

  test("[AD2] GET /addon-definitions/{id} returns the whole definition, for an id in any case", async () => {
    const { addons } = await loadCatalog();
    for (const addon of addons) {
      expect(await place.stranger.api.get(`/addon-definitions/${addon.id.toUpperCase()}`)).toMatchObject({
        status: 200,
        body: addon,
      });
    }
  });

  test("[AD2] GET /addon-definitions/{id} is a 404 for an unknown id and a 422 for a malformed one", async () => {
    expect(await place.stranger.api.get(`/addon-definitions/${NOBODY}`)).toMatchObject({
      status: 404,
      body: { detail: "Addon definition not found." },
    });
    expect((await place.stranger.api.get("/addon-definitions/postgresql")).status).toBe(422);
    expect((await world.anyone.get(`/addon-definitions/${POSTGRESQL}`)).status).toBe(401);
  });
});

describe("the list of instances", () => {
  test("[AD4] GET /addon-instances needs an organization or a project", async () => {
    const answer = await place.viewer.api.get("/addon-instances");
    expect([answer.status, answer.body]).toEqual([
      422,
      {
        detail: [
          { loc: ["query", "org_id"], msg: "Field required: give project_id or org_id, or both", type: "missing" },
          { loc: ["query", "project_id"], msg: "Field required: give project_id or org_id, or both", type: "missing" },
        ],
      },
    ]);
    expect((await place.viewer.api.get("/addon-instances?project_id=x")).status).toBe(422);
    expect((await place.viewer.api.get(`/addon-instances?org_id=${place.org}&items_per_page=0`)).status).toBe(422);
    expect((await world.anyone.get("/addon-instances")).status).toBe(401);
  });

  test("[AD5] GET /addon-instances has what the caller can see, newest first, and counts exactly that", async () => {
    const here = await world.projectWithPeople();
    const { kysely: db } = world.database;
    const elsewhere = await insertProject(db, here.org, await insertCluster(db, here.org));
    const mine = [await addonIn(here, { name: "one" }), await addonIn(here, { name: "two" })];
    const body = { name: "three", project_id: elsewhere, addon_definition_id: POSTGRESQL };
    const other = (await world.admin.api.post("/addon-instances", body)).body;
    const admin = await world.person({ org: here.org, role: "admin" });

    const [one, two] = mine.map(({ id }) => id);
    for (const person of [here.editor, here.viewer]) {
      const { body } = await person.api.get(`/addon-instances?org_id=${here.org}`);
      expect([idsOf(body), body.total_count]).toEqual([[two, one], 2]);
    }
    for (const person of [admin, world.admin]) {
      const { body } = await person.api.get(`/addon-instances?org_id=${here.org}`);
      expect([idsOf(body), body.total_count]).toEqual([[other.id, two, one], 3]);
    }
    const byProject = await admin.api.get(`/addon-instances?project_id=${elsewhere}`);
    expect([idsOf(byProject.body), byProject.body.total_count]).toEqual([[other.id], 1]);

    const page = await admin.api.get(`/addon-instances?org_id=${here.org}&items_per_page=2&page=2`);
    expect(page.body).toMatchObject({ data: [{ id: one }], total_count: 3, page: 2, has_more: false });
  });

  test("[AD5] GET /addon-instances with both filters applies both", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const both = await here.editor.api.get(`/addon-instances?project_id=${here.project}&org_id=${here.org}`);
    expect(idsOf(both.body)).toEqual([id]);
    const apart = await world.admin.api.get(`/addon-instances?project_id=${here.project}&org_id=${place.org}`);
    expect(apart.body).toMatchObject({ data: [], total_count: 0 });
  });

  test("[AD5] GET /addon-instances counts an instance once, however many roles lead to it", async () => {
    const here = await world.projectWithPeople();
    await bindRole(world.database.kysely, here.editor.id, "viewer", { cluster: here.cluster });
    await addonIn(here);
    const { body } = await here.editor.api.get(`/addon-instances?org_id=${here.org}`);
    expect([body.data.length, body.total_count]).toEqual([1, 1]);
  });

  test("[AD6] GET /addon-instances is empty for an invisible or unknown project or organization", async () => {
    const here = await world.projectWithPeople();
    await addonIn(here);
    const empty = { status: 200, body: { data: [], total_count: 0, has_more: false } };
    for (const person of [here.member, here.stranger]) {
      expect(await person.api.get(`/addon-instances?project_id=${here.project}`)).toMatchObject(empty);
      expect(await person.api.get(`/addon-instances?org_id=${here.org}`)).toMatchObject(empty);
    }
    expect(await world.admin.api.get(`/addon-instances?project_id=${NOBODY}`)).toMatchObject(empty);
  });
});

describe("an instance", () => {
  test("[AD7] whoever can see its project reads an addon instance, with an ETag", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here, { values: { auth: { database: "shop" } } });
    const answer = await here.viewer.api.get(`/addon-instances/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("etag")).toBe(`"${id}.1"`);
    expect(answer.body).toEqual({
      id,
      name: "db",
      namespace: `project-${here.project}`,
      org_id: here.org,
      cluster_id: here.cluster,
      project_id: here.project,
      addon_definition_id: POSTGRESQL,
      chart_version: "0.20.1",
      values: {
        auth: { database: "shop", password: { secret_ref: { name: "db-addon-values", key: "auth.password" } } },
      },
      revision_number: 1,
      phase: "pending",
      phase_since: world.clock.now().toISOString(),
      phase_reason: "operator_disconnected",
      phase_message: "No operator of the cluster has connected yet. The change is delivered when one does.",
      components_status: [],
      drift: { state: "unknown", summary: null, fields: [], detected_at: null, repaired: [] },
      observed_at: null,
      stale: true,
      generation: 1,
      observed_generation: null,
      exports: {},
      created_at: world.clock.now().toISOString(),
      updated_at: world.clock.now().toISOString(),
    });
  });

  test("[AD7] an addon instance shows the reported exports, secrets as references", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const exports = { host: "db.shop.svc", url: { secret_ref: { name: "db-addon-exports", key: "url" } } };
    const row = { phase: "ready", exports: JSON.stringify(exports), observed_generation: 1 } as const;
    await world.database.kysely.updateTable("addon_instances").set(row).where("id", "=", id).execute();
    const { body } = await here.viewer.api.get(`/addon-instances/${id}`);
    expect(body).toMatchObject({ phase: "ready", exports, observed_generation: 1 });
  });

  test("[AD7] an addon instance is a 404 for those who do not see its project, as an unknown one is", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here);
    const unknown = { status: 404, body: { detail: "Addon instance not found." } };
    for (const path of [`/addon-instances/${id}`, `/addon-instances/${id}/revisions`]) {
      expect(await here.stranger.api.get(path)).toMatchObject(unknown);
      expect(await here.member.api.get(path)).toMatchObject(unknown);
      expect((await world.anyone.get(path)).status).toBe(401);
      expect(await here.viewer.api.get(path.replace(id, NOBODY))).toMatchObject(unknown);
      expect((await here.viewer.api.get(path.replace(id, "db"))).status).toBe(422);
    }
  });
});

describe("the revisions", () => {
  test("[AD24] the revisions of an addon instance are listed newest first, 50 a page and at most 200", async () => {
    const here = await world.projectWithPeople();
    const { id } = await addonIn(here, { notes: "the first" });
    const { pool, kysely } = world.database;
    // As many as sixty changes leave, without making them one by one.
    await pool.query(
      `insert into addon_revisions select gen_random_uuid(), addon_instance_id, n, "values", chart_version, null, null, created_at
       from addon_revisions, generate_series(2, 60) n where addon_instance_id = $1`,
      [id],
    );
    await kysely.updateTable("addon_instances").set({ revision_number: 60 }).where("id", "=", id).execute();

    const first = (await here.viewer.api.get(`/addon-instances/${id}/revisions`)).body;
    expect(first).toMatchObject({ total_count: 60, page: 1, items_per_page: 50, has_more: true });
    const numbers = first.data.map(({ revision_number }: { revision_number: number }) => revision_number);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => 60 - index));

    const second = (await here.viewer.api.get(`/addon-instances/${id}/revisions?page=2`)).body;
    expect(second.data).toHaveLength(10);
    expect(second.data.at(-1)).toEqual({
      revision_id: expect.any(String),
      revision_number: 1,
      values: { auth: { password: { secret_ref: { name: "db-addon-values", key: "auth.password" } } } },
      chart_version: "0.20.1",
      notes: "the first",
      created_by: here.editor.email,
      created_at: world.clock.now().toISOString(),
    });
    expect((await here.viewer.api.get(`/addon-instances/${id}/revisions?items_per_page=200`)).body.data).toHaveLength(
      60,
    );
    expect((await here.viewer.api.get(`/addon-instances/${id}/revisions?items_per_page=201`)).status).toBe(422);
    for (const page of [9, 9_000_000_000_000]) {
      const past = await here.viewer.api.get(`/addon-instances/${id}/revisions?page=${page}&items_per_page=200`);
      expect(past).toMatchObject({ status: 200, body: { data: [] } });
    }
  });
});
