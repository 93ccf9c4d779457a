import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { EVENTS_TOPIC } from "../events/event.ts";
import { openShop, someName, WEB, workload } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

describe("PATCH /apps/{namespace}/{name}", () => {
  test("[AP13] PATCH /apps/{namespace}/{name} adds, removes and patches components and sets the description in one request", async () => {
    const name = await shop.app([WEB, { ...WEB, name: "old" }]);
    const changed = await shop.editor.api.patch(shop.path(name), {
      description: "What customers see.",
      components: [
        { op: "remove", name: "old" },
        { op: "add", name: "new", workload_spec: { image: "worker:1" } },
        { op: "patch", name: "web", workload_spec: { image: "nginx:1.30", replicas: null, args: ["-v"] } },
      ],
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ description: "What customers see.", revision: 2, generation: 2 });
    expect(changed.body.components).toMatchObject([
      { name: "web", workload_spec: { kind: "deployment", image: "nginx:1.30", replicas: 1, args: ["-v"] } },
      { name: "new", workload_spec: { kind: "deployment", image: "worker:1", replicas: 1 } },
    ]);
    expect((await shop.viewer.api.get(shop.path(name))).body).toEqual(changed.body);
  });

  test("[AP187] a PATCH of an app is described in words and by field in its deployment, its audit entry and its events", async () => {
    const name = await shop.app([
      { name: "web", workload_spec: { image: "example.com/web:1.5.0" }, secrets: { API_KEY: "the first value" } },
      { name: "api", workload_spec: { image: "example.com/api:2", replicas: 3 } },
    ]);
    const heard: Record<string, unknown>[] = [];
    const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => heard.push(event as Record<string, unknown>));
    const components = [
      { op: "patch", name: "web", workload_spec: { image: "example.com/web:1.5.1" }, secrets: { API_KEY: "another" } },
      { op: "patch", name: "api", workload_spec: { replicas: 4 }, secrets: { MORE: "one more value" } },
    ];
    expect((await shop.editor.api.patch(shop.path(name), { components })).status).toBe(200);
    unsubscribe();

    const summary = "web: image 1.5.0 → 1.5.1; api: 3 → 4 replicas; 2 secrets changed";
    const [newest, first] = (await shop.viewer.api.get(shop.path(name, "/deployments"))).body.data;
    expect(first).toMatchObject({ summary: "Created: web (example.com/web:1.5.0), api (example.com/api:2)" });
    const [before, after] = ["example.com/web:1.5.0", "example.com/web:1.5.1"];
    const hidden = { before: null, after: null };
    expect(newest).toMatchObject({
      summary,
      changes: [
        { component: "web", field: "image", change: "changed", before, after },
        { component: "web", field: "secrets.API_KEY", change: "changed", ...hidden },
        { component: "api", field: "replicas", change: "changed", before: 3, after: 4 },
        { component: "api", field: "secrets.MORE", change: "added", ...hidden },
      ],
    });
    const one = await shop.viewer.api.get(shop.path(name, `/deployments/${newest.deployment_id}`));
    expect(one.body).toMatchObject({ summary, changes: newest.changes });

    const log = await world.admin.api.get(`/orgs/${shop.org}/audit-log?action=app.update&items_per_page=1`);
    const changes = {
      "web.image": { before, after },
      "web.secrets.API_KEY": "changed",
      "api.replicas": { before: 3, after: 4 },
      "api.secrets.MORE": "added",
      revision: 2,
    };
    expect(log.body.data[0]).toMatchObject({ resource: { name }, summary });
    expect(log.body.data[0].changes).toEqual(changes);
    expect(heard.map(({ type, summary: told, changes: fields }) => [type, told, fields])).toEqual([
      ["activity", summary, changes],
      ["app", summary, undefined],
    ]);
    expect(JSON.stringify([newest, log.body, heard])).not.toMatch(/the first value|another|one more value/);
  });

  test("[AP74][AP75] an image and a schedule that Kubernetes does not accept are a 422 in a new app and in a change", async () => {
    const spec = { kind: "cronjob", image: "UPPER:::bad", schedule: "61 * * * *" };
    const components = [{ name: "work", workload_spec: spec }];
    const made = await shop.editor.api.post("/apps", { name: "work", project_id: shop.project, components });
    expect(made.status).toBe(422);
    expect(made.body.detail.map(({ loc }: { loc: string[] }) => loc.at(-1))).toEqual(["image", "schedule"]);
    const name = await shop.app();
    const patch = { op: "patch", name: "web", workload_spec: { image: "UPPER:::bad" } };
    expect(await shop.editor.api.patch(shop.path(name), { components: [patch] })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components", 0, "workload_spec", "image"] }] },
    });
  });

  test("[AP78] recreate is accepted only in the patch of a component, and is not stored", async () => {
    const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
    const name = await shop.app([{ name: "db", workload_spec: { image: "postgres:18", volumes } }]);
    const patch = (fields: object) =>
      shop.editor.api.patch(shop.path(name), { components: [{ name: "db", ...fields }] });
    const other = { op: "patch", workload_spec: { kind: "statefulset" } };
    expect(await patch(other)).toMatchObject({ status: 409, body: { detail: { code: "recreate_required" } } });
    expect(await patch({ op: "remove", recreate: true })).toMatchObject({ status: 422 });
    expect(await patch({ ...other, recreate: "yes" })).toMatchObject({ status: 422 });
    const changed = await patch({ ...other, recreate: true });
    expect(changed.status).toBe(200);
    expect(JSON.stringify(changed.body)).not.toContain("recreate");
  });

  test("[AP14] a PATCH of an app that fails in one component changes nothing", async () => {
    const name = await shop.app();
    const before = (await shop.viewer.api.get(shop.path(name))).body;
    const refused = await shop.editor.api.patch(shop.path(name), {
      description: "Never.",
      components: [
        { op: "patch", name: "web", workload_spec: { image: "nginx:2" }, secrets: { KEY: "v" } },
        { op: "remove", name: "absent" },
      ],
    });
    expect(refused).toMatchObject({ status: 404, body: { detail: "Component absent not found." } });
    expect((await shop.viewer.api.get(shop.path(name))).body).toEqual(before);
  });

  test("[AP15] removing a component that an export_ref of another one needs is a 409 with both names", async () => {
    const name = await shop.app([
      { ...WEB, export_refs: [{ component: "db" }] },
      { ...WEB, name: "db" },
    ]);
    const refused = await shop.editor.api.patch(shop.path(name), { components: [{ op: "remove", name: "db" }] });
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: { code: "export_ref_in_use", component: "db", referenced_by: "web" } },
    });
  });

  test("[AP16] a malformed change of a component is a 422 before the app is looked up, whatever the operation", async () => {
    const { status, body } = await shop.editor.api.patch(shop.path("absent"), {
      components: [
        { op: "add", name: "web", workload_spec: { ports: [{ port: 80 }] } },
        { op: "remove", name: "web", type: "workload" },
        { op: "patch", name: "web", workload_spec: { replicas: "two", colour: 1 } },
        { op: "replace", name: "web" },
      ],
    });
    expect(status).toBe(422);
    expect(body.detail).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ loc: ["body", "components", 2, "workload_spec", "replicas"], type: "int_type" }),
        expect.objectContaining({ loc: ["body", "components", 2, "workload_spec", "colour"], type: "extra_forbidden" }),
        expect.objectContaining({ loc: ["body", "components", 3, "op"], type: "enum" }),
      ]),
    );
    const second = await shop.editor.api.patch(shop.path("absent"), {
      components: [
        { op: "add", name: "web", workload_spec: {}, secrets: { "bad key": "x" } },
        { op: "remove", name: "web", type: "workload" },
      ],
    });
    expect(second.status).toBe(422);
    const third = await shop.editor.api.patch(shop.path("absent"), {
      components: [{ op: "remove", name: "web", type: "workload" }],
    });
    expect(third).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components", 0, "type"], type: "extra_forbidden" }] },
    });
    expect((await shop.editor.api.patch(shop.path("absent"), {})).status).toBe(422);
    expect((await shop.editor.api.patch(shop.path("absent"), { description: null })).status).toBe(404);
  });

  test("[AP17] PATCH /apps/{namespace}/{name} needs an editor", async () => {
    const name = await shop.app();
    expect((await shop.viewer.api.patch(shop.path(name), { description: "x" })).status).toBe(403);
    expect((await shop.stranger.api.patch(shop.path(name), { description: "x" })).status).toBe(404);
    expect((await world.anyone.patch(shop.path(name), { description: "x" })).status).toBe(401);
  });

  test("[AP18] a PATCH of an app with an If-Match of an earlier state is a 412 and changes nothing", async () => {
    const name = await shop.app();
    const tag = (await shop.viewer.api.get(shop.path(name))).headers.get("etag") ?? "";
    const patch = (condition: string, description: string) =>
      shop.editor.api.with({ "if-match": condition }).patch(shop.path(name), { description });
    expect((await patch(`"other", ${tag}`, "first")).status).toBe(200);
    expect(await patch(tag, "second")).toMatchObject({
      status: 412,
      body: { detail: "The resource has changed since it was read." },
    });
    expect((await patch("*", "third")).status).toBe(200);
    expect((await shop.viewer.api.get(shop.path(name))).body.description).toBe("third");
    const late = shop.editor.api.with({ "if-match": tag });
    expect((await late.post(shop.path(name, "/pause"))).status).toBe(412);
    expect((await late.delete(shop.path(name))).status).toBe(412);
  });
});

