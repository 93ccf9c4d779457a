import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";

const NOBODYS = "0198c0de-0000-7000-8000-000000000000";

const world = await startWorld({ env: { BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
afterAll(() => world.stop());

interface Started {
  readonly device_code: string;
  readonly user_code: string;
}
const SESSION = { client_name: "binnacle on laptop", kind: "session" };

const from = (address: string) => world.anyone.with({ "x-forwarded-for": address });
const begin = (body: object, api: Client = world.anyone) => api.post("/auth/cli/device", body);
const start = async (body: object = SESSION, api?: Client): Promise<Started> => (await begin(body, api)).body;
const decide = ({ api }: Pick<Person, "api">, { user_code }: Started, approved = true) =>
  api.post("/auth/cli/device/approval", { user_code, approved });
const claim = ({ device_code }: Started, api: Client = world.anyone) =>
  api.post("/auth/cli/device/token", { device_code });
const bearer = (token: string) => world.anyone.with({ authorization: `Bearer ${token}` });

async function sessionOf(person: Person, api?: Client) {
  const device = await start();
  expect((await decide(person, device)).status).toBe(204);
  const answer = await claim(device, api);
  const cookie = answer.headers.get("set-cookie") ?? "";
  return { answer, cookie, api: bearer(answer.body.access_token).with({ cookie: cookie.split(";")[0] ?? "" }) };
}

describe("a device that asks for a session", () => {
  test("[CT39] a device that asks for a session gets the answer of a login, and may do what its user may do", async () => {
    const ada = await world.person();
    const { answer, cookie, api } = await sessionOf(ada);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ access_token: expect.any(String), token_type: "bearer" });
    for (const part of ["refresh_token=", "HttpOnly", "SameSite=Lax", "Path=/api/v1", "Max-Age=604800"]) {
      expect(cookie).toContain(part);
    }
    expect((await api.get("/user/me")).body.id).toBe(ada.id);
    expect((await api.post("/refresh")).status).toBe(200);
    expect((await api.post("/cli-tokens", { name: "ci", scopes: ["read"] })).status).toBe(201);
    expect((await api.post("/logout")).status).toBe(200);
    expect((await api.get("/user/me")).status).toBe(401);
    expect((await ada.api.get("/user/me")).status).toBe(200);
  });

  test("[AU87] a page of another origin gets neither the session of a device nor its cookie, and the device still gets them", async () => {
    const device = await start();
    await decide(await world.person(), device);
    const refused = await claim(device, world.anyone.with({ origin: "https://evil.example" }));
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([403, null]);
    expect((await claim(device)).status).toBe(200);
  });

  test("[AU54] the session of a device is listed with the name of the device and ends like any other", async () => {
    const ada = await world.person();
    const { api } = await sessionOf(ada, from("203.0.113.9").with({ "user-agent": "binnacle/1.0" }));
    const [session, own] = (await ada.api.get("/sessions")).body.data;
    expect(session).toMatchObject({
      client_name: SESSION.client_name,
      source_address: "203.0.113.9",
      user_agent: "binnacle/1.0",
      current: false,
    });
    expect(own).toMatchObject({ client_name: null, current: true });
    expect((await ada.api.delete(`/sessions/${session.id}`)).status).toBe(204);
    expect((await api.get("/user/me")).status).toBe(401);
    expect((await api.post("/refresh")).status).toBe(401);
  });

  test("[CT39] a device that asks for a session needs no scopes, and cannot ask for an organization or a project", async () => {
    expect((await begin({ ...SESSION, requested_scopes: ["read"] })).status).toBe(200);
    for (const bound of [{ org_id: NOBODYS }, { project_id: NOBODYS }]) {
      expect((await begin({ ...SESSION, ...bound })).status).toBe(422);
    }
    expect((await begin({ ...SESSION, kind: "everything" })).status).toBe(422);
    const missing = await begin({ client_name: "laptop" });
    expect(missing.body.detail).toMatchObject([{ loc: ["body", "requested_scopes"], type: "missing" }]);
  });

  test("[CT39] a device that asks for a session gets one, also when it polls several times at once", async () => {
    const ada = await world.person();
    const device = await start();
    await decide(ada, device);
    const answers = await Promise.all(Array.from({ length: 5 }, () => claim(device)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect((await ada.api.get("/sessions")).body.total_count).toBe(2);
  });

  test("[CT39] a device gets no session when it was denied, or its user was disabled or has a new password", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    const [denied, disabled, renewed] = [await start(), await start(), await start()];
    await decide(ada, denied, false);
    await decide(ada, disabled);
    await decide(bob, renewed);
    await world.admin.api.patch(`/user/${ada.id}/disabled`, { disabled: true });
    await bob.api.patch(`/user/${bob.id}`, { password: "another password", current_password: bob.password });
    for (const device of [denied, disabled, renewed]) {
      expect(await claim(device)).toMatchObject({ status: 400, body: { error: "access_denied" } });
    }
  });
});

describe("somebody who is sent a code", () => {
  test("[CT33] [CT42] a user reads of a pending device that it asks for a session, from which address and how long ago", async () => {
    const ada = await world.person();
    const device = await start(SESSION, from("198.51.100.66"));
    world.clock.advance(90_000);
    const { body } = await ada.api.get(`/auth/cli/device/${device.user_code}`);
    expect(body).toMatchObject({
      client_name: SESSION.client_name,
      kind: "session",
      scopes: [],
      org_id: null,
      project_id: null,
      source_address: "198.51.100.66",
      age_seconds: 90,
      expires_in: 510,
    });
  });

  test("[CT42] the audit log has who approved which device for what, from which address", async () => {
    const org = await world.org();
    const ada = await world.person({ org });
    const device = await start(SESSION, from("198.51.100.66"));
    await decide({ api: ada.api.with({ "x-forwarded-for": "203.0.113.7" }) }, device);
    await claim(device, from("198.51.100.66"));
    const entries = await world.database.kysely
      .selectFrom("audit_log")
      .select(["action", "actor_id", "source_address", "resource_name", "changes"])
      .where("org_id", "=", org)
      .where("action", "in", ["device_login.approve", "session.create"])
      .where("source_address", "<>", "127.0.0.1")
      .orderBy("id")
      .execute();
    expect(entries).toEqual([
      {
        action: "device_login.approve",
        actor_id: ada.id,
        source_address: "203.0.113.7",
        resource_name: SESSION.client_name,
        changes: { kind: "session", asked_from: "198.51.100.66" },
      },
      {
        action: "session.create",
        actor_id: ada.id,
        source_address: "198.51.100.66",
        resource_name: null,
        changes: { client_name: SESSION.client_name },
      },
    ]);
  });

  test("[CT42] POST /auth/cli/device refuses a name with hidden characters", async () => {
    for (const client_name of ["binnacle\u202e", "two\nlines", "\u{e0041}"]) {
      expect((await begin({ ...SESSION, client_name })).status).toBe(422);
    }
  });

  test("[CT42] the user code of an approved device does not work as its device code", async () => {
    const ada = await world.person();
    const device = await start();
    await decide(ada, device);
    const answer = await claim({ ...device, device_code: device.user_code });
    expect(answer).toMatchObject({ status: 400, body: { error: "expired_token" } });
  });
});

describe("a device that asks for a bound token", () => {
  const wanted = { client_name: "ci", requested_scopes: ["read"] };

  test("[CT42] [CT37] the user who decides about a bound token sees its project by name, and the token is bound to it", async () => {
    const { kysely: db } = world.database;
    const org = await world.org();
    const project = await insertProject(db, org, await insertCluster(db, org));
    const ada = await world.person({ org, role: "admin" });
    const device = await start({ ...wanted, project_id: project });
    const { body } = await ada.api.get(`/auth/cli/device/${device.user_code}`);
    expect(body).toMatchObject({ kind: "token", project_id: project, project_name: `project-${project}` });
    await decide(ada, device);
    const token = bearer((await claim(device)).body.token);
    expect((await token.get("/projects")).body.data).toMatchObject([{ id: project }]);
    expect((await token.get(`/orgs/${org}`)).status).toBe(404);
  });

  test("[CT42] [CT37] a user who does not see the place of a bound token reads no name of it and cannot approve it", async () => {
    const org = await world.org();
    const [stranger, member] = [await world.person(), await world.person({ org })];
    const device = await start({ ...wanted, org_id: org });
    const { body } = await stranger.api.get(`/auth/cli/device/${device.user_code}`);
    expect(body).toMatchObject({ org_id: org, org_name: null });
    expect((await decide(stranger, device)).status).toBe(404);
    expect((await member.api.get(`/auth/cli/device/${device.user_code}`)).body.org_name).toEqual(expect.any(String));
    expect((await decide(member, device)).status).toBe(204);
  });

  test("[CT37] a device gets no bound token once its organization is deleted", async () => {
    const org = await world.org();
    const device = await start({ ...wanted, org_id: org });
    await decide(world.admin, device);
    await world.admin.api.delete(`/orgs/${org}`);
    expect((await claim(device)).status).toBe(400);
  });
});
