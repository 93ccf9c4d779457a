import { createHash } from "node:crypto";
import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Credential } from "../access/caller.ts";
import { placeStore } from "../access/place.store.ts";
import { openShop, type Shop, someName, WEB } from "../apps/app.fixture.ts";
import type { Pipeline } from "../database/pipeline.adapter.ts";
import { insertAddonInstance } from "../projects/contents.fixture.ts";

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await startWorld();
  shop = await openShop(world);
});
afterAll(() => world?.stop());

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

test("[PG14] an app in a list has digests in the place of contents, and the app itself has everything", async () => {
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

test("[PG12] [PG13] revisions with long values come in early ends of pages, each once and with the true total", async () => {
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

test("[DB28] only short rows pass the connection that everybody shares", async () => {
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
  const places = placeStore({ pool: world.database.pool, pipeline });
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

  const app = await places.app(credential, { projectId: shop.project, namespace: shop.namespace, name }, now);
  expect(app?.place?.components[0]?.workload_spec?.files?.[0]?.content).toBe(LONG);
  expect(app?.place?.secret_paths).toEqual(["web/TOKEN"]);
  const page = { limit: 100, offset: 0 };
  const list = await places.apps(credential, { project_id: shop.project }, page, now);
  expect(list?.rows.some((row) => row.name === name)).toBe(true);
  expect((await places.cluster(credential, shop.cluster, now))?.place?.install_journal).toHaveLength(500);
  expect((await places.orgs(credential, { all: false }, page, now))?.rows).toHaveLength(1);
  expect(passed).toHaveLength(3);
  expect(Math.max(...passed)).toBeLessThan(40_000);
});

test("[PG16] a user's lists wait for each other, one too many is a 429, and nobody else waits", async () => {
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
