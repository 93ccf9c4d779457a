import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";
import { insertInstance, openShop, WEB, workload } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
afterAll(() => world.stop());

const read = async (name: string) => (await shop.viewer.api.get(shop.path(name))).body;
const act = (name: string, rest: string, body?: unknown) => shop.editor.api.post(shop.path(name, rest), body);

describe("attached addon instances", () => {
  test("[AP35] attaching an addon instance injects its name as an export_ref into every workload or the one named", async () => {
    const name = await shop.app([WEB, workload("worker")]);
    const [one, two] = [
      await insertInstance(world, shop, `one-${name}`),
      await insertInstance(world, shop, `two-${name}`),
    ];
    const both = await act(name, "/attach-addon", { addon_instance_id: one });
    expect(both.status).toBe(200);
    expect(both.body.components).toMatchObject([
      { export_refs: [{ component: `one-${name}` }] },
      { export_refs: [{ component: `one-${name}` }] },
    ]);
    const single = await act(name, "/attach-addon", { addon_instance_id: two, component_name: "worker" });
    expect(single.body.components.map((component: { export_refs: object[] }) => component.export_refs.length)).toEqual([
      1, 2,
    ]);
    expect(single.body.components.length).toBe(2);
  });

  test("[AP36] attaching an addon instance again is a 409, and attaching an unknown one a 404", async () => {
    const name = await shop.app();
    const addon = await insertInstance(world, shop, `i-${name}`);
    await act(name, "/attach-addon", { addon_instance_id: addon });
    expect(await act(name, "/attach-addon", { addon_instance_id: addon })).toMatchObject({
      status: 409,
      body: { detail: { code: "name_taken" } },
    });
    expect(await act(name, "/attach-addon", { addon_instance_id: newId() })).toMatchObject({
      status: 404,
      body: { detail: "Addon instance not found." },
    });
    const going = await insertInstance(world, shop, `going-${name}`, "deleting");
    expect(await act(name, "/attach-addon", { addon_instance_id: going })).toMatchObject({
      status: 404,
      body: { detail: `The addon instance going-${name} is being deleted.` },
    });
    expect((await act(name, "/attach-addon", { addon_instance_id: addon, component_name: "no" })).status).toBe(404);
  });

  test("[AP180] attaching an addon instance without a component of its name succeeds with a warning", async () => {
    const name = await shop.app([WEB]);
    const instance = `i-${name}`;
    const addon = await insertInstance(world, shop, instance);
    expect(await act(name, "/attach-addon", { addon_instance_id: addon })).toMatchObject({
      status: 200,
      body: { warnings: [{ code: "UnknownComponent", component: "web", missing: instance }] },
    });
    const added = await shop.editor.api.patch(shop.path(name), {
      components: [{ op: "add", name: instance, type: "addon", addon_spec: { instance } }],
    });
    expect(added.body.warnings).toEqual([]);
  });

  test("[AP37] detaching an addon instance takes it out of every component, and detaching it twice is a 404", async () => {
    const name = await shop.app([WEB, workload("worker")]);
    const addon = await insertInstance(world, shop, `i-${name}`);
    await act(name, "/attach-addon", { addon_instance_id: addon });
    const path = shop.path(name, `/attach-addon/${addon}`);
    expect((await shop.viewer.api.delete(path)).status).toBe(403);
    expect((await shop.editor.api.delete(path)).status).toBe(204);
    const { components } = await read(name);
    expect(components).toMatchObject([{ export_refs: [] }, { export_refs: [] }]);
    expect((await shop.editor.api.delete(path)).status).toBe(404);
  });
});
