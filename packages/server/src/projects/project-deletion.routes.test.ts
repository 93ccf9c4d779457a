import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole, insertCluster } from "../access/bindings.fixture.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { insertAddonInstance, insertApp } from "./contents.fixture.ts";

let cluster: string;
let project: string;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin: orgAdmin, member, stranger } = await world.orgWithPeople();
const clusterAdmin = await world.person({ org });
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await insertCluster(world.database.kysely, org);
  await bindRole(world.database.kysely, clusterAdmin.id, "admin", { cluster });
  project = (await orgAdmin.api.post("/projects", { name: "shop", cluster_id: cluster })).body.id;
});

const remove = (api: Client = orgAdmin.api) => api.delete(`/projects/${project}`);
const desired = () =>
  world.database.kysely
    .selectFrom("desired_resources")
    .select(["kind", "key", "generation", "removed_at"])
    .where("cluster_id", "=", cluster)
    .orderBy("key")
    .execute();

describe("DELETE /projects/{id}", () => {
  test("[PR11] DELETE /projects/{id} answers 202 with the record, which stays", async () => {
    const before = (await orgAdmin.api.get(`/projects/${project}`)).body;
    world.clock.advance(1000);
    const { status, body } = await remove();
    expect(status).toBe(202);
    expect(body).toEqual({ ...before, lifecycle: "cleanup_pending", updated_at: world.clock.now().toISOString() });
    expect((await orgAdmin.api.get(`/projects/${project}`)).body).toEqual(body);
    expect((await orgAdmin.api.get(`/projects?cluster_id=${cluster}`)).body.data).toEqual([body]);
  });

  test("[PR11] deleting a project again gives the same answer and changes nothing", async () => {
    const first = (await remove()).body;
    const before = await desired();
    world.clock.advance(1000);
    expect(await remove()).toMatchObject({ status: 202, body: first });
    expect(await desired()).toEqual(before);
  });

  test("[AL44] deleting a project three times leaves one entry in the audit log", async () => {
    for (let times = 0; times < 3; times++) expect((await remove()).status).toBe(202);
    const log = (await orgAdmin.api.get(`/orgs/${org}/audit-log?items_per_page=100`)).body.data;
    const about = log.filter(
      ({ action, resource }: { action: string; resource: { id: string } }) =>
        action === "project.delete" && resource.id === project,
    );
    expect(about).toHaveLength(1);
  });

  test("[PR11] deleting a project several times at once is done once", async () => {
    const answers = await Promise.all([remove(), remove(), remove()]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect((await desired()).map(({ generation }) => generation)).toEqual([2, 2]);
  });

  test("[PR11] DELETE /projects/{id} is for administrators of the organization alone", async () => {
    expect((await remove(clusterAdmin.api)).status).toBe(403);
    expect((await remove(member.api)).status).toBe(404);
    expect((await remove(stranger.api)).status).toBe(404);
    expect((await remove(world.anyone)).status).toBe(401);
    expect((await orgAdmin.api.delete(`/projects/${newId()}`)).status).toBe(404);
    expect((await orgAdmin.api.get(`/projects/${project}`)).body.lifecycle).toBe("pending");
    expect((await remove(world.admin.api)).status).toBe(202);
  });

  test("[PR12] deleting a project deletes its apps and addon instances", async () => {
    const { kysely } = world.database;
    const place = { org_id: org, cluster_id: cluster, project_id: project, namespace: "shop" };
    const [app, instance] = [await insertApp(kysely, place, "web"), await insertAddonInstance(kysely, place, "db")];
    const other = (await orgAdmin.api.post("/projects", { name: "other", cluster_id: cluster })).body.id;
    const kept = await insertApp(kysely, { ...place, project_id: other, namespace: "other" }, "web");
    await remove();

    const phases = async (table: "apps" | "addon_instances", id: string) =>
      (await kysely.selectFrom(table).select("phase").where("id", "=", id).executeTakeFirst())?.phase;
    expect(await phases("apps", app)).toBe("deleting");
    expect(await phases("addon_instances", instance)).toBe("deleting");
    expect(await phases("apps", kept)).toBe("running");
    const tombstones = (await desired()).filter(({ removed_at }) => removed_at !== null);
    expect(tombstones.map(({ key }) => key)).toEqual([
      "addon_instance/shop/db",
      "app/shop/web",
      "project/shop",
      "registry_secrets/shop",
    ]);
  });

  test("[PR12] deleting a project supersedes pending deployments, and leaves apps that are being deleted alone", async () => {
    const body = { project_id: project, components: [{ name: "web", workload_spec: {} }] };
    const [going, web] = ["going", "web"].map((name) => `/apps/shop/${name}`);
    for (const name of ["going", "web"]) await orgAdmin.api.post("/apps", { ...body, name });
    await orgAdmin.api.delete(`${going}?project_id=${project}`);
    const before = (await orgAdmin.api.get(`${going}?project_id=${project}`)).body;
    world.clock.advance(1000);
    await remove();
    expect((await orgAdmin.api.get(`${going}?project_id=${project}`)).body).toEqual(before);
    expect((await orgAdmin.api.get(`${web}?project_id=${project}`)).body.phase).toBe("deleting");
    const { data } = (await orgAdmin.api.get(`${web}/deployments?project_id=${project}`)).body;
    expect(data).toMatchObject([{ status: "superseded", finished_at: world.clock.now().toISOString() }]);
    expect((await desired()).map(({ removed_at }) => removed_at === null)).toEqual([false, false, false, false]);
  });

  test("[PR12] apps that are created while their project is deleted are deleted too or refused", async () => {
    const body = { name: "web", project_id: project, components: [{ name: "web", workload_spec: {} }] };
    const created = ["one", "two", "three"].map((name) => orgAdmin.api.post("/apps", { ...body, name }));
    await Promise.all([...created, remove()]);
    const apps = await world.database.kysely
      .selectFrom("apps")
      .select("phase")
      .where("project_id", "=", project)
      .execute();
    expect(apps.filter(({ phase }) => phase !== "deleting")).toEqual([]);
    expect((await desired()).filter(({ removed_at }) => removed_at === null)).toEqual([]);
  });

  test("[PR13] deleting a project is announced, together with its apps and addon instances", async () => {
    const heard: Event[] = [];
    const leave = world.bus.subscribe(EVENTS_TOPIC, (event) => heard.push(event as Event));
    const place = { org_id: org, cluster_id: cluster, project_id: project, namespace: "shop" };
    const app = await insertApp(world.database.kysely, place, "web");
    const instance = await insertAddonInstance(world.database.kysely, place, "db");
    await remove();
    const lifecycleEvents = () => heard.filter(({ type }) => type !== "activity");
    await vi.waitFor(() => expect(lifecycleEvents()).toHaveLength(3));
    expect(lifecycleEvents()).toMatchObject([
      { type: "app", workload_id: app, phase: "deleting" },
      { type: "addon", resource: { id: instance }, phase: "deleting" },
      { type: "project", project_id: project, lifecycle: "cleanup_pending" },
    ]);
    leave();
  });
});
