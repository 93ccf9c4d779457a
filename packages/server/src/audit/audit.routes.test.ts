import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";

const world = await startWorld();
const { org, admin, member, stranger } = await world.orgWithPeople();
afterAll(() => world.stop());

const uniqueName = () => `Org ${newId()}`;
const log = async (orgId: string, query = "") => (await world.admin.api.get(`/orgs/${orgId}/audit-log${query}`)).body;
const actionsIn = async (orgId: string): Promise<string[]> =>
  (await log(orgId)).data.map(({ action }: { action: string }) => action);

function entriesOf(requestId: string | null) {
  return world.database.kysely.selectFrom("audit_log").selectAll().where("request_id", "=", requestId).execute();
}

describe("GET /orgs/{id}/audit-log", () => {
  test("[AL1] the audit log has who changed what, from where, in which request, with the values before and after", async () => {
    const id = await world.org();
    const operator = await world.person({ org: id, role: "admin" });
    const { name: before } = (await operator.api.get(`/orgs/${id}`)).body;
    const name = uniqueName();
    const changed = await operator.api.put(`/orgs/${id}`, { name, description: "Ours." });
    const { status, body } = await operator.api.get(`/orgs/${id}/audit-log?items_per_page=1`);
    expect(status).toBe(200);
    expect(body.data).toEqual([
      {
        id: expect.any(String),
        at: world.clock.now().toISOString(),
        actor: { id: operator.id, email: operator.email },
        via: "user",
        source_address: "127.0.0.1",
        action: "org.update",
        resource: { type: "org", id, name },
        changes: { name: { before, after: name }, description: { before: null, after: "Ours." } },
        summary: `name ${before} → ${name}, description added`,
        request_id: changed.headers.get("x-request-id"),
      },
    ]);
  });

  test("[AL84] [AL85] the audit log has the former values of roles, clusters and credentials, and no secret", async () => {
    const id = await world.org();
    const [operator, person] = [await world.person({ org: id, role: "admin" }), await world.person({ org: id })];
    const key = { access_key_id: "AKIAEXAMPLEEXAMPLE00", secret_access_key: "hunter1".repeat(6) };
    const region = "eu-central-1";
    const made = { name: "cloud", provider: "aws", region, ...key };
    const credential = (await operator.api.post(`/orgs/${id}/credentials`, made)).body;
    const cluster = (await operator.api.post(`/orgs/${id}/clusters`, { name: "edge" })).body;
    const roles = `/clusters/${cluster.id}/rbac`;
    await operator.api.post(roles, { user_id: person.id, role: "viewer" });
    const newKey = { region: "eu-west-1", secret_access_key: "hunter2".repeat(6) };
    const answers = [
      await operator.api.put(`/orgs/${id}/members/${person.id}`, { role: "admin" }),
      await operator.api.put(roles, { user_id: person.id, role: "editor" }),
      await operator.api.patch(`/clusters/${cluster.id}`, { name: "edge", description: "In the shop." }),
      await operator.api.patch(`/credentials/${credential.id}`, newKey),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { data } = await log(id, "?items_per_page=4");
    expect(data.map(({ summary }: { summary: string }) => summary)).toEqual([
      "region eu-central-1 → eu-west-1, secret_access_key changed",
      "description added",
      "role viewer → editor",
      "role member → admin",
    ]);
    expect(data[0].changes).toEqual({
      region: { before: region, after: "eu-west-1" },
      secret_access_key: "changed",
    });
    expect(JSON.stringify(data)).not.toMatch(/hunter/);
  });

  test("[AL407] the audit log says in words what was created, granted, revoked and deleted, and for whom", async () => {
    const id = await world.org();
    const [operator, person] = [await world.person({ org: id, role: "admin" }), await world.person({ org: id })];
    const { username } = (await person.api.get("/user/me")).body;
    const cluster = (await operator.api.post(`/orgs/${id}/clusters`, { name: "edge" })).body;
    const place = { name: "shop", cluster_id: cluster.id };
    const project = (await operator.api.post("/projects", place)).body;
    const secret = { name: "hub", server_url: "registry.example.com", username: "u", password: "p" };
    await operator.api.post(`/projects/${project.id}/registry-secrets`, secret);
    const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
    await operator.api.post("/apps", { name: "web", project_id: project.id, components });
    await operator.api.delete(`/apps/shop/web?project_id=${project.id}`);
    const role = (await operator.api.post(`/projects/${project.id}/rbac`, { user_id: person.id, role: "editor" })).body;
    await operator.api.delete(`/projects/${project.id}/rbac?binding_id=${role.binding_id}`);
    await operator.api.post(`/clusters/${cluster.id}/rbac`, { user_id: person.id, role: "viewer" });
    const token = (await operator.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] })).body;
    await operator.api.delete(`/cli-tokens/${token.id}`);
    await operator.api.delete(`/projects/${project.id}`);
    await operator.api.post(`/clusters/${cluster.id}/abandon`, { name: "edge" });
    await operator.api.delete(`/clusters/${cluster.id}`);
    const { data } = await log(id, "?items_per_page=13");
    expect(data.map(({ summary }: { summary: string }) => summary)).toEqual([
      "cluster edge deleted",
      "cluster edge abandoned",
      "project shop deleted",
      "CLI token laptop deleted",
      "CLI token laptop created",
      `role viewer granted to ${username} on cluster edge`,
      `role editor revoked from ${username} on project shop`,
      `role editor granted to ${username} on project shop`,
      "app web deleted",
      expect.any(String),
      "registry secret hub attached",
      "project shop created",
      "cluster edge created",
    ]);
    expect(data[5]).toMatchObject({ resource: { type: "role_binding", name: username }, changes: { cluster: "edge" } });
  });

  test("[AL7] GET /orgs/{id}/audit-log is for administrators of the organization and superusers", async () => {
    expect((await admin.api.get(`/orgs/${org}/audit-log`)).status).toBe(200);
    expect((await world.admin.api.get(`/orgs/${org}/audit-log`)).status).toBe(200);
    expect((await member.api.get(`/orgs/${org}/audit-log`)).status).toBe(403);
    expect((await stranger.api.get(`/orgs/${org}/audit-log`)).status).toBe(403);
    expect((await world.admin.api.get(`/orgs/${newId()}/audit-log`)).status).toBe(404);
  });

  test("[AL7] the audit log is listed newest first, in pages", async () => {
    const id = await world.org();
    const person = await world.person({ org: id });
    await world.admin.api.put(`/orgs/${id}/members/${person.id}`, { role: "admin" });
    await world.admin.api.delete(`/orgs/${id}/members/${person.id}`);
    const actions = ["member.remove", "member.change_role", "session.create", "member.add", "org.create"];
    expect(await actionsIn(id)).toEqual(actions);
    expect(await log(id, "?page=2&items_per_page=4")).toMatchObject({
      data: [{ action: "org.create" }],
      total_count: 5,
      page: 2,
      items_per_page: 4,
      has_more: false,
    });
  });

  test("[AL8] the audit log of an organization has nothing of another one and nothing without an organization", async () => {
    const [here, elsewhere] = [await world.org(), await world.org()];
    await world.admin.api.put(`/orgs/${elsewhere}`, { name: uniqueName() });
    await stranger.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] });
    expect(await actionsIn(here)).toEqual(["org.create"]);
  });
});