describe("DELETE /apps/{namespace}/{name}", () => {
  test("[AP19] a deleted app reads as deleting, and its name is taken", async () => {
    const name = await shop.app();
    expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
    const read = await shop.viewer.api.get(shop.path(name));
    expect([read.status, read.body.phase]).toEqual([200, "deleting"]);
    const taken = await shop.editor.api.post("/apps", {
      name,
      project_id: shop.project,
      components: [{ name: "web", workload_spec: {} }],
    });
    expect(taken).toMatchObject({ status: 409, body: { detail: { code: "app_deleting" } } });
    const { removed_at } = await world.database.kysely
      .selectFrom("desired_resources")
      .select("removed_at")
      .where("resource_id", "=", read.body.id)
      .executeTakeFirstOrThrow();
    expect(removed_at).not.toBeNull();
  });

  test("[AP19] deleting an app again is a 204, and every other operation on it is refused", async () => {
    const name = await shop.app();
    await shop.editor.api.delete(shop.path(name));
    expect((await shop.editor.api.delete(shop.path(name))).status).toBe(204);
    const entries = await world.database.kysely
      .selectFrom("audit_log")
      .select("id")
      .where("action", "=", "app.delete")
      .where("resource_name", "=", name)
      .execute();
    expect(entries).toHaveLength(1);
    const refused = await shop.editor.api.post(shop.path(name, "/pause"));
    expect(refused).toMatchObject({ status: 409, body: { detail: { code: "app_deleting" } } });
    const patched = await shop.editor.api.patch(shop.path(name), { description: "x" });
    expect(patched).toMatchObject({ status: 409, body: { detail: { code: "app_deleting" } } });
  });

  test("[AP17] DELETE /apps/{namespace}/{name} needs an editor", async () => {
    const name = await shop.app();
    expect((await shop.viewer.api.delete(shop.path(name))).status).toBe(403);
    expect((await shop.stranger.api.delete(shop.path(name))).status).toBe(404);
  });
});

