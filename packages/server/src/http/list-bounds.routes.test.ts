import { createHash } from "node:crypto";
import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test, vi } from "vitest";
import type { Credential } from "../access/caller.ts";
import { placeStore } from "../access/place.store.ts";
import { openShop, someName, WEB } from "../apps/app.fixture.ts";
import { appList, appPlace } from "../apps/app-place.store.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import type { Pipeline } from "../database/pipeline.adapter.ts";
import { orgList } from "../orgs/org-place.store.ts";
import { insertAddonInstance } from "../projects/contents.fixture.ts";

const world = await startWorld();
const shop = await openShop(world);
afterAll(() => world.stop());

/** What no answer of a list may hold. PostgreSQL cannot compress it to nearly nothing. */
const LONG = Array.from({ length: 1_000 }, (_, index) => `a long text ${(index * 7_919) % 10_007}`).join("\n");

const LONG_COMPONENT = {
  name: "web",
  workload_spec: {
    image: "nginx:1.29",
    command: ["sh", "-c", LONG],
    env: [
      { name: "TEXT", value: LONG },
      { name: "HOST", export_ref: { component: "api", key: "host" } },
    ],
    files: [
      { path: "/etc/app/long", content: LONG },
      { path: "/etc/app/token", secret: "TOKEN" },
    ],
    annotations: { note: LONG.slice(0, 4_000) },
    sidecars: [{ name: "proxy", image: "envoy:1", args: [LONG] }],
    volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }],
  },
  exports: { text: LONG },
  secrets: { TOKEN: "t" },
};

async function longApp(name = someName()) {
  const components = [
    LONG_COMPONENT,
    { name: "api", workload_spec: { image: "api:1", ports: [{ name: "http", port: 80 }] } },
  ];
  const created = await shop.editor.api.post("/apps", { name, project_id: shop.project, components });
  expect(created.status).toBe(201);
  return created.body;
}

test("[PG14] an app in a list has digests in place of contents, and the app itself has everything", async () => {
  const { id, name } = await longApp();
  const lists = [`/apps?project_id=${shop.project}`, "/apps", `/projects/${shop.project}/apps`, "/app-summaries"];
  for (const path of lists) {
    const { status, body } = await shop.viewer.api.get(path);
    expect([status, JSON.stringify(body).includes("a long text")]).toEqual([200, false]);
  }
  const { body } = await shop.viewer.api.get(`/projects/${shop.project}/apps`);
  const item = body.data.find((app: { id: string }) => app.id === id);
  expect(item.components[0]).toEqual({
    name: "web",
    type: "workload",
    workload_spec: {
      kind: "deployment",
      image: "nginx:1.29",
      replicas: 1,
      env: [{ name: "HOST", export_ref: { component: "api", key: "host" } }],
      files: [
        {
          path: "/etc/app/long",
          size_bytes: LONG.length,
          digest: `sha256:${createHash("sha256").update(LONG).digest("hex")}`,
        },
        { path: "/etc/app/token", secret: "TOKEN" },
      ],
      sidecars: [{ name: "proxy", image: "envoy:1" }],
      volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }],
    },
    ready_replicas: null,
  });
  expect(item.drift).toEqual({ state: "unknown", summary: null, detected_at: null });
  const { body: whole } = await shop.viewer.api.get(shop.path(name));
  expect(whole.components[0].workload_spec.files[0].content).toBe(LONG);
  expect(whole.components[0].secrets).toEqual(["TOKEN"]);
});

test("[PG14] an app that is changed is listed as changed, and a paused one with no replicas", async () => {
  const { name } = await longApp();
  const change = { op: "patch", name: "web", workload_spec: { image: "nginx:2", files: null } };
  await shop.editor.api.patch(shop.path(name), { components: [change] });
  await shop.editor.api.post(shop.path(name, "/pause"));
  const { body } = await shop.viewer.api.get(`/apps?project_id=${shop.project}&items_per_page=1`);
  expect(body.data[0]).toMatchObject({ name, paused: true });
  const { image, replicas, files } = body.data[0].components[0].workload_spec;
  expect({ image, replicas, files }).toEqual({ image: "nginx:2", replicas: 0 });
});