describe("what concerns a person", () => {
  const TOKEN = { name: "laptop", scopes: ["clusters:read"] };
  const login = (form: { username: string; password: string }) => world.anyone.send("POST", "/login", { form });

  interface Entry {
    readonly action: string;
    readonly changes: Record<string, unknown>;
  }
  const refusalsIn = async (orgId: string): Promise<Entry[]> =>
    (await log(orgId, "?items_per_page=100")).data.filter(({ action }: Entry) => action.includes("refuse"));

  test("[AL12] changes of a user's account are in the audit log of each of the user's organizations", async () => {
    const [here, there] = [await world.org(), await world.org()];
    const person = await world.person({ org: here });
    await world.admin.api.post(`/orgs/${there}/members`, { user_id: person.id, role: "member" });
    const seenBefore = (await log(there)).total_count;

    const { username, password } = person;
    const again = await world.login(username, password);
    const [session] = (await person.api.get("/sessions")).body.data;
    await world.anyone
      .with({ authorization: `Bearer ${again.token}` })
      .post("/logout", undefined, { headers: { cookie: again.cookie } });
    const token = (await person.api.post("/cli-tokens", TOKEN)).body;
    await world.admin.api.delete(`/cli-tokens/${token.id}?user_id=${person.id}`);
    const body = { requested_scopes: TOKEN.scopes, client_name: TOKEN.name };
    const { user_code, device_code } = (await world.anyone.post("/auth/cli/device", body)).body;
    await person.api.post("/auth/cli/device/approval", { user_code, approved: true });
    await world.anyone.post("/auth/cli/device/token", { device_code });
    await world.admin.api.post(`/user/${person.id}/email-verification`);
    const renewal = { password: "another long secret", current_password: password };
    await person.api.patch(`/user/${person.id}`, renewal);
    await world.admin.api.patch(`/user/${person.id}/disabled`, { disabled: true });
    await world.admin.api.patch(`/user/${person.id}/disabled`, { disabled: false });

    const by = ({ id, email }: { id: string; email: string }) => ({
      actor: { id, email },
      via: "user",
      source_address: "127.0.0.1",
    });
    const [themselves, superuser] = [by(person), by(world.admin)];
    for (const org of [here, there]) {
      const { data, total_count } = await log(org, "?items_per_page=10");
      expect(data.toReversed()).toMatchObject([
        { action: "session.create", resource: { type: "session", id: session.id }, ...themselves },
        { action: "session.end", resource: { type: "session", id: session.id }, ...themselves },
        { action: "cli_token.create", resource: { id: token.id, name: "laptop" }, ...themselves },
        { action: "cli_token.delete", resource: { id: token.id, name: "laptop" }, ...superuser },
        { action: "device_login.approve", changes: { asked_from: "127.0.0.1" }, ...themselves },
        { action: "cli_token.create", changes: { scopes: TOKEN.scopes }, ...themselves },
        { action: "user.verify_email", changes: { email: person.email }, ...superuser },
        { action: "user.update", changes: { password: "changed", revoked_cli_tokens: 1 }, ...themselves },
        { action: "user.disable", resource: { type: "user", id: person.id, name: username }, ...superuser },
        { action: "user.enable", resource: { type: "user", id: person.id }, ...superuser },
      ]);
      if (org === there) expect(total_count).toBe(seenBefore + 10);
    }
  });

  test("[AL12] the creation of a user is in the audit log of the organizations whose administrator created the user", async () => {
    const id = await world.org();
    const maker = await world.person({ org: id, role: "admin" });
    const username = `n${newId().replaceAll("-", "").slice(-12)}`;
    const fields = { name: "New Comer", username, email: `${username}@example.com`, password: "a good password" };
    expect((await maker.api.post("/user", fields)).status).toBe(201);
    expect((await log(id)).data[0]).toMatchObject({ action: "user.create", actor: { id: maker.id } });
  });

  test("[AL13] the audit log has the 1st, 2nd, 4th, 8th… refused sign-in within ten minutes, each with the count", async () => {
    const id = await world.org();
    const { username } = await world.person({ org: id });
    for (let tried = 0; tried < 9; tried++) {
      expect((await login({ username, password: "a wrong guess" })).status).toBe(401);
      // Recorded after the answer.
      if (Number.isInteger(Math.log2(tried + 1))) {
        const expected = Math.log2(tried + 1) + 1;
        await vi.waitFor(async () => expect(await refusalsIn(id)).toHaveLength(expected), 10_000);
      }
    }
    const entry = (refused: number) => ({
      action: "session.refuse",
      actor: { id: null, email: null },
      via: "user",
      source_address: "127.0.0.1",
      resource: { type: "user", name: username },
      changes: { refused, since: expect.any(String) },
    });
    expect(await refusalsIn(id)).toMatchObject([8, 4, 2, 1].map(entry));
    world.clock.advance(10 * 60_000);
    await login({ username, password: "a wrong guess" });
    await vi.waitFor(async () => expect(await refusalsIn(id)).toMatchObject([1, 8, 4, 2, 1].map(entry)), 10_000);
  });

  test("[AL13] wrong current passwords are counted with refused sign-ins, and their entries name the user", async () => {
    const id = await world.org();
    const person = await world.person({ org: id });
    const body = { password: "another long secret", current_password: "a wrong guess" };
    await person.api.patch(`/user/${person.id}`, body);
    await vi.waitFor(async () => expect(await refusalsIn(id)).toHaveLength(1), 10_000);
    expect(await refusalsIn(id)).toMatchObject([{ action: "user.refuse_update", actor: { id: person.id } }]);
  });

  test("[AL13] a refused sign-in with a name that nobody has leaves no audit entry", async () => {
    const refused = await login({ username: "nobody", password: "a wrong guess" });
    expect(refused.status).toBe(401);
    const { username } = await world.person();
    await login({ username, password: "a wrong guess" });
    // Of the later one the entry is there, so one of the earlier would be too.
    const entries = world.database.kysely.selectFrom("audit_log").selectAll().where("resource_name", "=", username);
    await vi.waitFor(async () => expect((await entries.execute()).length).toBe(2), 10_000);
    expect(await entriesOf(refused.headers.get("x-request-id"))).toEqual([]);
  });
});

