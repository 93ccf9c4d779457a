import { type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { bindRole } from "../access/bindings.fixture.ts";
import { newId } from "../id.adapter.ts";
import { content, insertPlace, someName } from "./template.fixture.ts";

const world = await startWorld();
const { kysely: db } = world.database;
const org = await world.org();
/** Two projects of one namespace on two clusters, and a third beside the first. */
const here = await insertPlace(db, org);
const namesake = await insertPlace(db, org, { namespace: here.namespace });
const nextDoor = await insertPlace(db, org, { cluster: here.cluster });
const foreign = await insertPlace(db, await world.org(), { namespace: here.namespace });
const member = () => world.person({ org });
const people = {
  admin: await world.person({ org, role: "admin" }),
  editor: await member(),
  viewer: await member(),
  onCluster: await member(),
  besides: await member(),
  imitator: await member(),
  overThere: await member(),
  both: await member(),
};
const bind = (who: keyof typeof people, role: "viewer" | "editor" | "admin", place: Parameters<typeof bindRole>[3]) =>
  bindRole(db, people[who].id, role, place);
await bind("editor", "editor", { project: here.project });
await bind("viewer", "viewer", { project: here.project });
await bind("onCluster", "viewer", { cluster: here.cluster });
await bind("besides", "editor", { project: nextDoor.project });
await bind("imitator", "admin", { project: namesake.project });
await bind("overThere", "admin", { cluster: namesake.cluster });
await bind("both", "editor", { project: here.project });
await bind("both", "editor", { project: namesake.project });
afterAll(() => world.stop());

const bodyOf = (changes: object = {}) => content({ namespace: here.namespace, org_id: here.org, ...changes });
const pathOf = ({ namespace, name }: { namespace: string; name: string }, rest = "") =>
  `/stack-templates/${namespace}/${name}${rest}`;

async function made(changes: object, by: Person = people.admin) {
  const answer = await by.api.post("/stack-templates", bodyOf(changes));
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const idsSeenBy = async ({ api }: Person): Promise<string[]> => {
  const { body } = await api.get(`/stack-templates?namespace=${here.namespace}&items_per_page=100`);
  expect(body.has_more).toBe(false);
  return body.data.map(({ id }: { id: string }) => id);
};

describe("a project of the same name on another cluster", () => {
  test.each(["imitator", "overThere"] as const)(
    "[TP45] a project of the same name on another cluster gives %s nothing of a template of scope project",
    async (who) => {
      const template = await made({ scope: "project", project_id: here.project });
      const { api } = people[who];
      expect(await idsSeenBy(people[who])).not.toContain(template.id);
      expect((await api.get(pathOf(template))).status).toBe(404);
      expect((await api.put(pathOf(template), { description: "Mine." })).status).toBe(404);
      const order = { project_id: namesake.project, parameters: { image: "nginx" } };
      expect((await api.post(pathOf(template, "/deploy"), order)).status).toBe(404);
      expect((await api.delete(pathOf(template))).status).toBe(404);
      expect((await people.editor.api.get(pathOf(template))).body).toEqual(template);
    },
  );

  test.each(["imitator", "overThere"] as const)(
    "[TP45] a project of the same name on another cluster gives %s nothing of a template of scope cluster",
    async (who) => {
      const template = await made({ scope: "cluster", cluster_id: here.cluster });
      const { api } = people[who];
      expect(await idsSeenBy(people[who])).not.toContain(template.id);
      expect((await api.get(pathOf(template))).status).toBe(404);
      expect((await api.put(pathOf(template), { description: "Mine." })).status).toBe(404);
      expect((await api.delete(pathOf(template))).status).toBe(404);
    },
  );

  test("[TP45] editors of a project cannot make a template for a project of the same name on another cluster", async () => {
    const refused = await people.imitator.api.post(
      "/stack-templates",
      bodyOf({ project_id: here.project, scope: "project" }),
    );
    expect(refused.status).toBe(404);
  });
});

describe("the project or cluster of a new template", () => {
  test("[TP44] the project or cluster of a new template is the one that is named, and reads and the list show it", async () => {
    const ofProject = await made({ scope: "project", project_id: here.project.toUpperCase() });
    expect(ofProject).toMatchObject({ project_id: here.project, cluster_id: null });
    const ofCluster = await made({ scope: "cluster", cluster_id: here.cluster });
    expect(ofCluster).toMatchObject({ project_id: null, cluster_id: here.cluster });
    expect(await made({ scope: "organization" })).toMatchObject({ project_id: null, cluster_id: null });
    const { body } = await people.editor.api.get(`/stack-templates?namespace=${here.namespace}&scope=project`);
    expect(body.data).toContainEqual(expect.objectContaining({ id: ofProject.id, project_id: here.project }));
  });

  test("[TP44] the project or cluster of a new template is the only one with its namespace that the caller sees", async () => {
    const ofEditor = await people.editor.api.post("/stack-templates", bodyOf({ scope: "project", org_id: undefined }));
    expect(ofEditor).toMatchObject({ status: 201, body: { project_id: here.project, org_id: here.org } });
    const beside = await made({ scope: "cluster", namespace: nextDoor.namespace });
    expect(beside).toMatchObject({ cluster_id: here.cluster });
  });

  test.each([
    ["project", "project_id", () => people.both],
    ["project", "project_id", () => people.admin],
    ["cluster", "cluster_id", () => people.admin],
  ])(
    "[TP44] a new template of scope %s must name its place where several have its namespace: 422 at %s",
    async (scope, field, who) => {
      const refused = await who().api.post("/stack-templates", bodyOf({ scope }));
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field], type: "value_error" }] } });
      expect(refused.body.detail[0].msg).toContain(field);
    },
  );

  test.each([
    ["project", "project_id"],
    ["cluster", "cluster_id"],
  ])(
    "[TP44] a new template of scope %s must name its place where none has its namespace: 422 at %s",
    async (scope, field) => {
      const refused = await people.admin.api.post("/stack-templates", bodyOf({ scope, namespace: someName() }));
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field] }] } });
    },
  );

  test("[TP44] a new template of a project or cluster that is hidden, of another namespace or of another organization is a 404", async () => {
    const refusals = [
      { scope: "project", project_id: foreign.project },
      { scope: "project", project_id: foreign.project, org_id: undefined },
      { scope: "project", project_id: nextDoor.project },
      { scope: "project", project_id: newId() },
      { scope: "cluster", cluster_id: foreign.cluster },
      { scope: "cluster", cluster_id: foreign.cluster, org_id: undefined },
      { scope: "cluster", cluster_id: newId() },
    ];
    for (const changes of refusals) {
      const refused = await people.admin.api.post("/stack-templates", bodyOf(changes));
      expect([changes, refused.status]).toEqual([changes, 404]);
    }
    const mixed = bodyOf({ scope: "cluster", cluster_id: foreign.cluster });
    expect((await world.admin.api.post("/stack-templates", mixed)).status).toBe(404);
  });

  test.each([
    ["organization", { project_id: newId() }, "project_id"],
    ["cluster", { project_id: newId() }, "project_id"],
    ["project", { cluster_id: newId() }, "cluster_id"],
    ["global", { cluster_id: newId() }, "cluster_id"],
  ])("[TP44] a place of another scope than %s is a 422 for a new template: %j", async (scope, ids, field) => {
    const refused = await people.admin.api.post("/stack-templates", bodyOf({ scope, ...ids }));
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field], type: "value_error" }] } });
  });

  test("[TP44] the project or cluster of a new template is named in the form beside a YAML text", async () => {
    const text = content({ namespace: here.namespace, scope: "project" });
    const parts = { yaml_content: JSON.stringify(text), create: "true", org_id: here.org };
    const unsaid = await people.both.api.send("POST", "/stack-templates/from-yaml", { parts });
    expect(unsaid).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "project_id"] }] } });
    const sending = { parts: { ...parts, project_id: namesake.project } };
    const said = await people.both.api.send("POST", "/stack-templates/from-yaml", sending);
    expect(said).toMatchObject({ status: 201, body: { project_id: namesake.project } });
  });

  test("[TP25] the project or cluster of a template from an app is that of the app", async () => {
    const name = someName("app");
    const components = [{ name: "web", workload_spec: { image: "nginx" } }];
    await people.both.api.post("/apps", { name, project_id: namesake.project, components });
    const source = `/stack-templates/from-app/${here.namespace}/${name}?project_id=${namesake.project}`;
    const captured = await people.both.api.post(source, { name: someName() });
    expect(captured).toMatchObject({ status: 201, body: { project_id: namesake.project } });
    const forCluster = await people.admin.api.post(source, { name: someName(), scope: "cluster" });
    expect(forCluster).toMatchObject({ status: 201, body: { cluster_id: namesake.cluster, project_id: null } });
    const moved = await people.both.api.post(source, { name: someName(), project_id: here.project });
    expect(moved).toMatchObject({ status: 201, body: { project_id: here.project } });
    const notTheirs = await people.imitator.api.post(source, { name: someName(), project_id: here.project });
    expect(notTheirs.status).toBe(404);
  });
});