test("[PG15] addon instances, deployments and templates are listed without their contents", async () => {
  const { name } = await longApp();
  const location = { org_id: shop.org, cluster_id: shop.cluster, project_id: shop.project, namespace: shop.namespace };
  const instance = await insertAddonInstance(world.database.kysely, location, someName());
  await world.database.kysely
    .updateTable("addon_instances")
    .set({ values: JSON.stringify({ text: LONG }), drift_fields: JSON.stringify([{ pointer: LONG }]) })
    .where("id", "=", instance)
    .execute();
  const template = { name: someName(), namespace: shop.namespace, project_id: shop.project, components: [WEB] };
  await shop.editor.api.post("/stack-templates", { ...template, parameters: [] });
  const parts = {
    [`/addon-instances?project_id=${shop.project}`]: ["values"],
    [`/addon-instances?project_id=${shop.project}&phase=ready`]: ["values"],
    [shop.path(name, "/deployments")]: ["spec"],
    "/stack-templates": ["components", "parameters"],
  };
  for (const [path, left] of Object.entries(parts)) {
    const { status, body } = await shop.viewer.api.get(path);
    expect([path, status, JSON.stringify(body).includes("a long text")]).toEqual([path, 200, false]);
    expect(body.data.length).toBeGreaterThan(0);
    for (const field of left) expect(body.data[0]).not.toHaveProperty(field);
  }
  expect((await shop.viewer.api.get(`/addon-instances/${instance}`)).body.values).toEqual({ text: LONG });
});

test("[PG12] [PG13] revisions with long values come in pages that end early, each once and with the true total", async () => {
  const location = { org_id: shop.org, cluster_id: shop.cluster, project_id: shop.project, namespace: shop.namespace };
  const id = await insertAddonInstance(world.database.kysely, location, someName());
  const count = 30;
  const values = JSON.stringify({ text: "x".repeat(500_000) });
  const rows = Array.from({ length: count }, (_, index) => ({
    ...{ id: crypto.randomUUID(), addon_instance_id: id, revision_number: index + 1, values, chart_version: "1" },
    created_at: new Date(),
  }));
  for (const row of rows) await world.database.kysely.insertInto("addon_revisions").values(row).execute();
  await world.database.kysely
    .updateTable("addon_instances")
    .set({ revision_number: count })
    .where("id", "=", id)
    .execute();
  const path = `/addon-instances/${id}/revisions?items_per_page=200`;
  const read: number[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await shop.viewer.api.get(cursor === null ? path : `${path}&cursor=${cursor}`);
    expect(body).toMatchObject({ total_count: count, has_more: body.next_cursor !== null });
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(4 * 1024 * 1024);
    read.push(...body.data.map((revision: { revision_number: number }) => revision.revision_number));
    cursor = body.next_cursor;
  } while (cursor !== null);
  expect(read).toEqual(rows.map(({ revision_number }) => revision_number).reverse());
  expect(await shop.viewer.api.get(`${path}&cursor=No!`)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["query", "cursor"] }] },
  });
});

const MOST_BYTES = 4 * 1024 * 1024;