describe("the size of an app", () => {
  const SIZE = /as JSON; 1000000 are the most/;
  const files = (characters: number) => [{ path: "/etc/text", content: "x".repeat(characters) }];
  const added = (name: string, spec: object = {}) => ({
    op: "add",
    name,
    workload_spec: { image: "nginx:1.30", ...spec },
  });

  test("[AP350] a PATCH that would make an app larger than its cluster takes is refused, and changes nothing", async () => {
    const name = await shop.app([WEB]);
    const grow = (index: number) =>
      shop.editor.api.patch(shop.path(name), {
        components: ["a", "b", "c"].map((letter) => added(`${letter}${index}`, { files: files(130_000) })),
      });
    expect([(await grow(1)).status, (await grow(2)).status]).toEqual([200, 200]);
    const before = await shop.viewer.api.get(shop.path(name));
    expect(await grow(3)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "components"], msg: expect.stringMatching(SIZE) }] },
    });
    expect((await shop.viewer.api.get(shop.path(name))).body).toEqual(before.body);
  });

  test("[AP350] a PATCH that would give an app more than 100 components is refused, as a POST of them is", async () => {
    const name = await shop.app([WEB]);
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => added(`c${from + index}`));
    expect((await shop.editor.api.patch(shop.path(name), { components: many(0, 99) })).status).toBe(200);
    expect(await shop.editor.api.patch(shop.path(name), { components: many(99, 1) })).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ["body", "components"], msg: expect.stringContaining("101 components; 100 are the most") }],
      },
    });
  });

  test("[AP351] secrets that would be larger together than a cluster takes are refused, and none of them is stored", async () => {
    const name = await shop.app([WEB]);
    const path = shop.path(name, "/components/web/secrets");
    const large = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${prefix}${index}`, "x".repeat(60_000)]));
    expect((await shop.editor.api.patch(path, large("A"))).status).toBe(200);
    expect(await shop.editor.api.patch(path, large("B"))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body"], msg: expect.stringContaining("500000 are the most"), type: "too_long" }] },
    });
    const { body } = await shop.viewer.api.get(path);
    expect(JSON.stringify(body)).not.toContain('"B0"');
  });

  test("[AP351] long keys of secrets without a value count as much as values do", async () => {
    const secrets = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`${"K".repeat(247)}_${100 + index}`, ""]),
    );
    const components = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...workload(`web-${index}`), secrets }));
    const app = (count: number) => ({ name: someName(), project_id: shop.project, components: components(count) });
    expect((await shop.editor.api.post("/apps", app(9))).status).toBe(201);
    expect(await shop.editor.api.post("/apps", app(10))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body"], msg: expect.stringContaining("500000 are the most"), type: "too_long" }] },
    });
  });
});