describe("the end of a project or cluster", () => {
  test("[TP46] templates go with their project or cluster, and a project that is being deleted takes no new template", async () => {
    const { kysely: db } = world.database;
    const short = await insertPlace(db, here.org);
    const kept = await made({ namespace: short.namespace });
    const ofProject = await made({ namespace: short.namespace, scope: "project" });
    const ofCluster = await made({ namespace: short.namespace, scope: "cluster" });
    expect((await people.admin.api.delete(`/projects/${short.project}`)).status).toBe(202);
    const late = await people.admin.api.post(
      "/stack-templates",
      bodyOf({ namespace: short.namespace, scope: "project" }),
    );
    expect(late.status).toBe(409);
    expect((await people.admin.api.get(pathOf(ofProject))).status).toBe(200);

    const isThere = async (template: { namespace: string; name: string }) =>
      (await people.admin.api.get(pathOf(template))).status === 200;
    await db.deleteFrom("projects").where("id", "=", short.project).execute();
    expect([await isThere(ofProject), await isThere(ofCluster), await isThere(kept)]).toEqual([false, true, true]);
    await db.deleteFrom("clusters").where("id", "=", short.cluster).execute();
    expect([await isThere(ofCluster), await isThere(kept)]).toEqual([false, true]);
  });

  test("[TP46] the templates of a deleted project give no right to a later project with its name", async () => {
    const { kysely: db } = world.database;
    const first = await insertPlace(db, here.org);
    const template = await made({ namespace: first.namespace, scope: "project" });
    await db.deleteFrom("projects").where("id", "=", first.project).execute();
    await insertPlace(db, here.org, { cluster: first.cluster, namespace: first.namespace });
    expect((await people.admin.api.get(pathOf(template))).status).toBe(404);
  });
});