/** Follows the cursor of a list without pages to its end. Returns the items, and how many answers they came in. */
async function readAll(path: string): Promise<{ items: Record<string, unknown>[]; answers: number; total: number }> {
  const items: Record<string, unknown>[] = [];
  for (let [answers, cursor, total] = [1, null as string | null, 0]; ; answers++) {
    const { status, body } = await shop.viewer.api.get(cursor === null ? path : `${path}?cursor=${cursor}`);
    expect(status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(MOST_BYTES);
    if (answers > 1) expect(body.total_count).toBe(total);
    total = body.total_count;
    items.push(...body.data);
    cursor = body.next_cursor;
    if (cursor === null) return { items, answers, total };
  }
}

test("[PG17] the exports of a project come whole, and within the bound of an answer where they are many", async () => {
  const path = `/projects/${shop.project}/available-exports`;
  const keys = Array.from({ length: 10 }, (_, index) => `${"k".repeat(20_000)}_${index}`);
  const exports = Object.fromEntries(keys.map((key) => [key, "x"]));
  const location = { org_id: shop.org, cluster_id: shop.cluster, project_id: shop.project, namespace: shop.namespace };
  const before = await readAll(path);
  expect(before.answers).toBe(1);
  const ids: string[] = [];
  for (let made = 0; made < 25; made++) {
    ids.push(await insertAddonInstance(world.database.kysely, location, someName(), { exports }));
  }
  const { items, answers, total } = await readAll(path);
  expect(answers).toBeGreaterThan(1);
  expect(total).toBe(before.total + 250);
  const found = items.map(({ addon_instance_id, key }) => [addon_instance_id, key]);
  expect(found.slice(0, 250)).toEqual(ids.toReversed().flatMap((id) => keys.map((key) => [id, key])));
  expect(items).toHaveLength(total);
});

test("[PG17] the overview of secrets has every component once, however long the keys are, and whole with few", async () => {
  const path = `/projects/${shop.project}/secrets-overview`;
  const { name } = await longApp();
  const registry = { name: someName(), server_url: "quay.io", username: "robot", password: "a registry's password" };
  await shop.editor.api.post(`/projects/${shop.project}/registry-secrets`, registry);
  const before = await readAll(path);
  expect(before.answers).toBe(1);
  expect(before.items).toContainEqual(expect.objectContaining({ kind: "component", name: "web", keys: ["TOKEN"] }));
  const { id } = (await shop.viewer.api.get(shop.path(name))).body;
  await sql`
    insert into app_secrets (id, app_id, component, key, sealed_value, updated_at)
    select gen_random_uuid(), ${id}, 'many-' || component, key || repeat('k', 240), 'x', now()
    from generate_series(100, 199) component, generate_series(100, 299) key
  `.execute(world.database.kysely);
  const { items, answers, total } = await readAll(path);
  expect(answers).toBeGreaterThan(1);
  expect(total).toBe(before.total + 100);
  const many = items.filter((item) => String(item["name"]).startsWith("many-"));
  expect(many.map((item) => item["name"])).toEqual(Array.from({ length: 100 }, (_, index) => `many-${index + 100}`));
  expect(new Set(many.map(({ keys }) => (keys as string[]).length))).toEqual(new Set([200]));
  expect(items.filter(({ kind }) => kind === "registry")).toEqual(
    before.items.filter((item) => item["kind"] === "registry"),
  );
  expect(items).toHaveLength(total);
  const past = await shop.viewer.api.get(`${path}?cursor=zz`);
  expect(past).toMatchObject({ status: 200, body: { data: [], total_count: total, next_cursor: null } });
});

test("[PG17] the roles on a project go on at a cursor", async () => {
  const path = `/projects/${shop.project}/rbac`;
  const { items, total } = await readAll(path);
  expect(total).toBeGreaterThan(1);
  const { body } = await shop.viewer.api.get(`${path}?cursor=1`);
  expect(body).toEqual({ data: items.slice(1), total_count: total, next_cursor: null });
});

test("[PG17] the preview of a project's deletion reads no more of its apps than an answer has room for", async () => {
  const { name } = await longApp();
  const listed = JSON.stringify([{ name: "web", workload_spec: { image: "x".repeat(500_000) } }]);
  await sql`
    insert into apps (id, org_id, cluster_id, project_id, namespace, name, components, generation, revision, phase, created_at, updated_at)
    select gen_random_uuid(), org_id, cluster_id, project_id, namespace, name || '-' || copy, '[]', 1, 1, 'pending', now(), now()
    from apps, generate_series(1, 20) copy where name = ${name}
  `.execute(world.database.kysely);
  await sql`update apps set listed_components = ${listed} where name like ${`${name}-%`}`.execute(
    world.database.kysely,
  );
  const { status, body } = await world.admin.api.get(`/projects/${shop.project}/deletion-preview`);
  expect([status, body.truncated]).toEqual([200, true]);
  const copies = body.apps.filter((app: { name: string }) => app.name.startsWith(`${name}-`));
  expect(copies.length).toBeLessThan(20);
  await sql`delete from apps where name like ${`${name}-%`}`.execute(world.database.kysely);
});

test("[DB28] only short rows pass the database connection that all requests share", async () => {
  const { name } = await longApp();
  const passed: number[] = [];
  const pipeline: Pipeline = {
    ...world.database.pipeline,
    async read(statement, values) {
      const rows = await world.database.pipeline.read(statement, values);
      passed.push(JSON.stringify(rows).length);
      return rows as never;
    },
  };
  const places = placeStore({ ...world.database, pipeline });
  const session = await world.database.kysely
    .selectFrom("sessions")
    .select("id")
    .where("user_id", "=", shop.viewer.id)
    .executeTakeFirstOrThrow();
  const credential: Credential = { kind: "session", sessionId: session.id, userId: shop.viewer.id, expiresAtMs: 0 };
  const now = world.clock.now();
  const journal = JSON.stringify(
    Array.from({ length: 500 }, () => ({ stage: "verify", status: "completed", detail: LONG })),
  );
  await world.database.kysely
    .updateTable("clusters")
    .set({ install_journal: journal, stage: "record", stage_status: "completed" })
    .where("id", "=", shop.cluster)
    .execute();

  const app = await places.find(
    appPlace,
    credential,
    { projectId: shop.project, namespace: shop.namespace, name },
    now,
  );
  expect(app?.place?.components[0]?.workload_spec?.files?.[0]?.content).toBe(LONG);
  expect(app?.place?.secret_paths).toEqual(["web/TOKEN"]);
  const page = { limit: 100, offset: 0 };
  const list = await places.list(appList, credential, { project_id: shop.project }, page, now);
  expect(list?.rows.some((row) => row.name === name)).toBe(true);
  expect((await places.find(clusterPlace, credential, shop.cluster, now))?.place?.install_journal).toHaveLength(500);
  expect((await places.list(orgList, credential, { all: false }, page, now))?.rows).toHaveLength(1);
  expect(passed).toHaveLength(3);
  expect(Math.max(...passed)).toBeLessThan(40_000);
});

test("[PG16] of a user's lists without pages one is under way, and neither lists with pages nor other users wait for it", async () => {
  const path = `/projects/${shop.project}/registry-secrets`;
  const holder = await world.database.pool.connect();
  await holder.query("begin; lock table registry_secrets");
  const asked = Array.from({ length: 102 }, () => shop.viewer.api.get(path));
  const refused = await Promise.race(asked);
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining("1 list without pages") } });
  expect((await shop.viewer.api.get("/projects")).status).toBe(200);
  expect((await shop.editor.api.get("/projects")).status).toBe(200);
  await holder.query("commit");
  holder.release();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(101);
});

