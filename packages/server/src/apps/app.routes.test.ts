import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole, insertProject } from "../access/bindings.fixture.ts";
import { newId } from "../id.adapter.ts";
import { openShop, someName, WEB } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);

describe("POST /apps", () => {
  test("[AP1] POST /apps stores an app with its components and answers with the whole app", async () => {
    const name = someName();
    const created = await shop.editor.api.post("/apps", {
      name,
      project_id: shop.project,
      components: [{ name: "web", workload_spec: { image: "nginx:1.29" }, secrets: { API_KEY: "s3cret" } }],
    });
    expect(created.status).toBe(201);
    const now = world.clock.now().toISOString();
    expect(created.body).toEqual({
      id: created.body.id,
      name,
      namespace: shop.namespace,
      project_id: shop.project,
      cluster_id: shop.cluster,
      org_id: shop.org,
      description: null,
      components: [
        {
          name: "web",
          type: "workload",
          workload_spec: { kind: "deployment", image: "nginx:1.29", replicas: 1 },
          secrets: ["API_KEY"],
          ready_replicas: null,
        },
      ],
      paused: false,
      suspended: null,
      phase: "pending",
      phase_since: now,
      phase_reason: "operator_disconnected",
      phase_message: "No operator of the cluster has connected yet. The change is delivered when one does.",
      components_status: [],
      observed_at: null,
      stale: true,
      generation: 1,
      observed_generation: null,
      revision: 1,
      drift: { state: "unknown", summary: null, fields: [], detected_at: null, repaired: [] },
      warnings: [],
      created_at: now,
      updated_at: now,
    });
    expect(await shop.viewer.api.get(shop.path(name))).toMatchObject({ status: 200, body: created.body });
  });

  test("[AP2] POST /apps needs an editor of the project in the body", async () => {
    const body = () => ({ name: someName(), project_id: shop.project, components: [WEB] });
    expect((await world.anyone.post("/apps", body())).status).toBe(401);
    expect((await shop.viewer.api.post("/apps", body())).status).toBe(403);
    expect((await shop.member.api.post("/apps", body())).status).toBe(404);
    expect((await shop.stranger.api.post("/apps", body())).body).toEqual({ detail: "Project not found." });
    expect((await shop.editor.api.post("/apps", { ...body(), project_id: newId() })).status).toBe(404);
    expect((await shop.editor.api.post("/apps", body())).status).toBe(201);
  });

  test("[AP3] POST /apps refuses a name that another app of the project has, and accepts it in another project", async () => {
    const name = await shop.app();
    const body = { name, project_id: shop.project, components: [{ name: "web", workload_spec: {} }] };
    expect(await shop.editor.api.post("/apps", body)).toMatchObject({
      status: 409,
      body: { detail: { code: "name_taken", message: `The project already has an app ${name}.`, name } },
    });
    const elsewhere = await insertProject(world.database.kysely, shop.org, shop.cluster);
    expect((await world.admin.api.post("/apps", { ...body, project_id: elsewhere })).status).toBe(201);
  });

  test("[AP3] of several apps with the same name that are created at once, one is created", async () => {
    const body = { name: someName(), project_id: shop.project, components: [{ name: "web", workload_spec: {} }] };
    const answers = await Promise.all([1, 2, 3].map(() => shop.editor.api.post("/apps", body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test("[AP4] POST /apps reports every invalid field at once, before it looks up the project", async () => {
    const components = [
      { name: "web", workload_spec: { image: "nginx", replicas: 0 }, colour: "red" },
      { name: "Web_2" },
    ];
    const { status, body } = await shop.editor.api.post("/apps", { project_id: newId(), components });
    expect(status).toBe(422);
    expect(body.detail).toEqual(
      expect.arrayContaining([
        { loc: ["body", "name"], msg: "Field required", type: "missing" },
        { loc: ["body", "components", 0, "workload_spec", "replicas"], msg: expect.any(String), type: "greater_than" },
        { loc: ["body", "components", 0, "colour"], msg: expect.any(String), type: "extra_forbidden" },
        { loc: ["body", "components", 1, "name"], msg: expect.any(String), type: "string_pattern_mismatch" },
      ]),
    );
  });

  test("[AP4] problems that no schema expresses are a 422 at their place too, and nothing is stored", async () => {
    const name = someName();
    const { status, body } = await shop.editor.api.post("/apps", {
      name,
      project_id: newId(),
      components: [WEB, WEB, { name: "api", workload_spec: { autoscale: { min: 3, max: 2, cpu_percent: 70 } } }],
    });
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      { loc: ["body", "components", 1, "name"], msg: "Two components have the name web.", type: "value_error" },
      {
        loc: ["body", "components", 2, "workload_spec", "autoscale", "max"],
        msg: expect.any(String),
        type: "value_error",
      },
    ]);
    expect((await shop.editor.api.get(shop.path(name))).status).toBe(404);
  });

  test("[AP174] POST /apps refuses an app that can never run, with all problems in one answer, and stores nothing", async () => {
    const name = someName();
    const over = { requests: { cpu: "2" }, limits: { cpu: "1" } };
    const served = { ports: [{ name: "http", port: 80 }], ingress: { host: `${name}.example.com` } };
    const { status, body } = await shop.editor.api.post("/apps", {
      name,
      project_id: shop.project,
      components: [
        { name: "web", workload_spec: { ...served, resources: over } },
        { name: "api", workload_spec: served },
        { name: "job", workload_spec: { kind: "job", ...served, ingress: { host: "b.example.com", port: 80 } } },
        { name: "up", workload_spec: { ...served, ingress: { host: "c.example.com", path: "/a/../b" } } },
      ],
    });
    expect({ status, locs: body.detail.map(({ loc }: { loc: unknown[] }) => loc.slice(2).join(".")) }).toEqual({
      status: 422,
      locs: [
        "0.workload_spec.resources.requests.cpu",
        "2.workload_spec.ingress.port",
        "3.workload_spec.ingress.path",
        "1.workload_spec.ingress",
      ],
    });
    expect((await shop.editor.api.get(shop.path(name))).status).toBe(404);
    const none = await shop.editor.api.post("/apps", { name, project_id: shop.project, components: [] });
    expect(none).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "components"], type: "too_short" }] } });
  });

  test("[AP182] exportRef is accepted as export_ref and stored and answered as such; both together are a 422", async () => {
    const ref = { component: "db", key: "url" };
    const web = (env: object) => ({ ...WEB, workload_spec: { image: "nginx", env: [{ name: "URL", ...env }] } });
    const db = { ...WEB, name: "db", exports: { url: "x" } };
    const body = (component: object) => ({ name: someName(), project_id: shop.project, components: [component, db] });
    const made = await shop.editor.api.post("/apps", body({ ...web({ exportRef: ref }), exportRefs: [ref] }));
    const stored = { workload_spec: { env: [{ name: "URL", export_ref: ref }] }, export_refs: [ref] };
    expect(made).toMatchObject({ status: 201, body: { components: [stored, {}] } });
    expect(await shop.editor.api.post("/apps", body(web({ exportRef: ref, export_ref: ref })))).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ["body", "components", 0, "workload_spec", "env", 0, "exportRef"], type: "extra_forbidden" }],
      },
    });
    const patch = { components: [{ op: "patch", name: "web", exportRefs: null, workload_spec: { env: null } }] };
    const patched = await shop.editor.api.patch(shop.path(made.body.name), patch);
    expect(patched.body.components[0]).not.toHaveProperty("export_refs");
  });

  test("[AP5] a component may have no image, and an export_ref may name no component of the app", async () => {
    const name = await shop.app([{ name: "web", workload_spec: {}, export_refs: [{ component: "db" }] }]);
    expect((await shop.viewer.api.get(shop.path(name))).body).toMatchObject({ phase: "pending" });
  });

  test("[AP179] an app that names what it does not have is answered with warnings", async () => {
    const files = [{ path: "/etc/key", secret: "KEY" }];
    const env = [{ name: "API", export_ref: { component: "api", key: "uri" } }];
    const web = { name: "web", workload_spec: { files, env }, export_refs: [{ component: "db" }] };
    const name = await shop.app([
      { ...web, secrets: { KEY: "v" } },
      { ...WEB, name: "api" },
    ]);
    expect((await shop.editor.api.delete(shop.path(name, "/components/web/secrets/KEY"))).status).toBe(204);
    const made = await shop.viewer.api.get(shop.path(name));
    expect(made.body.warnings).toMatchObject([
      { code: "MissingImage", component: "web", missing: null },
      { code: "MissingSecret", path: ["components", 0, "workload_spec", "files", 0, "secret"] },
      {
        code: "UnknownComponent",
        component: "web",
        missing: "db",
        message: expect.stringMatching(/addon_spec.instance db/),
      },
      { code: "UnknownExport", path: ["components", 0, "workload_spec", "env", 0, "export_ref", "key"] },
    ]);
    const workload_spec = { image: "nginx", env: null };
    const mended = await shop.editor.api.patch(shop.path(name), {
      components: [{ op: "patch", name: "web", export_refs: null, secrets: { KEY: "v" }, workload_spec }],
    });
    expect(mended.body.warnings).toEqual([]);
  });

  test("[AP6] a project that is being deleted takes no new app", async () => {
    const project = await insertProject(world.database.kysely, shop.org, shop.cluster);
    await world.database.kysely
      .updateTable("projects")
      .set({ lifecycle: "cleanup_pending" })
      .where("id", "=", project)
      .execute();
    const made = await world.admin.api.post("/apps", {
      name: someName(),
      project_id: project,
      components: [{ name: "web", workload_spec: {} }],
    });
    expect(made.status).toBe(409);
  });

  test("[AP7] POST /apps with the same Idempotency-Key creates one app and repeats the first answer", async () => {
    const body = { name: someName(), project_id: shop.project, components: [WEB] };
    const again = shop.editor.api.with({ "idempotency-key": newId() });
    const [first, second] = [await again.post("/apps", body), await again.post("/apps", body)];
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
  });
});

