import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { EVENTS_TOPIC } from "../events/event.ts";
import { SOON } from "../jobs/jobs.fixture.ts";

let cluster: string;
let project: string;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin: orgAdmin, member: admin, stranger } = await world.orgWithPeople();
const [editor, viewer] = [await world.person({ org }), await world.person({ org })];
afterAll(() => world.stop());
beforeEach(async () => {
  const { kysely } = world.database;
  cluster = await insertCluster(kysely, org);
  project = await insertProject(kysely, org, cluster);
  await bindRole(kysely, admin.id, "admin", { project });
  await bindRole(kysely, editor.id, "editor", { cluster });
  await bindRole(kysely, viewer.id, "viewer", { project });
});

const read = async (api: Client = viewer.api) => (await api.get(`/projects/${project}/policy`)).body;
const change = (body: object, api: Client = admin.api) => api.patch(`/projects/${project}/policy`, body);
const settings = (body: object) => orgAdmin.api.patch(`/clusters/${cluster}/settings`, body);
const create = (body: object, api: Client = editor.api) =>
  api.post("/projects", { name: "shop", cluster_id: cluster, ...body });

const desired = () =>
  world.database.kysely
    .selectFrom("desired_resources")
    .select(["kind", "resource_id", "generation"])
    .where("cluster_id", "=", cluster)
    .where("kind", "=", "project")
    .execute();
const lastChange = async () => {
  const { body } = await orgAdmin.api.get(`/orgs/${org}/audit-log?items_per_page=1`);
  return body.data[0];
};

const UNTOUCHED = {
  pod_security: null,
  effective_pod_security: "baseline",
  isolation: "namespace",
  ingress_namespaces: ["ingress-nginx", "kube-system", "traefik"],
};

describe("GET /projects/{id}/policy", () => {
  test("[PR24] GET /projects/{id}/policy shows pod security, isolation and ingress namespaces", async () => {
    expect(await read()).toEqual({ project_id: project, ...UNTOUCHED });
    await settings({ pod_security: "restricted", ingress_namespaces: ["edge"] });
    expect(await read()).toMatchObject({
      pod_security: null,
      effective_pod_security: "restricted",
      ingress_namespaces: ["edge"],
    });
  });

  test("[PR24] GET /projects/{id}/policy is a 404 for strangers", async () => {
    expect(await stranger.api.get(`/projects/${project}/policy`)).toMatchObject({ status: 404 });
  });
});

