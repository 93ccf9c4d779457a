import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole, insertCluster } from "../access/bindings.fixture.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";

let cluster: string;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, member, stranger } = await world.orgWithPeople();
const [editor, viewer] = [await world.person({ org }), await world.person({ org })];
afterAll(() => world.stop());
beforeEach(async () => {
  cluster = await insertCluster(world.database.kysely, org);
  await bindRole(world.database.kysely, editor.id, "editor", { cluster });
  await bindRole(world.database.kysely, viewer.id, "viewer", { cluster });
});

const create = (facts: object = {}, api: Client = editor.api) =>
  api.post("/projects", { name: "shop", cluster_id: cluster, ...facts });
const projectsHere = () =>
  world.database.kysely.selectFrom("projects").selectAll().where("cluster_id", "=", cluster).execute();

describe("POST /projects", () => {
  test("[PR1] POST /projects stores a pending project", async () => {
    const { status, body } = await create();
    const now = world.clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: "shop",
      namespace: "shop",
      cluster_id: cluster,
      org_id: org,
      lifecycle: "pending",
      lifecycle_reason: null,
      lifecycle_message: null,
      pod_security: null,
      isolation: "namespace",
      suspended: null,
      observed_at: null,
      stale: true,
      created_at: now,
      updated_at: now,
    });
    expect((await editor.api.get(`/projects/${body.id}`)).body).toEqual(body);
  });

  test.each(["Shop", "-shop", "shop-", "my shop", "shop.example", "", "x".repeat(64)])(
    "[PR2] POST /projects with the name %j is a 422",
    async (name) => {
      expect(await create({ name })).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "name"] }] } });
      expect(await projectsHere()).toEqual([]);
    },
  );

  test.each(["default", "binnacle-system", "kube-system", "kube-x"])(
    "[PR2] POST /projects with the reserved name %s is a 422, whoever asks",
    async (name) => {
      const refusal = {
        status: 422,
        body: { detail: [{ loc: ["body", "name"], msg: expect.stringContaining("reserved"), type: "value_error" }] },
      };
      for (const { api } of [editor, member, stranger, world.admin])
        expect(await create({ name }, api)).toMatchObject(refusal);
      expect((await create({ name }, world.anyone)).status).toBe(401);
    },
  );

  test("[PR2] POST /projects accepts a name of 63 characters", async () => {
    expect((await create({ name: "x".repeat(63) })).status).toBe(201);
  });

  test("[PR3] a project name is taken once on a cluster, also by concurrent requests and while the project is being deleted", async () => {
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      detail: "A project with this name already exists on the cluster.",
    });
    const { id } = answers.find(({ status }) => status === 201)?.body ?? {};
    await world.admin.api.delete(`/projects/${id}`);
    expect((await create()).status).toBe(409);
  });

  test("[PR3] two clusters may have projects of the same name", async () => {
    const other = await insertCluster(world.database.kysely, org);
    expect((await create()).status).toBe(201);
    expect((await create({ cluster_id: other }, world.admin.api)).status).toBe(201);
  });

  test("[PR4] POST /projects needs an editor of the cluster, and is a 404 for a cluster that the caller does not see", async () => {
    expect((await create({}, viewer.api)).status).toBe(403);
    expect((await create({}, member.api)).status).toBe(403);
    expect(await create({}, stranger.api)).toMatchObject({ status: 404, body: { detail: "Cluster not found." } });
    expect(await create({ cluster_id: newId() })).toMatchObject({
      status: 404,
      body: { detail: "Cluster not found." },
    });
    expect(await projectsHere()).toEqual([]);
  });

  test("[PR5] POST /projects accepts no quota and no other fields", async () => {
    const { status, body } = await create({ quota: { cpu: 4 }, description: "x" });
    expect([status, body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc[1], type])]).toEqual([
      422,
      [
        ["quota", "extra_forbidden"],
        ["description", "extra_forbidden"],
      ],
    ]);
    expect((await create({ cluster_id: "mine" })).status).toBe(422);
    expect((await world.admin.api.post("/projects", {})).body.detail).toHaveLength(2);
  });

  test("[PR5] there is no PATCH /projects/{id}", async () => {
    const { id } = (await create()).body;
    expect((await editor.api.patch(`/projects/${id}`, { name: "other" })).status).toBe(405);
  });

  test("[PR6] a cluster that is being deleted accepts no new project", async () => {
    await world.database.kysely
      .updateTable("clusters")
      .set({ deletion_requested_at: world.clock.now() })
      .where("id", "=", cluster)
      .execute();
    expect(await create()).toMatchObject({ status: 409, body: { detail: "The cluster is being deleted." } });
    expect(await projectsHere()).toEqual([]);
  });

  test("[PR13] creating a project raises the desired state of the cluster, and is announced", async () => {
    const heard: Event[] = [];
    const hints: unknown[] = [];
    const leave = [
      world.bus.subscribe(EVENTS_TOPIC, (event) => heard.push(event as Event)),
      world.bus.subscribe(DISPATCH_TOPIC, (hint) => hints.push(hint)),
    ];
    const { id } = (await create()).body;
    const desired = await world.database.kysely
      .selectFrom("desired_resources")
      .select(["kind", "key", "generation", "revision", "removed_at"])
      .where("resource_id", "=", id)
      .orderBy("kind")
      .execute();
    const raised = { generation: 1, revision: 1, removed_at: null };
    expect(desired).toEqual([
      { kind: "project", key: "project/shop", ...raised },
      { kind: "registry_secrets", key: "registry_secrets/shop", ...raised },
    ]);
    await vi.waitFor(() => expect(hints).toEqual([{ cluster_id: cluster }]));
    expect(heard.filter(({ type }) => type === "project")).toMatchObject([
      {
        org_id: org,
        cluster_id: cluster,
        project_id: id,
        resource: { type: "project", id, name: "shop", namespace: "shop" },
        lifecycle: "pending",
      },
    ]);
    for (const unsubscribe of leave) unsubscribe();
  });

  test("[PR1] POST /projects with the same Idempotency-Key creates one project", async () => {
    const send = () =>
      editor.api.post("/projects", { name: "shop", cluster_id: cluster }, { headers: { "idempotency-key": cluster } });
    const [first, second] = [await send(), await send()];
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(await projectsHere()).toHaveLength(1);
  });
});

