import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { SOON } from "../jobs/jobs.fixture.ts";

let cluster: string;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, admin: orgAdmin, member, stranger } = await world.orgWithPeople();
const admin = await world.person({ org });
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await insertCluster(world.database.kysely, org);
  await bindRole(world.database.kysely, admin.id, "admin", { cluster });
});

const path = () => `/clusters/${cluster}/settings`;
const read = async (api: Client = member.api) => (await api.get(path())).body;
const change = (body: object, api: Client = orgAdmin.api) => api.patch(path(), body);
const desired = () =>
  world.database.kysely
    .selectFrom("desired_resources")
    .select(["kind", "resource_id", "generation"])
    .where("cluster_id", "=", cluster)
    .orderBy("resource_id")
    .execute();

const DEFAULTS = {
  pod_security: "baseline",
  ingress_namespaces: ["ingress-nginx", "kube-system", "traefik"],
  cluster_wide_charts: [],
  exec_enabled: true,
};
const CHART = { repo: "https://charts.jetstack.io", name: "cert-manager" };

describe("GET /clusters/{id}/settings", () => {
  test("[CL54] GET /clusters/{id}/settings gives members the defaults", async () => {
    expect(await read()).toEqual({ cluster_id: cluster, ...DEFAULTS });
    expect(await stranger.api.get(path())).toMatchObject({ status: 404 });
  });
});

describe("PATCH /clusters/{id}/settings", () => {
  test("[CL55] [CL56] PATCH /clusters/{id}/settings changes the given fields and no others", async () => {
    expect(await change({ pod_security: "restricted" })).toMatchObject({
      status: 200,
      body: { ...DEFAULTS, pod_security: "restricted" },
    });
    await change({ ingress_namespaces: [], cluster_wide_charts: [CHART] });
    expect(await read()).toEqual({
      cluster_id: cluster,
      pod_security: "restricted",
      ingress_namespaces: [],
      cluster_wide_charts: [CHART],
      exec_enabled: true,
    });
  });

  test.each([{ pod_security: "privileged" }, { cluster_wide_charts: [CHART] }, { ingress_namespaces: ["shop"] }, {}])(
    "[CL55] the settings %j of a cluster cannot be changed by its administrators, members or strangers",
    async (body) => {
      expect(await change(body, admin.api)).toMatchObject({ status: 403 });
      expect(await change(body, member.api)).toMatchObject({ status: 403 });
      expect(await change(body, stranger.api)).toMatchObject({ status: 404 });
      expect(await read()).toMatchObject(DEFAULTS);
    },
  );

  test("[CL55] a change of the cluster's settings is in the audit log with the values before and after", async () => {
    await change({ pod_security: "privileged", cluster_wide_charts: [CHART] });
    const { body } = await orgAdmin.api.get(`/orgs/${org}/audit-log?items_per_page=1`);
    expect(body.data[0]).toMatchObject({
      action: "cluster.update_settings",
      actor: { id: orgAdmin.id },
      resource: { type: "cluster", id: cluster },
      changes: {
        pod_security: { before: "baseline", after: "privileged" },
        [`cluster_wide_charts.${CHART.name}.repo`]: { before: null, after: CHART.repo },
      },
    });
  });

  const chart = (repo: string, name = "web") => ({ cluster_wide_charts: [{ repo, name }] });
  test.each([
    [{ pod_security: "none" }, ["body", "pod_security"]],
    [{ quota: {} }, ["body", "quota"]],
    [{ ingress_namespaces: ["Edge"] }, ["body", "ingress_namespaces", 0]],
    [{ ingress_namespaces: ["edge", "edge"] }, ["body", "ingress_namespaces"]],
    [{ ingress_namespaces: Array.from({ length: 21 }, (_, at) => `n${at}`) }, ["body", "ingress_namespaces"]],
    [chart("file:///etc"), ["body", "cluster_wide_charts", 0, "repo"]],
    [chart("https://me:secret@charts.example.com"), ["body", "cluster_wide_charts", 0, "repo"]],
    [chart("https://charts.example.com", "--post-renderer"), ["body", "cluster_wide_charts", 0, "name"]],
    [
      { cluster_wide_charts: [CHART, { ...CHART, repo: "https://Charts.JetStack.io/" }] },
      ["body", "cluster_wide_charts", 1],
    ],
  ])("[CL56] PATCH /clusters/{id}/settings with %j is a 422 and changes nothing", async (body, loc) => {
    const { status, body: answer } = await change({ ...body });
    expect(status).toBe(422);
    expect(answer.detail).toContainEqual(expect.objectContaining({ loc }));
    expect(await read()).toMatchObject(DEFAULTS);
  });

  test("[CL57] a change of the cluster's settings is sent once to every project that is not being deleted", async () => {
    const { kysely } = world.database;
    const projects = [await insertProject(kysely, org, cluster), await insertProject(kysely, org, cluster)];
    const going = await insertProject(kysely, org, cluster);
    await orgAdmin.api.delete(`/projects/${going}`);
    const before = await desired();
    const hints: unknown[] = [];
    const leave = world.bus.subscribe(DISPATCH_TOPIC, (hint) => hints.push(hint));
    await change({ pod_security: "restricted" });
    const raised = projects.toSorted().map((resource_id) => ({ kind: "project", resource_id, generation: 1 }));
    const remaining = async () => (await desired()).filter(({ resource_id }) => resource_id !== going);
    expect(await remaining()).toEqual(raised);
    expect((await desired()).filter(({ resource_id }) => resource_id === going)).toEqual(before);
    await change({ pod_security: "restricted" });
    await change({ exec_enabled: false });
    expect(await remaining()).toEqual(raised);
    await vi.waitFor(() => expect(hints).toContainEqual({ cluster_id: cluster }), SOON);
    leave();
  });
});
