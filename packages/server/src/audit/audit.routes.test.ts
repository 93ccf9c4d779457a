import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../id.ts";

let world: World;
let org: string;
let admin: Person;
let member: Person;
let stranger: Person;

beforeAll(async () => {
  world = await startWorld();
  org = await world.org();
  admin = await world.person({ org, role: "admin" });
  member = await world.person({ org });
  stranger = await world.person();
});
afterAll(() => world?.stop());

const uniqueName = () => `Org ${newId()}`;
const log = async (orgId: string, query = "") => (await world.admin.api.get(`/orgs/${orgId}/audit-log${query}`)).body;
const actionsIn = async (orgId: string): Promise<string[]> =>
  (await log(orgId)).data.map(({ action }: { action: string }) => action);

function entriesOf(requestId: string | null) {
  return world.database.kysely.selectFrom("audit_log").selectAll().where("request_id", "=", requestId).execute();
}

describe("GET /orgs/{id}/audit-log", () => {
  test("[AL1] tells of a change everything there is to know", async () => {
    const id = await world.org();
    const operator = await world.person({ org: id, role: "admin" });
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
        changes: { name, description: "Ours." },
        request_id: changed.headers.get("x-request-id"),
      },
    ]);
  });

  test("[AL7] is read by administrators and superusers", async () => {
    expect((await admin.api.get(`/orgs/${org}/audit-log`)).status).toBe(200);
    expect((await world.admin.api.get(`/orgs/${org}/audit-log`)).status).toBe(200);
    expect((await member.api.get(`/orgs/${org}/audit-log`)).status).toBe(403);
    expect((await stranger.api.get(`/orgs/${org}/audit-log`)).status).toBe(403);
    expect((await world.admin.api.get(`/orgs/${newId()}/audit-log`)).status).toBe(404);
  });

  test("[AL7] comes newest first, a page at a time", async () => {
    const id = await world.org();
    const person = await world.person({ org: id });
    await world.admin.api.put(`/orgs/${id}/members/${person.id}`, { role: "admin" });
    await world.admin.api.delete(`/orgs/${id}/members/${person.id}`);
    expect(await actionsIn(id)).toEqual(["member.remove", "member.change_role", "member.add", "org.create"]);
    expect(await log(id, "?page=2&items_per_page=3")).toMatchObject({
      data: [{ action: "org.create" }],
      total_count: 4,
      page: 2,
      items_per_page: 3,
      has_more: false,
    });
  });

  test("[AL8] holds nothing of another organization and nothing of none", async () => {
    const [here, elsewhere] = [await world.org(), await world.org()];
    await world.admin.api.put(`/orgs/${elsewhere}`, { name: uniqueName() });
    await world.admin.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] });
    expect(await actionsIn(here)).toEqual(["org.create"]);
  });
});

describe("the audit log", () => {
  test("[AL2] names who signs in as the actor of the login", async () => {
    const login = await world.anyone.send("POST", "/login", {
      form: { username: stranger.username, password: stranger.password },
    });
    expect(await entriesOf(login.headers.get("x-request-id"))).toMatchObject([
      { action: "session.create", actor_id: stranger.id, actor_email: stranger.email, via: "user", org_id: null },
    ]);
  });

  test("[AL3] has no entry of what was refused", async () => {
    const refused = [
      await admin.api.delete(`/orgs/${org}/members/${newId()}`),
      await world.admin.api.put(`/orgs/${org}`, { name: "demo" }),
      await member.api.put(`/orgs/${org}`, { name: uniqueName() }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 409, 403]);
    for (const { headers } of refused) expect(await entriesOf(headers.get("x-request-id"))).toEqual([]);
  });

  test("[AL6] names an unknown setting and does not show it", async () => {
    const settings = { drift_policy: "heal", chat_token: "s3cret-value" };
    const changed = await admin.api.patch(`/org/settings?org_id=${org}`, { settings });
    expect(await entriesOf(changed.headers.get("x-request-id"))).toMatchObject([
      { action: "org.update_settings", changes: { drift_policy: "heal", chat_token: "changed" } },
    ]);
  });

  test("[AL9] keeps the entries of an actor and of an organization that are gone", async () => {
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
