// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested

import { type Client, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { newId } from "../id.adapter.ts";
import { content, insertPlace, someName } from "./template.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { kysely: db } = world.database;
const place = await world.projectWithPeople();
const { org, admin, member, stranger, viewer, editor } = place;
const neighbour = await insertPlace(db, org, { cluster: place.cluster });
const [clusterViewer, nextDoor] = [await world.person({ org }), await world.person({ org })];
const people = { stranger, member, viewer, editor, clusterViewer, nextDoor, admin };
await bindRole(db, people.clusterViewer.id, "viewer", { cluster: place.cluster });
await bindRole(db, people.nextDoor.id, "viewer", { project: neighbour.project });
afterAll(() => world.stop());

const pathOf = ({ namespace, name }: { namespace: string; name: string }) => `/stack-templates/${namespace}/${name}`;

async function made(changes: object = {}, api: Client = world.admin.api) {
  const answer = await api.post(
    "/stack-templates",
    content({ namespace: place.namespace, org_id: place.org, ...changes }),
  );
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

describe("POST /stack-templates", () => {
  test("[TP1] POST /stack-templates answers with the whole template, as a GET then reads it", async () => {
    const body = content({
      namespace: place.namespace,
      description: "What shops run.",
      icon: "globe",
      tags: ["web", "shop"],
    });
    const created = await people.admin.api.post("/stack-templates", body);
    const now = world.clock.now().toISOString();
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({
      ...body,
      id: created.body.id,
      org_id: place.org,
      project_id: null,
      cluster_id: null,
      created_at: now,
      updated_at: now,
    });
    const read = await people.admin.api.get(pathOf(created.body));
    expect(read).toMatchObject({ status: 200, body: created.body });
    expect(read.headers.get("etag")).toBe(created.headers.get("etag"));
  });

  test("[TP1] POST /stack-templates fills in what a short body leaves out", async () => {
    const { name, components } = content({ components: [{ name: "web", workload_spec: { image: "nginx" } }] });
    const created = await people.editor.api.post("/stack-templates", { namespace: place.namespace, name, components });
    expect(created.body).toMatchObject({ version: "1.0.0", scope: "project", description: null, icon: null });
    expect(created.body).toMatchObject({ tags: [], parameters: [] });
  });

  test("[TP2] POST /stack-templates refuses a namespace and name that the organization has already", async () => {
    const { namespace, name } = await made();
    const again = await world.admin.api.post("/stack-templates", content({ namespace, name, org_id: place.org }));
    expect(again).toMatchObject({ status: 409 });
    expect(again.body.detail).toBe("A stack template with this namespace and name already exists.");
  });

  test("[TP3] a template belongs to the organization that its creator names, and a hidden organization is a 404", async () => {
    const elsewhere = await world.org();
    const body = content({ namespace: someName(), org_id: elsewhere });
    expect((await people.admin.api.post("/stack-templates", body)).status).toBe(404);
    expect((await world.admin.api.post("/stack-templates", { ...body, org_id: newId() })).status).toBe(404);
    expect((await world.admin.api.post("/stack-templates", body)).body.org_id).toBe(elsewhere);
  });

  test("[TP3] a new template belongs to the organization of the visible project of its namespace, else to the caller's only one", async () => {
    const elsewhere = await world.org();
    await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: people.admin.id, role: "admin" });
    const inProject = content({ namespace: place.namespace });
    expect((await people.admin.api.post("/stack-templates", inProject)).body.org_id).toBe(place.org);

    const nowhere = content({ namespace: someName() });
    const unsaid = await people.admin.api.post("/stack-templates", nowhere);
    expect(unsaid).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "org_id"], type: "value_error" }] } });
    await world.admin.api.delete(`/orgs/${elsewhere}/members/${people.admin.id}`);
    expect((await people.admin.api.post("/stack-templates", nowhere)).body.org_id).toBe(place.org);
  });

  test("[TP3] a hidden project with the namespace of a new template does not decide its organization", async () => {
    const elsewhere = await insertPlace(world.database.kysely, await world.org());
    const created = await people.admin.api.post("/stack-templates", content({ namespace: elsewhere.namespace }));
    expect(created).toMatchObject({ status: 201, body: { org_id: place.org } });
    const homeless = await people.stranger.api.post("/stack-templates", content({ namespace: elsewhere.namespace }));
    expect(homeless.status).toBe(422);
  });

  test.each([
    [
      "project",
      { stranger: 404, member: 422, viewer: 403, editor: 201, clusterViewer: 403, nextDoor: 422, admin: 201 },
    ],
    [
      "cluster",
      { stranger: 404, member: 403, viewer: 403, editor: 403, clusterViewer: 403, nextDoor: 403, admin: 201 },
    ],
    ["organization", { stranger: 404, member: 403, viewer: 403, editor: 403, clusterViewer: 403, admin: 201 }],
    ["global", { stranger: 404, member: 403, viewer: 403, editor: 403, clusterViewer: 403, nextDoor: 403, admin: 403 }],
  ])("[TP5] POST /stack-templates with scope %s answers the callers with %j", async (scope, expected) => {
    const statuses: Record<string, number> = {};
    for (const who of Object.keys(expected) as (keyof typeof people)[]) {
      const body = content({ namespace: place.namespace, org_id: place.org, scope });
      statuses[who] = (await people[who].api.post("/stack-templates", body)).status;
    }
    expect(statuses).toEqual(expected);
    const superuser = content({ namespace: place.namespace, org_id: place.org, scope });
    expect((await world.admin.api.post("/stack-templates", superuser)).status).toBe(201);
  });

  test("[TP1] POST /stack-templates without a session is a 401", async () => {
    expect((await world.anyone.post("/stack-templates", content({ namespace: "shop" }))).status).toBe(401);
  });

  test.each<[string, object, (string | number)[]]>([
    ["a name that is not a DNS label", { name: "Not_A_Label" }, ["name"]],
    ["a namespace that is not a DNS label", { namespace: "-shop" }, ["namespace"]],
    ["an unknown scope", { scope: "galaxy" }, ["scope"]],
    ["an unknown field", { owner: "me" }, ["owner"]],
    ["no components", { components: [] }, ["components"]],
    ["a component without a name", { components: [{}], parameters: [] }, ["components", 0, "name"]],
    [
      "an unknown field of a component",
      { components: [{ name: "web", replicas: 3 }], parameters: [] },
      ["components", 0, "replicas"],
    ],
    ["a NUL in a text", { description: "a\0b" }, ["description"]],
    ["an unknown placeholder", { components: [{ name: "${image}-${oops}" }] }, ["components", 0]],
    ["a required parameter that is not used", { components: [{ name: "web" }] }, ["parameters", 0]],
    ["a parameter of an unknown type", { parameters: [{ name: "image", type: "blob" }] }, ["parameters", 0, "type"]],
    [
      "a placeholder that names itself",
      {
        parameters: [{ name: "image", type: "string", default: "${image}" }],
        components: [{ name: "${imag${image}}" }],
      },
      ["components", 0],
    ],
    ["a dependency on nothing", { components: [{ name: "${image}", depends_on: ["db"] }] }, ["components", 0]],
    [
      "two components with the name of one parameter",
      { components: [{ name: "${image}" }, { name: "${image}" }] },
      ["components", 1],
    ],
    [
      "requests above limits, whatever its parameters are",
      {
        components: [
          { name: "api", workload_spec: { image: "${image}" } },
          {
            name: "web",
            workload_spec: {
              image: "${image}",
              resources: { requests: { cpu: "2" }, limits: { cpu: "1" } },
              ports: [{ name: "http", port: "${port}" }],
              ingress: { host: "${image}.example.com" },
            },
          },
        ],
        parameters: [
          { name: "image", type: "string" },
          { name: "port", type: "integer" },
        ],
      },
      ["components", 1],
    ],
    [
      "a pattern that goes back for ever",
      { parameters: [{ name: "image", type: "string", pattern: "(a)\\1" }] },
      ["parameters", 0],
    ],
    [
      "a secret in an environment variable",
      {
        parameters: [{ name: "image", type: "secret" }],
        components: [{ name: "web", workload_spec: { env: [{ name: "KEY", value: "${image}" }] } }],
      },
      ["components", 0],
    ],
    [
      "a secret of its own",
      { components: [{ name: "${image}", secrets: { KEY: "hunter22" } }] },
      ["components", 0, "secrets", "KEY"],
    ],
    [
      "a secret among the values of an addon",
      {
        components: [
          {
            name: "db",
            type: "addon",
            addon_spec: { definition_id: definitionId("postgresql"), values: { auth: { password: "hunter22" } } },
          },
        ],
        parameters: [],
      },
      ["components", 0, "addon_spec", "values", "auth", "password"],
    ],
  ])("[TP6] POST /stack-templates refuses %s, and stores nothing", async (_, changes, at) => {
    const body = content({ namespace: place.namespace, ...changes });
    const refused = await people.admin.api.post("/stack-templates", body);
    expect(refused.status, JSON.stringify(refused.body)).toBe(422);
    expect(refused.body.detail).toContainEqual(expect.objectContaining({ loc: ["body", ...at] }));
    const { body: listed } = await people.admin.api.get(
      `/stack-templates?namespace=${place.namespace}&items_per_page=100`,
    );
    expect(listed.data.map(({ name }: { name: string }) => name)).not.toContain(body.name);
    expect(JSON.stringify(refused.body)).not.toContain("hunter22");
  });

  test("[TP6] POST /stack-templates refuses a body of ten megabytes", async () => {
    const components = [{ name: "web", workload_spec: { args: ["x".repeat(10_000_000)] } }];
    const refused = await people.admin.api.post(
      "/stack-templates",
      content({ namespace: place.namespace, components }),
    );
    expect(refused.status).toBe(413);
  });
});

