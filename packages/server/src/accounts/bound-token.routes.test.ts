import type { Scope } from "@binnacle/contract";
import { type Client, type Following, type Person, startWorld } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bindRole, insertProject } from "../access/bindings.fixture.ts";
import { logEvents } from "../events/event-log.store.ts";
import { eventOf } from "../events/events.fixture.ts";
import { newId } from "../id.adapter.ts";

const DAY = 24 * 60 * 60_000;
const NOBODYS = "0198c0de-0000-7000-8000-000000000000";
const APP = { components: [{ name: "web", workload_spec: { image: "nginx:1.29" } }] };

const world = await startWorld();
const { kysely: db } = world.database;
/** An administrator of both organizations. */
const { org, cluster, project, admin: ada } = await world.projectWithPeople();
const neighbour = await insertProject(db, org, cluster);
const elsewhere = await world.projectWithPeople();
await world.admin.api.post(`/orgs/${elsewhere.org}/members`, { user_id: ada.id, role: "admin" });
afterAll(() => world.stop());

interface Bound {
  readonly org_id?: string;
  readonly project_id?: string;
}

const bearer = (token: string) => world.anyone.with({ authorization: `Bearer ${token}` });
const create = (person: Person, bound: Bound, scopes: readonly Scope[] = ["read", "write"]) =>
  person.api.post("/cli-tokens", { name: "ci", scopes, ...bound });
const tokenOf = async (person: Person, bound: Bound, ...scopes: Scope[]): Promise<Client> =>
  bearer((await create(person, bound, scopes.length > 0 ? scopes : undefined)).body.token);

const namespaceOf = (id: string) => `project-${id}`;
const word = () => `w${newId().slice(-12)}`;
const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id).sort();

async function follow(api: Client): Promise<Following> {
  const stream = await api.follow("/events/stream");
  onTestFinished(() => stream.leave());
  expect(stream.status).toBe(200);
  return stream;
}

describe("POST /cli-tokens with a place", () => {
  test("[CT37] POST /cli-tokens binds a token to an organization or a project, and lists show which one", async () => {
    const [toOrg, toProject] = [await create(ada, { org_id: org }), await create(ada, { project_id: project })];
    expect(toOrg).toMatchObject({ status: 201, body: { org_id: org, project_id: null } });
    expect(toProject).toMatchObject({ status: 201, body: { org_id: null, project_id: project } });
    const { data } = (await ada.api.get("/cli-tokens?items_per_page=2")).body;
    expect(data).toMatchObject([{ project_id: project }, { org_id: org }]);
  });

  test("[CT37] POST /cli-tokens with an organization or project that the user does not see is a 404 and creates nothing", async () => {
    const member = await world.person({ org });
    const refused = [{ org_id: elsewhere.org }, { project_id: project }, { org_id: NOBODYS }, { project_id: NOBODYS }];
    for (const bound of refused) expect((await create(member, bound)).status).toBe(404);
    expect((await member.api.get("/cli-tokens")).body.total_count).toBe(0);
    await bindRole(db, member.id, "viewer", { project });
    expect((await create(member, { project_id: project })).status).toBe(201);
  });

  test("[CT37] POST /cli-tokens with both an organization and a project is a 422", async () => {
    const answer = await create(ada, { org_id: org, project_id: project });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(["body", "project_id"]);
  });
});