describe("GET /apps", () => {
  test("[AP8] GET /apps has the apps that the caller can see, newest first, with exact totals over several projects", async () => {
    const db = world.database.kysely;
    const [one, two] = [
      await insertProject(db, shop.org, shop.cluster),
      await insertProject(db, shop.org, shop.cluster),
    ];
    const person = await world.person({ org: shop.org });
    await bindRole(db, person.id, "viewer", { project: one });
    await bindRole(db, person.id, "editor", { project: two });
    const made: string[] = [];
    for (const project_id of [one, two, one]) {
      made.unshift(
        (
          await world.admin.api.post("/apps", {
            name: someName(),
            project_id,
            components: [{ name: "web", workload_spec: {} }],
          })
        ).body.name,
      );
    }
    const all = await person.api.get("/apps");
    expect(all.body).toMatchObject({ total_count: 3, page: 1, items_per_page: 10, has_more: false });
    expect(names(all.body)).toEqual(made);
    const page = await person.api.get("/apps?page=2&items_per_page=2");
    expect(page.body).toMatchObject({ total_count: 3, has_more: false });
    expect(names(page.body)).toEqual(made.slice(2));
    const filtered = await person.api.get(`/apps?project_id=${one}`);
    expect(filtered.body.total_count).toBe(2);
    expect(names(filtered.body)).toEqual([made[0], made[2]]);
  });

  test("[AP8] GET /apps shows an org admin and a superuser all apps, and a plain member and a stranger none", async () => {
    const name = await shop.app();
    const admin = await world.person({ org: shop.org, role: "admin" });
    for (const { api } of [admin, world.admin]) {
      const { body } = await api.get("/apps?items_per_page=100");
      expect(names(body)).toContain(name);
      expect(body.total_count).toBe(body.data.length);
    }
    for (const { api } of [shop.member, shop.stranger]) {
      expect((await api.get("/apps")).body).toMatchObject({ data: [], total_count: 0 });
    }
  });

  test("[AP9] GET /apps filtered by an invisible or unknown project is an empty list", async () => {
    await shop.app();
    for (const project of [shop.project, newId()]) {
      const { status, body } = await shop.stranger.api.get(`/apps?project_id=${project}`);
      expect([status, body.data, body.total_count]).toEqual([200, [], 0]);
    }
    expect((await shop.viewer.api.get("/apps?project_id=nonsense")).status).toBe(422);
    expect((await world.anyone.get("/apps")).status).toBe(401);
  });
});

