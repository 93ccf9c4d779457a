import { type Person, startWorld, type World } from "@binnacle/world";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { hold } from "./locked-row.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

async function replica(): Promise<World> {
  const another = await startWorld({ beside: world });
  onTestFinished(() => another.stop());
  return another;
}

type Session = Pick<Person, "token" | "cookie">;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const logout = ({ token, cookie }: Session, { anyone } = world) =>
  anyone.with({ ...bearer(token), cookie }).post("/logout");

/** The statuses of the two ways to go on with a session. */
async function statuses({ token, cookie }: Session, { anyone } = world) {
  const access = await anyone.with(bearer(token)).get("/user/me");
  const refresh = await anyone.with({ cookie }).post("/refresh");
  return { access: access.status, refresh: refresh.status };
}
const LIVE = { access: 200, refresh: 200 };
const ENDED = { access: 401, refresh: 401 };

describe("POST /logout", () => {
  test("[AU7] POST /logout ends the session, clears the cookie and says so", async () => {
    const person = await world.person();
    const answer = await logout(person);
    expect(answer).toMatchObject({ status: 200, body: { message: "Logged out successfully" } });
    expect(answer.headers.get("set-cookie")).toMatch(/^refresh_token=; .*Path=\/api\/v1; .*Expires=Thu, 01 Jan 1970/);
    expect(await statuses(person)).toEqual(ENDED);
    expect((await logout(person)).status).toBe(401);
  });

  test("[AU7] POST /logout ends every access token of the session and no other session of the user", async () => {
    const person = await world.person();
    const elsewhere = await world.login(person.username, person.password);
    const refreshed = await world.anyone.with({ cookie: person.cookie }).post("/refresh");
    await logout(person);
    expect((await world.anyone.with(bearer(refreshed.body.access_token)).get("/user/me")).status).toBe(401);
    expect(await statuses(elsewhere)).toEqual(LIVE);
  });

  test("[AU8] POST /logout with the cookie of another session is a 401 and ends nothing", async () => {
    const [victim, mallory] = [await world.person(), await world.person()];
    const elsewhere = await world.login(mallory.username, mallory.password);
    for (const { cookie } of [victim, elsewhere]) {
      const answer = await logout({ token: mallory.token, cookie });
      expect(answer).toMatchObject({ status: 401, body: { detail: "Invalid refresh token." } });
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    for (const session of [victim, mallory, elsewhere]) expect(await statuses(session)).toEqual(LIVE);
  });

  test("[AU8] POST /logout needs the bearer token and the cookie, and ends nothing without them", async () => {
    const person = await world.person();
    const { token, cookie } = person;
    const noToken = await world.anyone.with({ cookie }).post("/logout");
    expect(noToken).toMatchObject({ status: 401, body: { detail: "User not authenticated." } });
    const noCookie = await world.anyone.with(bearer(token)).post("/logout");
    expect(noCookie).toMatchObject({ status: 401, body: { detail: "Refresh token missing." } });
    const badCookie = await logout({ token, cookie: "refresh_token=nonsense" });
    expect(badCookie).toMatchObject({ status: 401, body: { detail: "Invalid refresh token." } });
    expect(await statuses(person)).toEqual(LIVE);
  });

  test("[AU9] a session that was ended stays ended on every replica and after a restart", async () => {
    const first = await startWorld({ beside: world });
    const person = await first.person();
    expect(await statuses(person, world)).toEqual(LIVE);
    expect((await logout(person, first)).status).toBe(200);
    expect(await statuses(person, world)).toEqual(ENDED);
    await first.stop();
    expect(await statuses(person, await replica())).toEqual(ENDED);
  });

  test("[AU9] a session that was not ended survives a restart", async () => {
    const first = await startWorld({ beside: world });
    const person = await first.person();
    await first.stop();
    expect(await statuses(person, await replica())).toEqual(LIVE);
  });
});

describe("a changed password", () => {
  const change = ({ api, id }: Person, password: string, current_password?: string) =>
    api.patch(`/user/${id}`, { password, ...(current_password === undefined ? {} : { current_password }) });

  test("[AU19] a new password ends every session of the user on every replica, the caller's too, and nobody else's", async () => {
    const [person, other] = [await world.person(), await world.person()];
    const elsewhere = await world.login(person.email, person.password);
    expect((await change(person, "a new password", person.password)).status).toBe(200);
    const second = await replica();
    for (const session of [person, elsewhere]) {
      expect(await statuses(session)).toEqual(ENDED);
      expect(await statuses(session, second)).toEqual(ENDED);
    }
    expect(await statuses(other)).toEqual(LIVE);
    await expect(world.login(person.username, person.password)).rejects.toThrow("refused");
    expect(await statuses(await world.login(person.username, "a new password"))).toEqual(LIVE);
  });

  test("[AU18] a new password needs the current one, and no session ends without it", async () => {
    const person = await world.person();
    for (const [current, type] of [
      [undefined, "missing"],
      ["not the current one", "value_error"],
    ]) {
      const answer = await change(person, "a new password", current);
      expect(answer.status).toBe(422);
      expect(answer.body.detail).toMatchObject([{ loc: ["body", "current_password"], type }]);
    }
    expect(await statuses(person)).toEqual(LIVE);
    expect(await statuses(await world.login(person.username, person.password))).toEqual(LIVE);
  });

  test("[AU52] a new password revokes CLI tokens unless keep_tokens is set, and approvals of devices in any case", async () => {
    for (const keep_tokens of [undefined, false, true]) {
      const person = await world.person();
      const { body: cli } = await person.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] });
      const wanted = { client_name: "stolen", requested_scopes: ["clusters:read"] };
      const { body: device } = await world.anyone.post("/auth/cli/device", wanted);
      await person.api.post("/auth/cli/device/approval", { user_code: device.user_code, approved: true });

      const renewal = { password: "a new password", current_password: person.password };
      const answer = await person.api.patch(`/user/${person.id}`, { ...renewal, keep_tokens });
      expect(answer.status).toBe(200);
      expect((await world.anyone.with(bearer(cli.token)).get("/orgs")).status).toBe(keep_tokens ? 200 : 401);
      const claim = await world.anyone.post("/auth/cli/device/token", { device_code: device.device_code });
      expect(claim).toMatchObject({ status: 400, body: { error: "access_denied" } });
    }
  });

  test("[AU52] keep_tokens without a new password is a 422", async () => {
    const person = await world.person();
    for (const id of [person.id, world.admin.id]) {
      const answer = await person.api.patch(`/user/${id}`, { name: "Renamed", keep_tokens: true });
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "password"] }] } });
    }
    expect((await person.api.get("/user/me")).body.name).toBe("Somebody");
  });

  test.each([
    ["a CLI token", "/cli-tokens", async () => ({ name: "laptop", scopes: ["clusters:read"] })],
    [
      "a device",
      "/auth/cli/device/approval",
      async () => {
        const wanted = { client_name: "laptop", requested_scopes: ["clusters:read"] };
        const { user_code } = (await world.anyone.post("/auth/cli/device", wanted)).body;
        return { user_code, approved: true };
      },
    ],
  ])("[AU53] a request for %s is a 401 if its session ends while it is running", async (_what, path, bodyOf) => {
    const person = await world.person();
    const body = await bodyOf();
    const row = await hold(world, "select 1 from users where id = $1", person.id);
    const asking = person.api.post(path, body);
    await row.waitedFor();
    await row.release("update sessions set ended_at = created_at where user_id = $1");
    expect((await asking).status).toBe(401);
  });

  test("[AU18] of two password changes made at once with the same current password, one succeeds", async () => {
    const person = await world.person();
    const answers = await Promise.all([
      change(person, "the first new password", person.password),
      change(person, "the second new password", person.password),
    ]);
    // The slower one finds its session ended or its current password out of date.
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    const index = answers.findIndex(({ status }) => status === 200);
    const winner = ["the first new password", "the second new password"][index] ?? "";
    expect(await statuses(await world.login(person.username, winner))).toEqual(LIVE);
  });

  test.each([
    ["changed", "update users set password_hash = 'another' where id = $1"],
    ["gone", "delete from users where id = $1"],
  ])("[AU12] a login whose password is %s while it is being checked is a 401", async (_what, statement) => {
    const { username, password, id } = await world.person();
    const row = await hold(world, "select 1 from users where id = $1", id);
    const login = world.anyone.send("POST", "/login", { form: { username, password } });
    await row.waitedFor();
    await row.release(statement);
    expect(await login).toMatchObject({ status: 401, body: { detail: "Wrong username, email or password." } });
  });
});