describe("PATCH /projects/{id}/policy", () => {
  test("[PR25] PATCH /projects/{id}/policy by an administrator of the project changes the given fields", async () => {
    expect(await change({ isolation: "none", pod_security: "restricted" })).toMatchObject({
      status: 200,
      body: { isolation: "none", pod_security: "restricted", effective_pod_security: "restricted" },
    });
    expect(await change({ isolation: "namespace" })).toMatchObject({ body: { pod_security: "restricted" } });
    expect((await editor.api.get(`/projects/${project}`)).body).toMatchObject({
      pod_security: "restricted",
      isolation: "namespace",
    });
  });

  test.each([{ isolation: "none" }, { pod_security: "privileged" }, {}])(
    "[PR25] an editor, a viewer and a stranger cannot change the policy %j",
    async (body) => {
      expect(await change(body, editor.api)).toMatchObject({ status: 403 });
      expect(await change(body, viewer.api)).toMatchObject({ status: 403 });
      expect(await change(body, stranger.api)).toMatchObject({ status: 404 });
      expect(await read()).toMatchObject(UNTOUCHED);
      expect(await desired()).toEqual([]);
    },
  );

  test("[PR25] an administrator of the project cannot weaken its pod security, and nothing else of the request changes", async () => {
    const { status, body: answer } = await change({ isolation: "none", pod_security: "privileged" });
    expect([status, answer.detail]).toEqual([403, expect.stringContaining("weaker than the cluster's")]);
    expect(answer.detail).toContain("Only an administrator of the organization");
    expect(await read()).toMatchObject(UNTOUCHED);
  });

  test("[PR26] a chosen pod security that equals the cluster's is replaced by a stricter one of the cluster, unless it was allowed", async () => {
    await settings({ pod_security: "privileged" });
    expect(await change({ pod_security: "privileged" })).toMatchObject({ status: 200 });
    await settings({ pod_security: "restricted" });
    expect(await read()).toMatchObject({ pod_security: "privileged", effective_pod_security: "restricted" });
    await change({ pod_security: null }, orgAdmin.api);
    await change({ pod_security: "privileged" }, orgAdmin.api);
    expect(await read()).toMatchObject({ pod_security: "privileged", effective_pod_security: "privileged" });
  });

  test.each([{ pods: 1 }, null])(
    "[PR27] the quota %j in a policy is refused, also from an administrator of the organization",
    async (quota) => {
      const { status, body } = await change({ isolation: "none", quota }, orgAdmin.api);
      const item = expect.objectContaining({ loc: ["body", "quota"], type: "extra_forbidden" });
      expect([status, body.detail]).toEqual([422, [item]]);
      expect(await read()).toEqual({ project_id: project, ...UNTOUCHED });
    },
  );

  test("[PR28] a changed policy is sent to the cluster once, and is in the audit log with the values before and after", async () => {
    const hints: unknown[] = [];
    const events: unknown[] = [];
    const leave = [
      world.bus.subscribe(DISPATCH_TOPIC, (hint) => hints.push(hint)),
      world.bus.subscribe(EVENTS_TOPIC, (event) => events.push(event)),
    ];
    await change({ isolation: "none" });
    expect(await desired()).toEqual([{ kind: "project", resource_id: project, generation: 1 }]);
    expect(await lastChange()).toMatchObject({
      action: "project.update_policy",
      actor: { id: admin.id },
      resource: { type: "project", id: project },
      changes: { isolation: { before: "namespace", after: "none" } },
      summary: "isolation namespace → none",
    });
    await change({ isolation: "none" });
    expect(await desired()).toMatchObject([{ generation: 1 }]);
    await vi.waitFor(() => {
      expect(hints).toContainEqual({ cluster_id: cluster });
      expect(events).toContainEqual(expect.objectContaining({ type: "project", project_id: project }));
    }, SOON);
    for (const end of leave) end();
  });

  test("[PR28] the policy of a project that is being deleted cannot be changed", async () => {
    await orgAdmin.api.delete(`/projects/${project}`);
    expect(await change({ isolation: "none" }, orgAdmin.api)).toMatchObject({ status: 409 });
  });
});

describe("POST /projects", () => {
  test("[PR23] POST /projects accepts pod security and isolation, and no quota", async () => {
    const facts = { pod_security: "restricted", isolation: "namespace" };
    expect(await create(facts)).toMatchObject({ status: 201, body: facts });
    const { status, body } = await create({ name: "other", quota: { pods: 1 } });
    expect([status, body.detail[0]]).toEqual([
      422,
      expect.objectContaining({ loc: ["body", "quota"], type: "extra_forbidden" }),
    ]);
  });

  test.each([
    [{ pod_security: "privileged" }, "Only an administrator of the organization"],
    [{ isolation: "none" }, "Only an administrator of the project, its cluster or its organization"],
    [{ name: "traefik" }, "Only an administrator of the organization"],
    [{ name: "ingress-nginx" }, "only an administrator of the organization"],
  ])("[PR25] [PR29] an editor of the cluster cannot create a project with %j", async (facts, words) => {
    const { status, body } = await create(facts);
    expect([status, body.detail.toLowerCase()]).toEqual([403, expect.stringContaining(words.toLowerCase())]);
    expect(await desired()).toEqual([]);
  });

  test("[PR25] [PR29] an administrator of the organization creates a project in an ingress namespace with a weaker policy", async () => {
    const facts = { name: "traefik", pod_security: "privileged", isolation: "none" };
    expect(await create(facts, orgAdmin.api)).toMatchObject({ status: 201, body: facts });
  });

  test("[PR29] the ingress namespaces that are reserved are those in the settings of the cluster", async () => {
    await settings({ ingress_namespaces: ["edge"] });
    expect(await create({ name: "edge" })).toMatchObject({ status: 403 });
    expect(await create({ name: "traefik" })).toMatchObject({ status: 201 });
  });
});