describe("GET /stack-templates", () => {
  test.each([
    ["project", ["viewer", "editor", "clusterViewer", "admin"]],
    ["cluster", ["viewer", "editor", "clusterViewer", "nextDoor", "admin"]],
    ["organization", ["member", "viewer", "editor", "clusterViewer", "nextDoor", "admin"]],
    ["global", ["stranger", "member", "viewer", "editor", "clusterViewer", "nextDoor", "admin"]],
  ])("[TP4] a template of scope %s is seen by %j", async (scope, expected) => {
    const template = await made({ scope });
    const inList: string[] = [];
    const byAddress: string[] = [];
    for (const [who, { api }] of Object.entries(people)) {
      const { body } = await api.get(`/stack-templates?namespace=${place.namespace}&items_per_page=100`);
      if (body.data.some(({ id }: { id: string }) => id === template.id)) inList.push(who);
      const { status } = await api.get(pathOf(template));
      expect([200, 404]).toContain(status);
      if (status === 200) byAddress.push(who);
    }
    expect({ inList, byAddress }).toEqual({ inList: expected, byAddress: expected });
  });

  test("[TP4] a superuser sees every template", async () => {
    const template = await made({ scope: "project" });
    expect((await world.admin.api.get(pathOf(template))).status).toBe(200);
  });

  test("[TP7] GET /stack-templates lists newest first in pages, without parameters and components, by namespace and scope", async () => {
    const own = await insertPlace(world.database.kysely, place.org);
    const older = await made({ namespace: own.namespace });
    const newer = await made({ namespace: own.namespace, scope: "cluster" });
    const asked = `/stack-templates?namespace=${own.namespace}`;
    const all = await people.admin.api.get(asked);
    expect(all.body).toMatchObject({ total_count: 2, page: 1, items_per_page: 10, has_more: false });
    const { parameters: _parameters, components: _components, ...summary } = newer;
    expect(all.body.data[0]).toEqual(summary);

    const second = await people.admin.api.get(`${asked}&page=2&items_per_page=1`);
    expect(second.body).toMatchObject({ data: [{ id: older.id }], total_count: 2, has_more: false });
    expect((await people.admin.api.get(`${asked}&scope=cluster`)).body).toMatchObject({ data: [{ id: newer.id }] });
    expect((await people.admin.api.get(`${asked}&page=9`)).body).toMatchObject({ data: [], total_count: 2 });
  });

  test("[TP7] GET /stack-templates is empty for an unknown or hidden namespace, and a 422 for an unknown scope", async () => {
    expect((await people.admin.api.get("/stack-templates?namespace=nowhere")).body).toMatchObject({ data: [] });
    const hidden = `/stack-templates?namespace=${place.namespace}&scope=organization`;
    expect((await people.stranger.api.get(hidden)).body).toMatchObject({ data: [], total_count: 0 });
    expect((await people.admin.api.get("/stack-templates?scope=galaxy")).status).toBe(422);
    expect((await people.admin.api.get("/stack-templates?items_per_page=101")).status).toBe(422);
    expect((await world.anyone.get("/stack-templates")).status).toBe(401);
  });
});