describe("the audit log", () => {
  test("[AL2] the actor of a login in the audit log is the user who signs in", async () => {
    const login = await world.anyone.send("POST", "/login", {
      form: { username: stranger.username, password: stranger.password },
    });
    expect(await entriesOf(login.headers.get("x-request-id"))).toMatchObject([
      { action: "session.create", actor_id: stranger.id, actor_email: stranger.email, via: "user", org_id: null },
    ]);
  });

  test("[AL3] a refused change leaves no audit entry", async () => {
    const refused = [
      await admin.api.delete(`/orgs/${org}/members/${newId()}`),
      await world.admin.api.put(`/orgs/${org}`, { name: "demo" }),
      await member.api.put(`/orgs/${org}`, { name: uniqueName() }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 409, 403]);
    for (const { headers } of refused) expect(await entriesOf(headers.get("x-request-id"))).toEqual([]);
  });

  test("[AL6] the audit log names an unknown setting and does not show its value", async () => {
    const settings = { drift_policy: "heal", chat_token: "s3cret-value" };
    const changed = await admin.api.patch(`/org/settings?org_id=${org}`, { settings });
    expect(await entriesOf(changed.headers.get("x-request-id"))).toMatchObject([
      {
        action: "org.update_settings",
        changes: { drift_policy: { before: null, after: "heal" }, chat_token: "changed" },
      },
    ]);
  });

  test("[AL9] audit entries stay when their actor or their organization is deleted", async () => {
    const id = await world.org();
    const leaver = await world.person({ org: id, role: "admin" });
    const changed = await leaver.api.put(`/orgs/${id}`, { name: uniqueName() });
    expect((await leaver.api.delete(`/user/${leaver.id}`)).status).toBe(204);
    expect((await world.admin.api.delete(`/orgs/${id}`)).status).toBe(204);
    expect(await entriesOf(changed.headers.get("x-request-id"))).toMatchObject([
      { action: "org.update", actor_id: leaver.id, actor_email: leaver.email, org_id: id },
    ]);
  });
});