describe("a CLI token that is bound to a project", () => {
  let token: Client;
  beforeAll(async () => {
    token = await tokenOf(ada, { project_id: project });
  });

  test("[CT36] a CLI token that is bound to a project works in that project as its user does", async () => {
    const name = word();
    expect((await token.post("/apps", { name, project_id: project, ...APP })).status).toBe(201);
    const path = `/apps/${namespaceOf(project)}/${name}`;
    expect((await token.get(`${path}?project_id=${project}`)).status).toBe(200);
    expect((await token.post(`${path}/pause?project_id=${project}`)).status).toBe(200);
    expect((await token.get("/projects")).body).toMatchObject({ total_count: 1, data: [{ id: project }] });
  });

  test("[CT36] a CLI token that is bound to a project finds nothing outside of it", async () => {
    const app = { name: word(), project_id: neighbour, ...APP };
    expect((await ada.api.post("/apps", app)).status).toBe(201);
    const outside = `/apps/${namespaceOf(neighbour)}/${app.name}`;
    const requests: [string, string, object?][] = [
      ["GET", `/projects/${neighbour}`],
      ["GET", `/projects/${neighbour}/apps`],
      ["GET", `${outside}?project_id=${neighbour}`],
      ["GET", `${outside}?project_id=${project}`],
      ["PATCH", `${outside}?project_id=${neighbour}`, { description: "taken over" }],
      ["DELETE", `${outside}?project_id=${neighbour}`],
      ["POST", "/apps", { ...app, name: word() }],
      ["DELETE", `/projects/${neighbour}`],
      ["POST", "/projects", { name: word(), cluster_id: cluster }],
      ["GET", `/clusters/${cluster}`],
      ["DELETE", `/clusters/${cluster}`],
      ["GET", `/clusters/${cluster}/registry-secrets`],
      ["GET", `/orgs/${org}`],
      ["PUT", `/orgs/${org}`, { name: "taken over" }],
      ["GET", `/orgs/${org}/audit-log`],
      ["GET", `/orgs/${org}/clusters`],
      ["POST", `/orgs/${org}/clusters`, { name: word() }],
      ["GET", `/org/settings?org_id=${org}`],
      ["GET", `/stack-templates/inspect-chart?repo=https://charts.example.com&name=x&org_id=${org}`],
      ["POST", "/tasks/task", { kind: "resync_cluster", payload: { cluster_id: cluster } }],
    ];
    for (const [method, path, body] of requests) {
      const { status } = await token.send(method, path, body ? { body } : {});
      expect({ method, path, status }).toEqual({ method, path, status: 404 });
    }
    for (const list of ["/orgs", `/projects?cluster_id=${elsewhere.cluster}`, `/apps?project_id=${neighbour}`]) {
      expect((await token.get(list)).body).toMatchObject({ data: [], total_count: 0 });
    }
    expect((await token.get(`/addon-instances?org_id=${elsewhere.org}`)).body.total_count).toBe(0);
  });

  test("[CT36] a CLI token that is bound to a project creates templates of that project and none of a wider scope", async () => {
    const content = { version: "1.0.0", components: APP.components };
    const inside = { name: word(), namespace: namespaceOf(project), ...content };
    expect((await token.post("/stack-templates", inside)).status).toBe(201);
    const outside = { ...inside, name: word(), namespace: namespaceOf(neighbour), project_id: neighbour };
    expect((await token.post("/stack-templates", outside)).status).toBe(404);
    const wider = { ...inside, name: word(), scope: "organization" };
    expect((await token.post("/stack-templates", { ...wider, org_id: org })).status).toBe(404);
    expect((await token.post("/stack-templates", wider)).status).not.toBe(201);
  });

  test("[CT36] a CLI token that is bound to a project sees no template of its organization and changes no global one", async () => {
    const content = { namespace: "shared", version: "1.0.0", components: APP.components };
    const [own, global] = [word(), word()];
    await ada.api.post("/stack-templates", { ...content, name: own, scope: "organization", org_id: org });
    await world.admin.api.post("/stack-templates", { ...content, name: global, scope: "global", org_id: org });
    const superusers = await tokenOf(world.admin, { project_id: project });
    expect((await superusers.get(`/stack-templates/shared/${own}`)).status).toBe(404);
    expect((await superusers.get(`/stack-templates/shared/${global}`)).status).toBe(200);
    expect((await superusers.delete(`/stack-templates/shared/${global}`)).status).toBe(403);
  });

  test("[CT36] a CLI token that is bound to a project gets only that project's role bindings from /user/me", async () => {
    const editor = await world.person({ org });
    await bindRole(db, editor.id, "editor", { project });
    await bindRole(db, editor.id, "viewer", { project: neighbour });
    const { status, body } = await (await tokenOf(editor, { project_id: project })).get("/user/me");
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: editor.id, organizations: [], role_bindings: [{ project_id: project }] });
  });

  test("[CT36] a CLI token that is bound to a project does not read an answer to its user by the same Idempotency-Key", async () => {
    const sending = { body: { name: word(), project_id: neighbour, ...APP }, headers: { "idempotency-key": word() } };
    expect((await ada.api.send("POST", "/apps", sending)).status).toBe(201);
    expect((await token.send("POST", "/apps", sending)).status).toBe(404);
  });

  test("[CT36] a superuser's CLI token that is bound to a project has no superuser's rights outside of it", async () => {
    const bound = await tokenOf(world.admin, { project_id: project });
    expect((await bound.get(`/projects/${neighbour}`)).status).toBe(404);
    expect((await bound.get("/projects")).body.total_count).toBe(1);
    const detail = expect.stringContaining("bound to one organization or one project");
    for (const [path, body] of [
      ["/orgs", { name: word() }],
      ["/tier/free/rate_limit", { path: `/${word()}`, limit: 1, period: 1 }],
      ["/tasks/task", { kind: "ping" }],
    ] as const) {
      expect(await bound.post(path, body)).toMatchObject({ status: 403, body: { detail } });
    }
  });

  test("[CT36] a CLI token that is bound to a project sees nothing once its user has lost the project, and is a 401 once it is gone", async () => {
    const gone = await insertProject(db, org, cluster);
    const viewer = await world.person({ org });
    const binding = await bindRole(db, viewer.id, "viewer", { project: gone });
    const [viewers, admins] = [await tokenOf(viewer, { project_id: gone }), await tokenOf(ada, { project_id: gone })];
    expect((await viewers.get(`/projects/${gone}`)).status).toBe(200);
    await db.deleteFrom("role_bindings").where("id", "=", binding).execute();
    expect((await viewers.get(`/projects/${gone}`)).status).toBe(404);
    expect((await viewers.get("/projects")).body.total_count).toBe(0);
    await db.deleteFrom("projects").where("id", "=", gone).execute();
    for (const dead of [viewers, admins]) expect((await dead.get("/projects")).status).toBe(401);
  });

  test("[AC19] the event stream of a CLI token that is bound to a project has the events of that project and no others", async () => {
    const superusers = await follow(await tokenOf(world.admin, { project_id: project }));
    const admins = await follow(token);
    const places = [
      { org_id: org, cluster_id: cluster, project_id: neighbour },
      { org_id: org, cluster_id: cluster },
      { org_id: org },
      { org_id: null },
      { org_id: elsewhere.org, cluster_id: elsewhere.cluster, project_id: elsewhere.project },
    ];
    const wanted = eventOf({ id: newId(), org_id: org, cluster_id: cluster, project_id: project });
    await logEvents(db, [...places.map((at) => eventOf({ id: newId(), ...at })), wanted]);
    for (const stream of [superusers, admins]) expect((await stream.next())?.data.id).toBe(wanted.id);
  });
});