describe("a template of the same address in two organizations", () => {
  test("[TP8] a template address that two of the caller's organizations have is ambiguous, unless the query names one", async () => {
    const elsewhere = await world.org();
    const person = await world.person({ org: place.org, role: "admin" });
    await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: person.id, role: "admin" });
    const here = await made();
    const there = await made({ name: here.name, org_id: elsewhere });

    for (const send of [
      () => person.api.get(pathOf(here)),
      () => person.api.put(pathOf(here), { description: "x" }),
      () => person.api.delete(pathOf(here)),
    ]) {
      expect(await send()).toMatchObject({ status: 409, body: { detail: { code: "ambiguous_template" } } });
    }
    const refused = await person.api.get(pathOf(here));
    expect(refused.body.detail.org_ids.toSorted()).toEqual([place.org, elsewhere].toSorted());
    expect((await person.api.get(`${pathOf(here)}?org_id=${elsewhere}`)).body.id).toBe(there.id);
    expect((await people.admin.api.get(pathOf(here))).body.id).toBe(here.id);
    expect((await people.admin.api.get(`${pathOf(here)}?org_id=${elsewhere}`)).status).toBe(404);
  });

  test("[TP8] a template is not ambiguous with a global one of another organization that has the same address", async () => {
    const elsewhere = await world.org();
    const here = await made();
    await made({ name: here.name, org_id: elsewhere, scope: "global" });
    expect((await people.member.api.get(pathOf(here))).body.id).toBe(here.id);
  });
});