describe("GET /projects/{id}", () => {
  test("[PR10] GET /projects/{id} is for those who have a role on the project or its cluster", async () => {
    const { id } = (await create()).body;
    const read = async (api: Client) => (await api.get(`/projects/${id}`)).status;
    const bound = await world.person({ org });
    await bindRole(world.database.kysely, bound.id, "viewer", { project: id });
    const orgAdmin = await world.person({ org, role: "admin" });
    for (const { api } of [editor, viewer, bound, orgAdmin, world.admin]) expect(await read(api)).toBe(200);
    for (const { api } of [member, stranger]) expect(await read(api)).toBe(404);
    expect(await read(world.anyone)).toBe(401);
    expect((await editor.api.get(`/projects/${newId()}`)).status).toBe(404);
    expect((await editor.api.get("/projects/nonsense")).status).toBe(422);
  });
});

test("[PR16] a worker marks unconfirmed projects as soon as it starts, after the configured time", async () => {
  const { id } = (await create()).body;
  world.clock.advance(6000);
  const replica = await startWorld({ beside: world, env: { BINNACLE_PROJECT_CONFIRM_SECONDS: "5" } });
  await vi.waitFor(async () => {
    expect((await viewer.api.get(`/projects/${id}`)).body).toMatchObject({
      lifecycle: "degraded",
      lifecycle_reason: "operator_unreachable",
      lifecycle_message: "The cluster has not confirmed the project within 5 seconds.",
    });
  }, SOON);
  await replica.stop();
});
