import { MAX_REGISTRY_SECRETS } from "@binnacle/contract";
import { type Client, startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bindRole, insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { DISPATCH_TOPIC } from "../dispatch/dispatch.ts";
import { newId } from "../id.adapter.ts";

let cluster: string;
let project: string;

const world = await startWorld();
const { org, member, stranger } = await world.orgWithPeople();
const [editor, viewer] = [await world.person({ org }), await world.person({ org })];
afterAll(() => world.stop());
beforeEach(async () => {
  const { kysely } = world.database;
  cluster = await insertCluster(kysely, org);
  project = await insertProject(kysely, org, cluster);
  await bindRole(kysely, editor.id, "editor", { cluster });
  await bindRole(kysely, viewer.id, "viewer", { cluster });
});

const PASSWORD = "a registry's own secret";
const SECRET = { name: "github", server_url: "ghcr.io", username: "robot", password: PASSWORD };

const desired = (clusterId: string) =>
  world.database.kysely
    .selectFrom("desired_resources")
    .select(["kind", "resource_id", "key", "generation", "removed_at"])
    .where("cluster_id", "=", clusterId)
    .orderBy("resource_id")
    .execute();

const row = (id: string, generation: number) => ({
  kind: "registry_secrets",
  resource_id: id,
  key: `registry_secrets/project-${id}`,
  generation,
  removed_at: null,
});

describe.each(["cluster", "project"] as const)("the registry secrets of a %s", (kind) => {
  const id = () => (kind === "cluster" ? cluster : project);
  const path = () => `/${kind}s/${id()}/registry-secrets`;
  const attach = (facts: object = {}, api: Client = editor.api) => api.post(path(), { ...SECRET, ...facts });
  const list = async (api: Client = editor.api) => (await api.get(path())).body;

  test("[RS10] one registry secret more than a place may have is refused, even of two that are attached at once", async () => {
    const { kysely } = world.database;
    const now = world.clock.now();
    const secrets = Array.from({ length: MAX_REGISTRY_SECRETS - 1 }, (_, index) => ({
      ...{ id: newId(), [`${kind}_id`]: id(), name: `held-${index}`, server_url: "ghcr.io", username: "robot" },
      ...{ sealed_password: "x", created_at: now, updated_at: now },
    }));
    await kysely.insertInto("registry_secrets").values(secrets).execute();
    const answers = await Promise.all([attach({ name: "one" }), attach({ name: "two" })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.detail).toContain("at most 100 registry secrets");
    expect((await list()).total_count).toBe(MAX_REGISTRY_SECRETS);
  });

  test("[RS1] a registry secret is created with name, server, username and password", async () => {
    const { status, body } = await attach();
    const now = world.clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: "github",
      server_url: "ghcr.io",
      username: "robot",
      cluster_id: kind === "cluster" ? cluster : null,
      project_id: kind === "project" ? project : null,
      created_at: now,
      updated_at: now,
    });
  });

  test.each([
    ["a name that is not a DNS label", { name: "Git Hub" }, ["name"]],
    ["an invalid server", { server_url: "not a server" }, ["server_url"]],
    ["another scheme", { server_url: "ftp://ghcr.io" }, ["server_url"]],
    ["an empty password", { password: "" }, ["password"]],
    ["a username with a colon", { username: "a:b" }, ["username"]],
    ["an unknown field", { email: "ada@example.com" }, ["email"]],
  ])("[RS1] a registry secret with %s is a 422", async (_, facts, fields) => {
    const { status, body } = await attach(facts);
    expect([status, body.detail.map(({ loc }: { loc: string[] }) => loc[1])]).toEqual([422, fields]);
    expect(await list()).toEqual({ data: [], total_count: 0 });
  });

  test("[RS2] the password of a registry secret is sealed, and in no answer, audit entry or log", async () => {
    const attached = await attach();
    const { sealed_password } = await world.database.kysely
      .selectFrom("registry_secrets")
      .select("sealed_password")
      .where("id", "=", attached.body.id)
      .executeTakeFirstOrThrow();
    expect(sealed_password).toMatch(/^v1\.test\./);
    const entries = await world.database.kysely
      .selectFrom("audit_log")
      .selectAll()
      .where("resource_id", "=", attached.body.id)
      .execute();
    expect(entries).toMatchObject([{ action: "registry_secret.attach", org_id: org }]);
    const seen = JSON.stringify([attached.body, await list(), entries, sealed_password, world.logged]);
    expect(seen).not.toContain(PASSWORD);
  });

  test("[RS3] the name of a registry secret is unique per cluster and per project", async () => {
    const answers = await Promise.all([attach(), attach(), attach({ name: "other" })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409]);
    const elsewhere = kind === "cluster" ? `/projects/${project}` : `/clusters/${cluster}`;
    expect((await editor.api.post(`${elsewhere}/registry-secrets`, SECRET)).status).toBe(201);
  });

  test("[RS4] the registry secrets of a cluster or project are listed newest first, without those of other places", async () => {
    const elsewhere = kind === "cluster" ? `/projects/${project}` : `/clusters/${cluster}`;
    await editor.api.post(`${elsewhere}/registry-secrets`, SECRET);
    const first = (await attach()).body;
    const second = (await attach({ name: "quay" })).body;
    expect(await list(viewer.api)).toEqual({ data: [second, first], total_count: 2 });
  });

  test("[RS5] a registry secret is removed with a 204, and is a 404 under another place", async () => {
    const attached = (await attach()).body;
    const elsewhere = kind === "cluster" ? `/projects/${project}` : `/clusters/${cluster}`;
    expect((await editor.api.delete(`${elsewhere}/registry-secrets/${attached.id}`)).status).toBe(404);
    expect((await editor.api.delete(`${path()}/${attached.id}`)).status).toBe(204);
    expect(await list()).toEqual({ data: [], total_count: 0 });
    expect((await editor.api.delete(`${path()}/${attached.id}`)).status).toBe(404);
  });

  test("[RS6] registry secrets are changed by editors alone", async () => {
    const attached = (await attach()).body;
    for (const [person, refusal] of [
      [viewer, 403],
      [member, kind === "cluster" ? 403 : 404],
      [stranger, 404],
    ] as const) {
      expect((await attach({ name: "other" }, person.api)).status).toBe(refusal);
      expect((await person.api.delete(`${path()}/${attached.id}`)).status).toBe(refusal);
    }
    expect((await world.anyone.get(path())).status).toBe(401);
    expect(await list()).toMatchObject({ total_count: 1 });
  });

  test("[RS6] registry secrets are read by those who see the cluster or project", async () => {
    expect((await viewer.api.get(path())).status).toBe(200);
    expect((await member.api.get(path())).status).toBe(kind === "cluster" ? 200 : 404);
    expect((await stranger.api.get(path())).status).toBe(404);
    expect((await editor.api.get(`/${kind}s/${newId()}/registry-secrets`)).status).toBe(404);
  });
});