describe("a CLI token that is bound to an organization", () => {
  test("[CT36] a CLI token that is bound to an organization works in all of it and finds nothing of another", async () => {
    const token = await tokenOf(ada, { org_id: org });
    expect(ids((await token.get("/orgs")).body)).toEqual([org]);
    expect((await token.get("/user/me")).body.organizations).toMatchObject([{ id: org }]);
    expect((await token.get(`/orgs/${org}/audit-log`)).status).toBe(200);
    expect((await token.get(`/orgs/${org}/clusters`)).body.data).toMatchObject([{ id: cluster }]);
    expect((await token.post("/projects", { name: word(), cluster_id: cluster })).status).toBe(201);
    const seen = ids((await token.get("/projects?items_per_page=100")).body);
    expect(seen).toEqual(expect.arrayContaining([project, neighbour]));
    expect(seen).not.toContain(elsewhere.project);
    for (const path of [
      `/orgs/${elsewhere.org}`,
      `/orgs/${elsewhere.org}/audit-log`,
      `/clusters/${elsewhere.cluster}`,
      `/projects/${elsewhere.project}`,
    ]) {
      expect((await token.get(path)).status).toBe(404);
    }
    const outside = { name: word(), cluster_id: elsewhere.cluster };
    expect((await token.post("/projects", outside)).status).toBe(404);
    expect((await token.post("/apps", { name: word(), project_id: elsewhere.project, ...APP })).status).toBe(404);
  });

  test("[CT36] a superuser's CLI token that is bound to an organization works in all of it and in no other", async () => {
    const token = await tokenOf(world.admin, { org_id: elsewhere.org });
    expect(ids((await token.get("/orgs")).body)).toEqual([elsewhere.org]);
    expect(ids((await token.get("/projects")).body)).toEqual([elsewhere.project]);
    expect((await token.get(`/orgs/${org}`)).status).toBe(404);
    expect((await token.post("/orgs", { name: word() })).status).toBe(403);
  });

  test("[CT36] a CLI token of an organization finds nothing once its user has left, and is refused once the organization is gone", async () => {
    const gone = await world.org();
    const person = await world.person({ org: gone, role: "admin" });
    const [left, kept] = [await tokenOf(person, { org_id: gone }), await tokenOf(world.admin, { org_id: gone })];
    await world.admin.api.delete(`/orgs/${gone}/members/${person.id}`);
    expect((await left.get("/orgs")).body.total_count).toBe(0);
    expect((await left.get(`/orgs/${gone}`)).status).toBe(403);
    expect((await world.admin.api.delete(`/orgs/${gone}`)).status).toBeLessThan(300);
    for (const dead of [left, kept]) expect((await dead.get("/orgs")).status).toBe(401);
  });
});

describe("a stream of a CLI token", () => {
  const ended = async (stream: Following) => expect(await stream.rest()).toEqual(expect.any(Array));

  test("[CT43] the event stream of a CLI token ends when the token is revoked, by its user or by itself", async () => {
    for (const revoke of [
      (id: string) => ada.api.delete(`/cli-tokens/${id}`),
      (_id: string, token: Client) => token.delete("/cli-tokens/self"),
    ]) {
      const { id, token } = (await create(ada, { project_id: project })).body;
      const stream = await follow(bearer(token));
      expect((await revoke(id, bearer(token))).status).toBe(204);
      await ended(stream);
    }
  });

  test("[CT43] the event stream of a CLI token ends when the token expires", async () => {
    const own = await startWorld();
    onTestFinished(() => own.stop());
    const fields = { name: "for a day", scopes: ["read"], expires_in_days: 1 };
    const { token } = (await own.admin.api.post("/cli-tokens", fields)).body;
    const stream = await follow(own.anyone.with({ authorization: `Bearer ${token}` }));
    own.clock.advance(DAY);
    await ended(stream);
  });

  test("[CT43] an event stream needs a CLI token with the scope `read`", async () => {
    const token = await tokenOf(ada, {}, "write", "clusters:read");
    expect((await token.get("/events/stream")).status).toBe(403);
  });
});
