// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { content } from "../templates/template.fixture.ts";
import { insertInstance, openShop, type Shop, someName, WEB, workload } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
const fenced = await openShop(world);
await setLevel(fenced, "restricted");
afterAll(() => world.stop());

async function setLevel({ project }: Shop, pod_security: "restricted" | null) {
  await world.database.kysely.updateTable("projects").set({ pod_security }).where("id", "=", project).execute();
}

const standing = (instance: string, name = "db") => ({ name, type: "addon", addon_spec: { instance } });
const root = (security_context: object = { run_as_user: 0 }) =>
  workload("web", { workload_spec: { image: "nginx:1.29", security_context } });
const withFile = { image: "nginx:1.29", files: [{ path: "/etc/key", secret: "KEY" }] };

const create = ({ editor, project }: Shop, components: object[], name = someName()) =>
  editor.api.post("/apps", { name, project_id: project, components });
const patch = ({ editor, path }: Shop, app: string, components: object[]) =>
  editor.api.patch(path(app), { components });
const rollback = ({ editor, path }: Shop, app: string, revision: number) =>
  editor.api.post(path(app, "/rollback"), { revision });

interface Answer {
  readonly status: number;
  readonly body: { readonly detail: readonly { readonly loc: readonly unknown[]; readonly msg: string }[] };
}
/** The places of a 422, behind those of the request's components. */
function refusals({ status, body }: Answer) {
  expect(status, JSON.stringify(body)).toBe(422);
  return body.detail.map(({ loc }) => loc.join("."));
}

test("[AP520] an app that names an addon instance that is not there, and asks for root where that is restricted, is a 422 with both and not stored", async () => {
  const name = someName();
  const going = await insertInstance(world, fenced, `going-${name}`, "deleting").then(() => `going-${name}`);
  const refused = await create(
    fenced,
    [standing("nothing"), root(), standing(going, "old"), { ...root({ run_as_non_root: false }), name: "api" }],
    name,
  );
  expect(refusals(refused)).toEqual([
    "body.components.0.addon_spec.instance",
    "body.components.1.workload_spec.security_context.run_as_user",
    "body.components.2.addon_spec.instance",
    "body.components.3.workload_spec.security_context.run_as_non_root",
  ]);
  expect(refused.body.detail[0]).toEqual({
    loc: ["body", "components", 0, "addon_spec", "instance"],
    msg: "Component db names the addon instance nothing in addon_spec.instance, but the project has none of this name. Create it first, or correct the name.",
    type: "value_error",
  });
  expect((await fenced.editor.api.get(fenced.path(name))).status).toBe(404);
});

test("[AP520] an app may name an addon instance of its project, of no other one, and ask for root where the level allows it", async () => {
  const instance = `i-${someName()}`;
  await insertInstance(world, shop, instance);
  expect((await create(shop, [standing(instance), root()])).status).toBe(201);
  expect((await create(fenced, [root({ run_as_non_root: true, run_as_user: 7 })])).status).toBe(201);
  expect(refusals(await create(fenced, [standing(instance)]))).toEqual(["body.components.0.addon_spec.instance"]);
});

test("[AP520] the level of the cluster counts where the project has none of its own", async () => {
  const place = await openShop(world);
  const values = { cluster_id: place.cluster, pod_security: "restricted" as const, updated_at: world.clock.now() };
  await world.database.kysely.insertInto("cluster_settings").values(values).execute();
  expect(refusals(await create(place, [root()]))).toHaveLength(1);
});

test("[AP520] a file with a secret that the component is not given is a 422 of POST and PATCH, with all other problems", async () => {
  const web = { name: "web", workload_spec: withFile };
  const place = "workload_spec.files.0.secret";
  const twice = [{ ...web, secrets: { OTHER: "v" } }, workload("api"), workload("api")];
  expect(refusals(await create(shop, twice))).toEqual(["body.components.2.name", `body.components.0.${place}`]);
  const name = await shop.app([WEB]);
  const changes = [
    { op: "patch", name: "web", workload_spec: { files: withFile.files } },
    { op: "add", ...standing("nothing") },
    { op: "add", ...workload("api"), depends_on: ["nobody"] },
  ];
  expect(refusals(await patch(shop, name, changes)).toSorted()).toEqual([
    `body.components.0.${place}`,
    "body.components.1.addon_spec.instance",
    "body.components.2.depends_on.0",
  ]);
  expect((await patch(shop, name, [{ ...changes[0], secrets: { KEY: "v" } }])).status).toBe(200);
  const removed = await patch(shop, name, [{ op: "patch", name: "web", secrets: { KEY: null } }]);
  expect(refusals(removed)).toEqual([`body.components.0.${place}`]);
});