test("[PG16] a user's lists wait for each other, one too many is a 429, and other users do not wait", async () => {
  const busy = shop.viewer;
  const holder = await world.database.pool.connect();
  await holder.query("begin; lock table apps");
  const asked = Array.from({ length: 105 }, () => busy.api.get("/apps"));
  const refused = await Promise.race(asked);
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining("4 lists under way") } });
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await busy.api.get("/user/me")).status).toBe(200);
  for (const path of ["/user/me", "/orgs", "/projects"]) {
    expect([path, (await shop.editor.api.get(path)).status]).toEqual([path, 200]);
  }
  await holder.query("commit");
  holder.release();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(104);
  expect((await busy.api.get("/apps")).status).toBe(200);
});

async function waitingForTheTable(): Promise<number | undefined> {
  const waiting = sql<{ waiting: number }>`
    select count(*)::int as waiting from pg_locks where relation = 'apps'::regclass and not granted`;
  return (await waiting.execute(world.database.kysely)).rows[0]?.waiting;
}

test("[PG600] of an organization's lists six are read at once, whoever asks for them, and another organization does not wait", async () => {
  const crowd = [
    shop.viewer,
    shop.editor,
    await world.person({ org: shop.org }),
    await world.person({ org: shop.org }),
  ];
  const elsewhere = await world.person({ org: await world.org() });
  const holder = await world.database.pool.connect();
  await holder.query("begin; lock table apps");
  const asked = crowd.flatMap(({ api }) => Array.from({ length: 4 }, () => api.get("/apps")));
  await vi.waitFor(async () => expect(await waitingForTheTable()).toBe(6), { timeout: 20_000 });
  const alsoAsked = shop.editor.api.get("/orgs");
  for (const path of ["/orgs", "/projects"]) {
    expect([path, (await elsewhere.api.get(path)).status]).toEqual([path, 200]);
  }
  expect((await shop.editor.api.get("/user/me")).status).toBe(200);
  expect(await waitingForTheTable()).toBe(6);
  await holder.query("commit");
  holder.release();
  const answers = await Promise.all([...asked, alsoAsked]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test("[PG5401] overviews and searches take the turns of their organization's lists, a connection each, and another organization's do not wait", async () => {
  const crowd = [shop.viewer, shop.editor];
  const [elsewhere, otherOrg] = await world.org().then(async (org) => [await world.person({ org }), org] as const);
  const paths = [`/orgs/${shop.org}/overview`, "/search?q=web", `/orgs/${shop.org}/overview`, "/search?q=web", "/apps"];
  // Nobody waits longer than five seconds for a table, so all that takes its time comes before the lock.
  const people = await Promise.all(
    paths.map(async (path) => ({ path, api: (await world.person({ org: shop.org })).api })),
  );
  const holder = await world.database.pool.connect();
  await holder.query("begin; lock table apps");
  const asked = crowd.flatMap(({ api }) => paths.map((path) => api.get(path)));
  asked.push(...people.map(({ path, api }) => api.get(path)));
  await vi.waitFor(async () => expect(await waitingForTheTable()).toBe(6), { timeout: 20_000 });
  expect((await elsewhere.api.get("/projects")).status).toBe(200);
  expect(await waitingForTheTable()).toBe(6);
  // It is not behind the others: it has a connection, and waits for the table as they do.
  asked.push(elsewhere.api.get(`/orgs/${otherOrg}/overview`));
  await vi.waitFor(async () => expect(await waitingForTheTable()).toBe(7), { timeout: 20_000 });
  await holder.query("commit");
  holder.release();
  const answers = await Promise.all(asked);
  expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
});