describe("the list and the reading of one template", () => {
  test("[TP47] the list and the reading of one template agree for everyone: what is in the list can be read, and nothing else", async () => {
    const { kysely: db } = world.database;
    const templates = [
      await made({ scope: "project", project_id: here.project }),
      await made({ scope: "project", project_id: namesake.project }),
      await made({ scope: "cluster", cluster_id: here.cluster }),
      await made({ scope: "cluster", cluster_id: namesake.cluster }),
      await made({ scope: "organization" }),
      await made({ scope: "global" }, world.admin),
      await made({ scope: "project", org_id: foreign.org, project_id: foreign.project }, world.admin),
      await made({ scope: "cluster", org_id: foreign.org, cluster_id: foreign.cluster }, world.admin),
      await made({ scope: "organization", org_id: foreign.org }, world.admin),
    ];
    const lost = await made({ scope: "project", project_id: here.project });
    await db.updateTable("stack_templates").set({ project_id: null }).where("id", "=", lost.id).execute();
    templates.push(lost);

    const seen: Record<string, string> = {};
    const everybody = { ...people, stranger: await world.person(), superuser: world.admin };
    for (const [who, person] of Object.entries(everybody)) {
      const inList = new Set(await idsSeenBy(person));
      const read = await Promise.all(
        templates.map(async ({ namespace, name, org_id }) => {
          const { status } = await person.api.get(`${pathOf({ namespace, name })}?org_id=${org_id}`);
          expect([200, 404]).toContain(status);
          return status === 200;
        }),
      );
      expect([who, templates.map(({ id }) => inList.has(id))]).toEqual([who, read]);
      seen[who] = read.map((is) => (is ? "x" : ".")).join("");
    }
    expect(seen).toEqual({
      admin: "xxxxxx...x",
      editor: "x.x.xx....",
      viewer: "x.x.xx....",
      onCluster: "x.x.xx....",
      besides: "..x.xx....",
      imitator: ".x.xxx....",
      overThere: ".x.xxx....",
      both: "xxxxxx....",
      stranger: ".....x....",
      superuser: "xxxxxxxxxx",
    });
  });
});