describe("GET /projects/{id}/effective-registry-secrets", () => {
  const effective = async (api: Client = viewer.api) => api.get(`/projects/${project}/effective-registry-secrets`);

  test("[RS7] effective registry secrets are the project's and the cluster's, and the project's win for a registry", async () => {
    await editor.api.post(`/clusters/${cluster}/registry-secrets`, { ...SECRET, name: "of-cluster" });
    await editor.api.post(`/clusters/${cluster}/registry-secrets`, { ...SECRET, name: "quay", server_url: "quay.io" });
    await editor.api.post(`/projects/${project}/registry-secrets`, { ...SECRET, server_url: "https://GHCR.io/" });
    expect((await effective()).body).toMatchObject({
      total_count: 2,
      data: [
        { name: "github", inherited_from: "project", project_id: project },
        { name: "quay", inherited_from: "cluster", cluster_id: cluster },
      ],
    });
  });

  test("[RS7] effective registry secrets are for those who see the project", async () => {
    expect((await effective(member.api)).status).toBe(404);
    expect((await effective(stranger.api)).status).toBe(404);
    expect((await effective(world.anyone)).status).toBe(401);
  });
});

describe("what a cluster is to hold", () => {
  test("[RS8] a change of a project's registry secrets raises the desired state of that project alone", async () => {
    await insertProject(world.database.kysely, org, cluster);
    const { id } = (await editor.api.post(`/projects/${project}/registry-secrets`, SECRET)).body;
    expect(await desired(cluster)).toEqual([row(project, 1)]);
    await editor.api.delete(`/projects/${project}/registry-secrets/${id}`);
    expect(await desired(cluster)).toEqual([row(project, 2)]);
  });

  test("[RS8] a change of a cluster's registry secrets raises the desired state of all projects that are not being deleted", async () => {
    const heard: unknown[] = [];
    const leave = world.bus.subscribe(DISPATCH_TOPIC, (message) => heard.push(message));
    const [second, going] = [
      await insertProject(world.database.kysely, org, cluster),
      await insertProject(world.database.kysely, org, cluster),
    ];
    await world.database.kysely
      .updateTable("projects")
      .set({ lifecycle: "cleanup_pending" })
      .where("id", "=", going)
      .execute();
    await insertProject(world.database.kysely, org, await insertCluster(world.database.kysely, org));
    const { id } = (await editor.api.post(`/clusters/${cluster}/registry-secrets`, SECRET)).body;
    expect(await desired(cluster)).toEqual([row(project, 1), row(second, 1)]);
    await editor.api.delete(`/clusters/${cluster}/registry-secrets/${id}`);
    expect(await desired(cluster)).toEqual([row(project, 2), row(second, 2)]);
    await vi.waitFor(() => expect(heard).toEqual([{ cluster_id: cluster }, { cluster_id: cluster }]));
    leave();
  });

  test("[RS8] every project that is created while the cluster's registry secrets change has pull secrets to be sent", async () => {
    const names = ["one", "two", "three", "four"];
    await Promise.all([
      ...names.map((name) => editor.api.post("/projects", { name, cluster_id: cluster })),
      ...names.map((name) => editor.api.post(`/clusters/${cluster}/registry-secrets`, { ...SECRET, name })),
    ]);
    const sets = (await desired(cluster)).filter(({ kind }) => kind === "registry_secrets");
    expect(sets).toHaveLength(names.length + 1);
  });

  test("[RS9] the registry secrets of a project that is being deleted cannot be changed", async () => {
    const path = `/projects/${project}/registry-secrets`;
    const { id } = (await editor.api.post(path, SECRET)).body;
    await world.admin.api.delete(`/projects/${project}`);
    const before = await desired(cluster);
    expect((await editor.api.post(path, { ...SECRET, name: "late" })).status).toBe(409);
    expect((await editor.api.delete(`${path}/${id}`)).status).toBe(409);
    expect(await desired(cluster)).toEqual(before);
    expect((await editor.api.get(path)).body.total_count).toBe(1);
  });
});
