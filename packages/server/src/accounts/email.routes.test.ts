import { randomBytes } from "node:crypto";
import { type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const newName = () => `n${randomBytes(6).toString("hex")}`;
const UNVERIFIED = { status: 409, body: { detail: { code: "email_unverified" } } };

const move = ({ api, id }: Person, email: string, current_password?: string) =>
  api.patch(`/user/${id}`, { email, ...(current_password === undefined ? {} : { current_password }) });
const add = ({ api }: Person, org: string, whom: object) =>
  api.post(`/orgs/${org}/members`, { ...whom, role: "admin" });
const verify = (id: string, body?: object, { api }: Person = world.admin) =>
  api.post(`/user/${id}/email-verification`, body);

async function administrator(): Promise<{ org: string; admin: Person }> {
  const org = await world.org();
  return { org, admin: await world.person({ org, role: "admin" }) };
}

async function createdBy({ api }: Person) {
  const username = newName();
  const fields = { name: "New Comer", username, email: `${username}@example.com`, password: "a good password" };
  return (await api.post("/user", fields)).body;
}

describe("another email address", () => {
  test("[AU44] changing the email address needs the current password, and nothing changes without it", async () => {
    const person = await world.person();
    const email = `${newName()}@example.com`;
    for (const [current, type] of [
      [undefined, "missing"],
      ["not the current one", "value_error"],
    ] as const) {
      const answer = await move(person, email, current);
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toMatchObject([{ loc: ["body", "current_password"], type }]);
    }
    const password = await person.api.patch(`/user/${person.id}`, { password: "another good one" });
    expect(password.body.detail).toMatchObject([{ loc: ["body", "current_password"], type: "missing" }]);
    expect((await person.api.get("/user/me")).body.email).toBe(person.email);
    expect(await move(person, email, person.password)).toMatchObject({ status: 200, body: { email } });
    expect((await person.api.get("/user/me")).status).toBe(200);
  });

  test("[AU44] an email address that differs only in the case of its letters is not a change", async () => {
    const person = await world.person();
    expect(await move(person, person.email.toUpperCase())).toMatchObject({
      status: 200,
      body: { email: person.email, email_verified: true },
    });
  });

  test("[AU46] [OR19] a user with an unverified email address is not added to an organization by that address", async () => {
    const { org, admin } = await administrator();
    const mallory = await world.person();
    const newcomers = `${newName()}@example.com`;
    expect(await move(mallory, newcomers, mallory.password)).toMatchObject({
      status: 200,
      body: { email_verified: false },
    });
    for (const person of [admin, world.admin]) {
      const refused = await add(person, org, { email: newcomers.toUpperCase() });
      expect(refused).toMatchObject(UNVERIFIED);
      expect(refused.body.detail.message).toContain("username");
    }
    expect((await mallory.api.get(`/orgs/${org}`)).status).toBe(403);

    expect((await add(admin, org, { username: mallory.username })).status).toBe(201);
    expect((await mallory.api.get(`/orgs/${org}`)).status).toBe(200);
  });

  test("[AU46] an email address that a superuser gives to themselves is verified", async () => {
    const answer = await move(world.admin, `${newName()}@example.com`, world.admin.password);
    expect(answer).toMatchObject({ status: 200, body: { email_verified: true } });
  });
});

describe("the address of a new user", () => {
  test("[AU46] [OR19] the email address of a user whom a superuser has created is verified, and so is the first superuser's", async () => {
    const { org, admin } = await administrator();
    const made = await createdBy(world.admin);
    expect(made).toMatchObject({ email_verified: true, disabled: false });
    expect((await add(admin, org, { email: made.email })).status).toBe(201);
    expect((await world.admin.api.get("/user/me")).body.email_verified).toBe(true);
  });

  test("[AU46] [OR19] the email address of a user whom an administrator has created is verified only in their organizations", async () => {
    const [here, elsewhere] = [await administrator(), await administrator()];
    const made = await createdBy(here.admin);
    expect(made.email_verified).toBe(false);
    expect(await add(elsewhere.admin, elsewhere.org, { email: made.email })).toMatchObject(UNVERIFIED);
    expect((await add(here.admin, here.org, { email: made.email })).status).toBe(201);
    expect((await add(elsewhere.admin, elsewhere.org, { user_id: made.id })).status).toBe(201);
  });

  test("[AU46] an email address that an administrator has set is no longer verified once its user takes another one", async () => {
    const { org, admin } = await administrator();
    const made = await createdBy(admin);
    const { token } = await world.login(made.username, "a good password");
    const api = world.anyone.with({ authorization: `Bearer ${token}` });
    const email = `${newName()}@example.com`;
    const moved = await api.patch(`/user/${made.id}`, { email, current_password: "a good password" });
    expect(moved.status).toBe(200);
    expect(await add(admin, org, { email })).toMatchObject(UNVERIFIED);
  });
});

describe("POST /user/{id}/email-verification", () => {
  test("[AU46] POST /user/{id}/email-verification verifies an address, by which the user can then be added", async () => {
    const { org, admin } = await administrator();
    const person = await world.person();
    const email = `${newName()}@example.com`;
    await move(person, email, person.password);
    expect((await verify(person.id)).status).toBe(204);
    expect((await person.api.get("/user/me")).body.email_verified).toBe(true);
    expect((await add(admin, org, { email })).status).toBe(201);
  });

  test("[AU46] POST /user/{id}/email-verification verifies the address in the body, and is a 409 if the user has another one", async () => {
    const person = await world.person();
    const [asked, taken] = [`${newName()}@example.com`, `${newName()}@example.com`];
    await move(person, asked, person.password);
    await move(person, taken, person.password);
    expect((await verify(person.id, { email: asked })).status).toBe(409);
    expect((await person.api.get("/user/me")).body.email_verified).toBe(false);
    expect((await verify(person.id, { email: taken.toUpperCase() })).status).toBe(204);
  });

  test("[AU46] POST /user/{id}/email-verification is for superusers, and is a 404 for an unknown user", async () => {
    const { admin } = await administrator();
    const person = await world.person();
    expect((await verify(person.id, undefined, admin)).status).toBe(403);
    expect((await verify(person.id, undefined, person)).status).toBe(403);
    expect((await verify(NOBODY)).status).toBe(404);
    expect((await verify(person.id, { email: "no address" })).status).toBe(422);
    expect((await world.anyone.post(`/user/${person.id}/email-verification`)).status).toBe(401);
  });
});