describe("PUT /stack-templates/{namespace}/{name}", () => {
  test("[TP9] PUT of a template changes the fields that it names, and leaves the others and the version", async () => {
    const template = await made({ description: "Before.", icon: "globe" });
    world.clock.advance(60_000);
    const components = [{ name: "api", workload_spec: { image: "${image}", replicas: 2 } }];
    const changed = await people.admin.api.put(pathOf(template), { description: "After.", tags: ["new"], components });
    expect(changed).toMatchObject({ status: 200 });
    expect(changed.body).toEqual({
      ...template,
      description: "After.",
      tags: ["new"],
      components,
      updated_at: world.clock.now().toISOString(),
    });
    expect((await people.admin.api.get(pathOf(template))).body).toEqual(changed.body);
  });

  test("[AL84] [AL85] a PUT of a template is in the audit log field by field, without the contents of its files", async () => {
    const component = (image: string, secret: string) => ({
      name: "web",
      workload_spec: { image, files: [{ path: "/etc/app", content: secret }] },
    });
    const template = await made({
      description: "Before.",
      components: [component("${image}:1", "hunter1")],
    });
    const next = { description: "After.", components: [component("${image}:2", "hunter2")] };
    expect(await people.admin.api.put(pathOf(template), next)).toMatchObject({ status: 200 });
    const entry = await world.database.kysely
      .selectFrom("audit_log")
      .select(["changes", "summary"])
      .where("resource_id", "=", template.id)
      .where("action", "=", "stack_template.update")
      .executeTakeFirstOrThrow();
    expect(entry).toEqual({
      changes: {
        description: { before: "Before.", after: "After." },
        "web.image": { before: "${image}:1", after: "${image}:2" },
        "web.files./etc/app": "changed",
        fields: ["description", "components"],
      },
      summary: "web: image 1 → 2, file /etc/app changed; description changed",
    });
  });

  test("[TP9] PUT of a template refuses fields that cannot change, and changes after which the whole is not valid", async () => {
    const template = await made();
    expect((await people.admin.api.put(pathOf(template), { version: "2.0.0" })).status).toBe(422);
    expect((await people.admin.api.put(pathOf(template), { name: "other" })).status).toBe(422);
    const orphaned = await people.admin.api.put(pathOf(template), { parameters: [] });
    expect(orphaned).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "components", 0] }] } });
    expect((await people.admin.api.get(pathOf(template))).body).toEqual(template);
  });

  test("[TP5] PUT of a template is for callers who may write a template of its scope", async () => {
    const template = await made({ scope: "project" });
    const change = { description: "Changed." };
    expect((await people.viewer.api.put(pathOf(template), change)).status).toBe(403);
    expect((await people.member.api.put(pathOf(template), change)).status).toBe(404);
    expect((await people.editor.api.put(pathOf(template), change)).status).toBe(200);
    const everyones = await made({ scope: "global" });
    expect((await people.admin.api.put(pathOf(everyones), change)).status).toBe(403);
    expect((await people.stranger.api.delete(pathOf(everyones))).status).toBe(403);
    expect((await world.anyone.put(pathOf(template), change)).status).toBe(401);
  });

  test("[TP10] PUT and DELETE of a template honour If-Match", async () => {
    const template = await made();
    const stale = (await people.admin.api.get(pathOf(template))).headers.get("etag") ?? "";
    const fresh = (await people.admin.api.put(pathOf(template), { icon: "star" })).headers.get("etag") ?? "";
    expect(fresh).not.toBe(stale);
    const sending = { body: { icon: "moon" }, headers: { "if-match": stale } };
    expect((await people.admin.api.send("PUT", pathOf(template), sending)).status).toBe(412);
    expect((await people.admin.api.send("DELETE", pathOf(template), { headers: { "if-match": stale } })).status).toBe(
      412,
    );
    expect((await people.admin.api.send("DELETE", pathOf(template), { headers: { "if-match": fresh } })).status).toBe(
      204,
    );
  });
});

describe("DELETE /stack-templates/{namespace}/{name}", () => {
  test("[TP11] DELETE deletes a template, and a second DELETE is a 404", async () => {
    const template = await made();
    expect((await people.member.api.delete(pathOf(template))).status).toBe(403);
    expect(await people.admin.api.delete(pathOf(template))).toMatchObject({ status: 204, body: "" });
    expect((await people.admin.api.get(pathOf(template))).status).toBe(404);
    expect(await people.admin.api.delete(pathOf(template))).toMatchObject({
      status: 404,
      body: { detail: "Stack template not found." },
    });
    expect((await world.anyone.delete(pathOf(template))).status).toBe(401);
  });
});
