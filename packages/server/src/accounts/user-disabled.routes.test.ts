import { type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { hold } from "./locked-row.fixture.ts";

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

const world = await startWorld();
afterAll(() => world.stop());

const bearer = (token: string, { anyone } = world) => anyone.with({ authorization: `Bearer ${token}` });
const setDisabled = ({ id }: Pick<Person, "id">, disabled: boolean, { api }: Pick<Person, "api"> = world.admin) =>
  api.patch(`/user/${id}/disabled`, { disabled });
const login = ({ username, password }: Person) => world.anyone.send("POST", "/login", { form: { username, password } });

async function superuser(): Promise<Person> {
  const person = await world.person();
  const { kysely } = world.database;
  await kysely.updateTable("users").set({ is_superuser: true }).where("id", "=", person.id).execute();
  onTestFinished(async () => {
    await kysely.updateTable("users").set({ is_superuser: false }).where("id", "=", person.id).execute();
  });
  return person;
}

const device = async () =>
  (await world.anyone.post("/auth/cli/device", { client_name: "laptop", requested_scopes: ["clusters:read"] })).body;
const approve = ({ api }: Person, { user_code }: { user_code: string }) =>
  api.post("/auth/cli/device/approval", { user_code, approved: true });
const claim = ({ device_code }: { device_code: string }) =>
  world.anyone.post("/auth/cli/device/token", { device_code });

describe("PATCH /user/{id}/disabled", () => {
  test("[AU47] disabling a user ends sessions, streams, CLI tokens and approvals on every replica, and refuses new logins", async () => {
    const person = await world.person();
    const second = await startWorld({ beside: world });
    onTestFinished(() => second.stop());
    const cli = (await person.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] })).body;
    const approved = await device();
    expect((await approve(person, approved)).status).toBe(204);
    const stream = await person.api.follow("/events/stream");

    const answer = await setDisabled(person, true);
    expect(answer).toMatchObject({ status: 200, body: { id: person.id, disabled: true } });
    expect(await stream.rest()).toEqual([]);
    for (const replica of [world, second]) {
      expect((await bearer(person.token, replica).get("/user/me")).status).toBe(401);
      expect((await bearer(cli.token, replica).get("/orgs")).status).toBe(401);
      expect((await replica.anyone.with({ cookie: person.cookie }).post("/refresh")).status).toBe(401);
    }
    expect((await claim(approved)).status).toBe(400);

    const refused = await login(person);
    expect(refused).toMatchObject({ status: 401, body: { detail: "Wrong username, email or password." } });
    expect(refused.headers.get("set-cookie")).toBeNull();
  });

  test("[AU47] enabling a user again permits logins and restores nothing that was ended", async () => {
    const person = await world.person();
    const cli = (await person.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] })).body;
    await setDisabled(person, true);
    expect(await setDisabled(person, false)).toMatchObject({ status: 200, body: { disabled: false } });
    expect((await bearer(cli.token).get("/orgs")).status).toBe(401);
    expect((await person.api.get("/user/me")).status).toBe(401);
    expect((await world.anyone.with({ cookie: person.cookie }).post("/refresh")).status).toBe(401);
    const { token } = await world.login(person.username, person.password);
    expect((await bearer(token).get("/cli-tokens")).body.data).toEqual([]);
  });

  test("[AU47] disabling a user refuses the user's requests that are in flight", async () => {
    const person = await world.person();
    const approved = await device();
    await approve(person, approved);
    const row = await hold(world, "select 1 from users where id = $1", person.id);
    const underWay = [
      login(person),
      person.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] }),
      claim(approved),
    ];
    await row.waitedFor();
    await row.release("update users set disabled = true where id = $1");
    expect((await Promise.all(underWay)).map(({ status }) => status)).toEqual([401, 401, 400]);
  });

  test("[AU48] a superuser who disables themselves gets a 409", async () => {
    const answer = await setDisabled(world.admin, true);
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining("yourself") } });
    expect((await world.admin.api.get("/user/me")).body.disabled).toBe(false);
    expect((await setDisabled(world.admin, false)).status).toBe(200);
  });

  test("[AU48] of two superusers who disable each other at once, one stays enabled", async () => {
    const [ada, bob] = [await superuser(), await superuser()];
    const answers = await Promise.all([setDisabled(bob, true, ada), setDisabled(ada, true, bob)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test("[AU39] the last superuser who is not disabled cannot be deleted", async () => {
    const other = await superuser();
    await setDisabled(other, true);
    const answer = await world.admin.api.delete(`/user/${world.admin.id}`);
    expect(answer).toMatchObject({ status: 409, body: { detail: "The last superuser cannot be deleted." } });
  });

  test("[AU40] the only administrator of an organization who is not disabled cannot be deleted", async () => {
    const org = await world.org();
    const [ada, bob] = [await world.person({ org, role: "admin" }), await world.person({ org, role: "admin" })];
    await world.admin.api.delete(`/orgs/${org}/members/${world.admin.id}`);
    await setDisabled(bob, true);
    expect((await ada.api.delete(`/user/${ada.id}`)).status).toBe(409);
    expect((await ada.api.delete(`/orgs/${org}/members/${ada.id}`)).status).toBe(409);
  });

  test("[AU47] PATCH /user/{id}/disabled is for superusers, and is a 404 for an unknown user", async () => {
    const org = await world.org();
    const [person, admin] = [await world.person({ org }), await world.person({ org, role: "admin" })];
    expect((await setDisabled(person, true, admin)).status).toBe(403);
    expect((await setDisabled({ id: NOBODY }, true)).status).toBe(404);
    expect((await world.admin.api.patch(`/user/${person.id}/disabled`, {})).status).toBe(422);
    expect((await world.anyone.patch(`/user/${person.id}/disabled`, { disabled: true })).status).toBe(401);
    expect((await person.api.get("/user/me")).body.disabled).toBe(false);
  });
});
