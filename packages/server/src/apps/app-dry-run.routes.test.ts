import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { EVENTS_TOPIC } from "../events/event.ts";
import { openShop, someName, WEB } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const dry = (path: string) => `${path}${path.includes("?") ? "&" : "?"}dry_run=true`;
const auditCount = async () => (await world.admin.api.get(`/orgs/${shop.org}/audit-log`)).body.total_count as number;

describe("a dry run of an app", () => {
  test("[AP2901] a dry run answers with the app as it would be, and leaves no app, revision, audit entry or event", async () => {
    const name = await shop.app([WEB]);
    const before = await shop.viewer.api.get(shop.path(name));
    const entries = await auditCount();
    const heard: unknown[] = [];
    const unsubscribe = world.bus.subscribe(EVENTS_TOPIC, (event) => heard.push(event));
    const components = [{ op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } }];
    const changed = await shop.editor.api.patch(dry(shop.path(name)), { components });
    expect(changed).toMatchObject({ status: 200, body: { revision: 2, generation: 2 } });
    expect(changed.body.components[0].workload_spec.image).toBe("nginx:1.30");
    expect(changed.headers.get("etag")).toBeNull();

    const body = { name: someName(), project_id: shop.project, components: [WEB] };
    const made = await shop.editor.api.post(dry("/apps"), body);
    expect(made).toMatchObject({ status: 201, body: { name: body.name, revision: 1 } });
    unsubscribe();

    expect((await shop.viewer.api.get(shop.path(body.name))).status).toBe(404);
    expect((await shop.viewer.api.get(shop.path(name))).body).toEqual(before.body);
    expect((await shop.viewer.api.get(shop.path(name, "/deployments"))).body.total_count).toBe(1);
    expect([await auditCount(), heard]).toEqual([entries, []]);
  });

  test("[AP2901] a dry run is refused where the change itself would be", async () => {
    const name = await shop.app([WEB]);
    const wrong = [{ ...WEB, workload_spec: { ...WEB.workload_spec, replcas: 3 } }];
    const post = (more: object) =>
      shop.editor.api.post(dry("/apps"), { name: someName(), project_id: shop.project, components: [WEB], ...more });
    expect((await post({ components: wrong })).status).toBe(422);
    // What only the database knows: names that are taken, and addons that the project does not have.
    expect(await post({ name })).toMatchObject({ status: 409 });
    const patched = [{ op: "patch", name: "nope", workload_spec: { image: "nginx:1.30" } }];
    expect((await shop.editor.api.patch(dry(shop.path(name)), { components: patched })).status).toBe(404);
    const { status } = await shop.viewer.api.patch(dry(shop.path(name)), { description: "Not mine." });
    expect(status).toBe(403);
  });

  test("[AP2902] a dry run takes no Idempotency-Key, so that the creation under it is carried out afterwards", async () => {
    const headers = { "idempotency-key": someName() };
    const body = { name: someName(), project_id: shop.project, components: [WEB] };
    const send = (path: string) => shop.editor.api.send("POST", path, { body, headers });
    expect((await send(dry("/apps"))).status).toBe(201);
    expect((await send("/apps")).status).toBe(201);
    expect((await shop.viewer.api.get(shop.path(body.name))).status).toBe(200);
  });
});