test("[AP520] a PATCH that asks for root where the level is restricted is a 422 at the field", async () => {
  const name = await fenced.app([WEB]);
  const spec = { security_context: { run_as_non_root: false } };
  expect(refusals(await patch(fenced, name, [{ op: "patch", name: "web", workload_spec: spec }]))).toEqual([
    "body.components.0.workload_spec.security_context.run_as_non_root",
  ]);
});

test("[AP520] a template of which the project lacks something is not deployed, and the 422 names the parameters that filled it in", async () => {
  const parameters = [{ name: "store", type: "string", required: true }];
  const components = [standing("${store}"), root()];
  const { namespace, org: org_id } = fenced;
  const template = content({ namespace, org_id, parameters, components });
  expect((await world.admin.api.post("/stack-templates", template)).status).toBe(201);
  const order = { project_id: fenced.project, parameters: { store: "nothing" } };
  const path = `/stack-templates/${namespace}/${template.name}/deploy`;
  const refused = await fenced.editor.api.post(path, order);
  expect(refusals(refused).toSorted()).toEqual(["body", "body.parameters.store"]);
  expect((await fenced.editor.api.get(fenced.path(template.name))).status).toBe(404);
});

test("[AP521] an app that lost its instance, its secret and the right to root is changed in everything else, and takes no other such thing", async () => {
  const place = await openShop(world);
  const instance = `i-${someName()}`;
  const id = await insertInstance(world, place, instance);
  const asking = workload("web", {
    workload_spec: { ...withFile, security_context: { run_as_user: 0 } },
  });
  const name = await place.app([standing(instance), { ...asking, secrets: { KEY: "v" } }]);
  await world.database.kysely.updateTable("addon_instances").set({ phase: "deleting" }).where("id", "=", id).execute();
  await setLevel(place, "restricted");
  expect((await place.editor.api.delete(place.path(name, "/components/web/secrets/KEY"))).status).toBe(204);
  const image = { op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } };
  expect(await patch(place, name, [image])).toMatchObject({
    status: 200,
    body: { warnings: [{ code: "MissingSecret", component: "web" }] },
  });
  const same = { op: "patch", name: "web", workload_spec: { security_context: { run_as_user: 0 } } };
  expect((await patch(place, name, [same, { op: "patch", ...standing(instance) }])).status).toBe(200);
  const more = [
    { op: "add", ...standing(instance, "db2") },
    { ...same, workload_spec: { security_context: { run_as_user: null, run_as_non_root: false } } },
  ];
  expect(refusals(await patch(place, name, more)).toSorted()).toEqual([
    "body.components.0.addon_spec.instance",
    "body.components.1.workload_spec.security_context.run_as_non_root",
  ]);
});

test("[AP521] a rollback that would bring back a deleted instance or root is a 422 at the body, and one that changes neither is made", async () => {
  const place = await openShop(world);
  const instance = `i-${someName()}`;
  const id = await insertInstance(world, place, instance);
  const name = await place.app([standing(instance), root()]);
  const image = { op: "patch", name: "web", workload_spec: { image: "nginx:1.30" } };
  await patch(place, name, [image]);
  await world.database.kysely.deleteFrom("addon_instances").where("id", "=", id).execute();
  await setLevel(place, "restricted");
  expect((await rollback(place, name, 1)).status).toBe(200);
  const without = { op: "patch", name: "web", workload_spec: { security_context: null } };
  expect((await patch(place, name, [{ op: "remove", name: "db" }, without])).status).toBe(200);
  const refused = await rollback(place, name, 1);
  expect(refusals(refused)).toEqual(["body", "body"]);
  expect(refused.body.detail.map(({ msg }: { msg: string }) => msg)).toEqual([
    expect.stringMatching(/^Revision 1 cannot run: Component db names the addon instance/),
    expect.stringMatching(/^Revision 1 cannot run: Component web asks for root/),
  ]);
});

test("[AP521] a rollback to a file whose secret is gone is made with a warning, because revisions have no secrets", async () => {
  const name = await shop.app([WEB, { name: "api", workload_spec: withFile, secrets: { KEY: "v" } }]);
  expect((await patch(shop, name, [{ op: "remove", name: "api" }])).status).toBe(200);
  expect(await rollback(shop, name, 1)).toMatchObject({
    status: 200,
    body: { warnings: [{ code: "MissingSecret", component: "api" }] },
  });
});
