import { performance } from "node:perf_hooks";
import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { hold } from "./locked-row.fixture.ts";
import { LOGIN_LIMIT } from "./login-throttle.ts";

const SECOND = 1_000;

const world = await startWorld({ env: { BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
afterAll(() => world.stop());

/** Every test comes from addresses of its own, as through a proxy. */
let addresses = 0;
const newSource = (through = world.anyone) => through.with({ "x-forwarded-for": `203.0.113.${++addresses}` });

const login = (from: Client, username: string, password: string) =>
  from.send("POST", "/login", { form: { username, password } });

async function guess(from: Client, username: string, times: number): Promise<void> {
  for (let made = 0; made < times; made++) {
    expect((await login(from, username, "a wrong guess")).status).toBe(401);
  }
}

const statusOf = async (from: Client, username: string, password: string) =>
  (await login(from, username, password)).status;

test("[OP32] a refused sign-in is logged with account and source, without the password or a name that no account has", async () => {
  const { username } = await world.person();
  for (const [typed, account] of [
    [username, username],
    ["hush-typed-as-a-name", null],
  ] as const) {
    await login(newSource(), typed, "hush hush");
    const source = `203.0.113.${addresses}`;
    await vi.waitFor(() => {
      const lines = world.logged
        .map((line) => JSON.parse(line))
        .filter((line) => line.source === source && line.level === "warn");
      expect(lines).toEqual([
        {
          level: "warn",
          time: expect.any(String),
          request_id: expect.any(String),
          action: "session.refuse",
          account,
          source,
          refused: 1,
          msg: "a password was refused",
        },
      ]);
    });
  }
  expect(world.logged.join("")).not.toContain("hush");
});

describe("the login throttle", () => {
  test("[AU20] [AU21] the login throttle refuses the 21st attempt within a minute, right or wrong, for 60 seconds", async () => {
    const { username, password } = await world.person();
    const source = newSource();
    await guess(source, username, LOGIN_LIMIT);
    expect(await statusOf(source, username, password)).toBe(401);
    world.clock.advance(60 * SECOND - 1);
    expect(await statusOf(source, username, password)).toBe(401);
    world.clock.advance(1);
    expect(await statusOf(source, username, password)).toBe(200);
  });

  test("[AU20] the login throttle admits the 20th attempt", async () => {
    const { username, password } = await world.person();
    const source = newSource();
    await guess(source, username, LOGIN_LIMIT - 1);
    expect(await statusOf(source, username, password)).toBe(200);
  });

  test("[AU2] a throttled login gets exactly the answer of a wrong password and of an unknown user", async () => {
    const { username, password } = await world.person();
    const source = newSource();
    const wrong = await login(source, username, "a wrong guess");
    const unknown = await login(source, "nobody", "a wrong guess");
    await guess(source, username, LOGIN_LIMIT - 2);
    const throttled = await login(source, username, password);
    expect(comparable(throttled)).toEqual(comparable(wrong));
    expect(comparable(unknown)).toEqual(comparable(wrong));
    expect(wrong).toMatchObject({ status: 401, body: { detail: "Wrong username, email or password." } });
  });

  test("[AU2] a login that is throttled or of a disabled user takes the same work as a wrong password or an unknown user", async () => {
    const { username, password } = await world.person();
    const disabled = await world.person();
    await world.admin.api.patch(`/user/${disabled.id}/disabled`, { disabled: true });
    const throttled = newSource();
    await guess(throttled, username, LOGIN_LIMIT);
    const source = newSource();
    // Told apart, they would be told apart each time; a busy moment of the machine passes.
    await vi.waitFor(async () => {
      const [wrongMs = 0, ...otherMs] = await shortest([
        () => login(source, username, "a wrong guess"),
        () => login(source, "nobody", "a wrong guess"),
        () => login(throttled, username, password),
        () => login(source, disabled.username, disabled.password),
      ]);
      for (const ms of otherMs) {
        expect(ms).toBeGreaterThan(wrongMs / 2);
        expect(ms).toBeLessThan(wrongMs * 2);
      }
    }, 15_000);
  });

  test("[AU20] the login throttle counts all attempts of one source together, whichever accounts they name", async () => {
    const { username, password } = await world.person();
    const source = newSource();
    for (let made = 0; made < LOGIN_LIMIT; made++) await guess(source, `guessed${made}`, 1);
    expect(await statusOf(source, username, password)).toBe(401);
  });

  test("[AU13] the login throttle refuses nobody who comes from another source", async () => {
    const { username, password } = await world.person();
    const attacker = newSource();
    await guess(attacker, username, LOGIN_LIMIT + 1);
    expect(await statusOf(attacker, username, password)).toBe(401);
    expect(await statusOf(newSource(), username, password)).toBe(200);
  });

  test("[AU13] the login throttle ignores X-Forwarded-For unless the sender is a configured proxy", async () => {
    const direct = await startWorld({ env: { BINNACLE_ROLES: "api" } });
    onTestFinished(() => direct.stop());
    const { username, password } = await direct.person();
    for (let made = 0; made < LOGIN_LIMIT; made++) await guess(newSource(direct.anyone), username, 1);
    expect(await statusOf(newSource(direct.anyone), username, password)).toBe(401);
    expect(await statusOf(direct.anyone, username, password)).toBe(401);
  });

  test("[AU13] the login throttle uses the address that the proxy saw and not one that the client wrote before it", async () => {
    const { username, password } = await world.person();
    const seen = `203.0.113.${++addresses}`;
    const pretending = (made: number) => world.anyone.with({ "x-forwarded-for": `198.51.100.${made}, ${seen}` });
    for (let made = 0; made < LOGIN_LIMIT; made++) await guess(pretending(made), username, 1);
    expect(await statusOf(pretending(250), username, password)).toBe(401);
  });

  test("[AU24] a successful login removes the failed attempts of its own account", async () => {
    const { username, password } = await world.person();
    const source = newSource();
    for (let round = 0; round < 3; round++) {
      await guess(source, username, LOGIN_LIMIT - 1);
      expect(await statusOf(source, username, password)).toBe(200);
    }
  });

  test("[AU43] a successful login by username removes the failed attempts by the email address of the same user", async () => {
    const { username, email, password } = await world.person();
    const source = newSource();
    for (let round = 0; round < 3; round++) {
      await guess(source, email, LOGIN_LIMIT - 1);
      expect(await statusOf(source, username, password)).toBe(200);
    }
  });

  test("[AU24] a successful login does not remove the failed attempts of another account", async () => {
    const [victim, mallory] = [await world.person(), await world.person()];
    const source = newSource();
    for (let round = 0; round < 2; round++) {
      await guess(source, victim.username, LOGIN_LIMIT / 2);
      expect(await statusOf(source, mallory.username, mallory.password)).toBe(round === 0 ? 200 : 401);
    }
    expect(await statusOf(source, victim.username, victim.password)).toBe(401);
  });

  test("[AU14] login attempts made at once on two replicas are all counted", async () => {
    const { username, password } = await world.person();
    const second = await startWorld({ beside: world, env: { BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
    onTestFinished(() => second.stop());
    const address = { "x-forwarded-for": `203.0.113.${++addresses}` };
    const sources = [world.anyone.with(address), second.anyone.with(address)];
    await Promise.all(sources.map((source) => Promise.all(times(LOGIN_LIMIT / 2, () => guess(source, username, 1)))));
    for (const source of sources) expect(await statusOf(source, username, password)).toBe(401);
  });

  test("[AU14] a login succeeds although another one deletes the tally for whose row it waits", async () => {
    const { username, password } = await world.person();
    const address = `203.0.113.${++addresses}`;
    const source = world.anyone.with({ "x-forwarded-for": address });
    await guess(source, username, 1);
    const row = await hold(world, "select 1 from login_tallies where key = $1", `source ${address}`);
    const waiting = login(source, username, password);
    await row.waitedFor();
    await row.release("delete from login_tallies where key = $1");
    expect((await waiting).status).toBe(200);
  });

  test("[AU14] logins of one user made at once all succeed", async () => {
    const { username, email, password } = await world.person();
    const source = newSource();
    const names = times(6, () => [username, email]).flat();
    const statuses = await Promise.all(names.map((name) => statusOf(source, name, password)));
    expect(statuses).toEqual(names.map(() => 200));
  });
});

describe("a wrong current password", () => {
  const WRONG = { status: 422, body: { detail: [{ loc: ["body", "current_password"], type: "value_error" }] } };

  /** The session of a login from an address, used from another one. */
  async function signedIn({ username, password, id }: Person) {
    const { token } = await world.login(username, password, newSource());
    const change = (from: Client, current_password: string) =>
      from.with({ authorization: `Bearer ${token}` }).patch(`/user/${id}`, {
        email: `moved-${username}@example.com`,
        current_password,
      });
    return { change };
  }

  test("[AU45] a wrong current password counts as a failed login, and past the limit the right one gets the same refusal", async () => {
    const person = await world.person();
    const [session, other] = [await signedIn(person), await signedIn(person)];
    const source = newSource();
    await guess(source, person.username, LOGIN_LIMIT / 2);
    const wrong = await session.change(source, "a wrong guess");
    for (let made = 1; made < LOGIN_LIMIT / 2; made++)
      expect(await session.change(source, "wrong")).toMatchObject(WRONG);
    const refused = await session.change(source, person.password);
    expect(comparable(refused)).toEqual(comparable(wrong));
    expect(wrong).toMatchObject(WRONG);
    expect(await statusOf(source, person.username, person.password)).toBe(401);
    expect((await other.change(newSource(), person.password)).status).toBe(200);
  });

  test("[AU45] wrong current passwords are counted for the session too, whatever address they come from", async () => {
    const person = await world.person();
    const [stolen, other] = [await signedIn(person), await signedIn(person)];
    for (let made = 0; made < LOGIN_LIMIT; made++)
      expect(await stolen.change(newSource(), "wrong")).toMatchObject(WRONG);
    expect(await stolen.change(newSource(), person.password)).toMatchObject(WRONG);
    expect((await other.change(newSource(), person.password)).status).toBe(200);
  });

  test("[AU45] the right current password removes the wrong ones and the failed logins from the tally", async () => {
    const person = await world.person();
    const session = await signedIn(person);
    const source = newSource();
    for (let round = 0; round < 2; round++) {
      await guess(source, person.username, LOGIN_LIMIT / 2);
      for (let made = 1; made < LOGIN_LIMIT / 2; made++) await session.change(source, "wrong");
      expect((await session.change(source, person.password)).status).toBe(200);
      // Back to the first address, so that the next change is one again.
      const { kysely } = world.database;
      await kysely.updateTable("users").set({ email: person.email }).where("id", "=", person.id).execute();
    }
  });

  test("[AU45] a throttled current password takes the same work as a wrong one", async () => {
    const person = await world.person();
    const [throttled, session] = [await signedIn(person), await signedIn(person)];
    const source = newSource();
    for (let made = 0; made <= LOGIN_LIMIT; made++) await throttled.change(source, "a wrong guess");
    await vi.waitFor(async () => {
      const [wrongMs = 0, throttledMs = 0] = await shortest([
        () => session.change(newSource(), "a wrong guess"),
        () => throttled.change(source, person.password),
      ]);
      expect(throttledMs).toBeGreaterThan(wrongMs / 2);
      expect(throttledMs).toBeLessThan(wrongMs * 2);
    }, 15_000);
  });
});

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** The answer without what differs between any two answers. */
function comparable({ status, body, headers }: { status: number; body: unknown; headers: Headers }) {
  const { "x-request-id": _id, date: _date, ...rest } = Object.fromEntries(headers);
  return { status, body, headers: rest };
}

/** How long each takes at best, in turns: what else the machine does only ever makes work longer. */
async function shortest(works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let run = 0; run < 8; run++) {
    for (const [index, work] of works.entries()) {
      const start = performance.now();
      await work();
      best[index] = Math.min(best[index] ?? 0, performance.now() - start);
    }
  }
  return best;
}
