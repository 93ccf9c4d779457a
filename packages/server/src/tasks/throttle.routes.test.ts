import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const HOUR_MS = 60 * 60_000;
const PATH = "/tasks/task";

// Tokens that outlive every turn of the clock below.
const env = { BINNACLE_ACCESS_TOKEN_MINUTES: "1440" };
const world = await startWorld({ env });
const replica = await startWorld({ env, beside: world });
afterAll(async () => {
  await replica.stop();
  await world.stop();
});

const queue = (api: Client) => api.post(PATH, { kind: "ping" });

async function statuses(api: Client, count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index++) seen.push((await queue(api)).status);
  return seen;
}

const onReplica = (person: Person) => replica.anyone.with({ authorization: `Bearer ${person.token}` });

async function proPerson(): Promise<Person> {
  const person = await world.person();
  await world.admin.api.patch(`/user/${person.id}/tier`, { tier: "pro" });
  return person;
}

/** Limits the path for `pro` while the work runs, so that no other test meets the limit. */
async function whileProIsLimited(fields: object, work: (limitId: string) => Promise<void>): Promise<void> {
  const made = await world.admin.api.post("/tier/pro/rate_limit", { path: PATH, limit: 2, period: 60, ...fields });
  try {
    await work(made.body.id);
  } finally {
    await world.admin.api.delete(`/tier/pro/rate_limit/${made.body.id}`);
  }
}

describe("the throttle of POST /tasks/task", () => {
  test("[TI9] POST /tasks/task admits ten requests an hour from each caller if the tier has no limit", async () => {
    const [person, other] = [await world.person(), await world.person()];
    expect(await statuses(person.api, 11)).toEqual([...Array(10).fill(201), 429]);
    expect((await queue(other.api)).status).toBe(201);
    world.clock.advance(HOUR_MS);
    expect((await queue(person.api)).status).toBe(201);
  });

  test("[TI10] a throttled request gets Retry-After, and no answer has X-RateLimit headers", async () => {
    const person = await world.person();
    await statuses(person.api, 10);
    world.clock.advance(HOUR_MS / 4);
    const refused = await queue(person.api);
    expect(refused).toMatchObject({ status: 429, body: { detail: "Rate limit exceeded." } });
    expect(refused.headers.get("retry-after")).toBe("2700");
    const admitted = await queue((await world.person()).api);
    for (const { headers } of [refused, admitted]) {
      expect([...headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    }
  });

  test("[TI11] requests are counted over all replicas, however many come at once", async () => {
    const person = await world.person();
    const requests = Array.from({ length: 14 }, (_, index) => queue(index % 2 ? person.api : onReplica(person)));
    const answers = await Promise.all(requests);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
  });

  test("[TI11] requests are counted under each tier separately", async () => {
    const person = await world.person();
    await statuses(person.api, 10);
    await world.admin.api.patch(`/user/${person.id}/tier`, { tier: "pro" });
    expect((await queue(person.api)).status).toBe(201);
    await world.admin.api.patch(`/user/${person.id}/tier`, { tier: "free" });
    expect((await queue(person.api)).status).toBe(429);
  });

  test("[TI5] the limit of a tier applies to its users, however its path was written", async () => {
    const person = await proPerson();
    await whileProIsLimited({ path: "/api/v1/tasks/task/" }, async () => {
      expect(await statuses(person.api, 3)).toEqual([201, 201, 429]);
      world.clock.advance(60_000);
      expect((await queue(person.api)).status).toBe(201);
    });
  });

  test("[TI7] a changed limit applies from the next request on", async () => {
    const person = await proPerson();
    await whileProIsLimited({ limit: 1 }, async (id) => {
      expect(await statuses(person.api, 2)).toEqual([201, 429]);
      await world.admin.api.patch(`/tier/pro/rate_limit/${id}`, { limit: 2 });
      expect(await statuses(person.api, 2)).toEqual([201, 429]);
    });
  });

  test("[TI8] the default limit applies again when a limit is deleted", async () => {
    const person = await proPerson();
    await whileProIsLimited({ limit: 0 }, async () => {
      expect((await queue(person.api)).status).toBe(429);
    });
    expect(await statuses(person.api, 11)).toEqual([...Array(10).fill(201), 429]);
  });

  test("[TI12] a limit on another path than /tasks/task throttles nobody", async () => {
    const person = await proPerson();
    await whileProIsLimited({ path: "/user/me", limit: 0 }, async () => {
      expect((await person.api.get("/user/me")).status).toBe(200);
    });
  });

  test("[TI13] a clock that is set back delays nobody for longer than one period", async () => {
    const person = await world.person();
    await statuses(person.api, 10);
    world.clock.advance(-2 * HOUR_MS);
    expect((await queue(person.api)).headers.get("retry-after")).toBe("3600");
    world.clock.advance(HOUR_MS / 2);
    expect((await queue(person.api)).headers.get("retry-after")).toBe("1800");
    world.clock.advance(HOUR_MS / 2);
    expect((await queue(person.api)).status).toBe(201);
    world.clock.advance(HOUR_MS);
  });
});