describe("GET /apps/{namespace}/{name}", () => {
  test("[AP10] GET /apps/{namespace}/{name} requires project_id in the query", async () => {
    const name = await shop.app();
    expect(await shop.viewer.api.get(`/apps/${shop.namespace}/${name}`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "project_id"], msg: "Field required", type: "missing" }] },
    });
  });

  test("[AP11] an app with a wrong namespace, name or project is a 404, and so is one that the caller may not see", async () => {
    const name = await shop.app();
    const elsewhere = await insertProject(world.database.kysely, shop.org, shop.cluster);
    const gone = { status: 404, body: { detail: "App not found." } };
    const query = `?project_id=${shop.project}`;
    expect(await shop.viewer.api.get(`/apps/other/${name}${query}`)).toMatchObject(gone);
    expect(await shop.viewer.api.get(`/apps/${shop.namespace}/Other${query}`)).toMatchObject(gone);
    expect(await world.admin.api.get(`/apps/${shop.namespace}/${name}?project_id=${elsewhere}`)).toMatchObject(gone);
    expect(await shop.stranger.api.get(shop.path(name))).toMatchObject(gone);
    expect((await world.anyone.get(shop.path(name))).status).toBe(401);
  });

  test("[AP12] the ETag of an app changes with the app and not with what its cluster reports", async () => {
    const name = await shop.app();
    const tag = async () => (await shop.viewer.api.get(shop.path(name))).headers.get("etag");
    const first = await tag();
    expect(first).toMatch(/^"[!-~]+"$/);
    await world.database.kysely.updateTable("apps").set({ phase: "running" }).where("name", "=", name).execute();
    expect(await tag()).toBe(first);
    const changed = await shop.editor.api.patch(shop.path(name), { description: "Changed." });
    expect(changed.headers.get("etag")).not.toBe(first);
    expect(await tag()).toBe(changed.headers.get("etag"));
  });
});
