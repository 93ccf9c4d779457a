import { type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";

const OTHER_REQUEST = { status: 409, body: { detail: "The Idempotency-Key was already used for another request." } };

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const replica = await startWorld({ beside: world });
const org = await world.org();
afterAll(async () => {
  await replica.stop();
  await world.stop();
});

const uniqueName = () => `Org ${newId()}`;

function post(person: Person, path: string, body: object, key: string) {
  return person.api.post(path, body, { headers: { "idempotency-key": key } });
}

async function orgsNamed(name: string): Promise<number> {
  return (await world.database.kysely.selectFrom("orgs").select("id").where("name", "=", name).execute()).length;
}

/** Moves the first use of a key into the past. */
async function age(key: string, ms: number): Promise<void> {
  await world.database.kysely
    .updateTable("idempotency_keys")
    .set({ created_at: new Date(world.clock.now().getTime() - ms) })
    .where("key", "=", key)
    .execute();
}

describe("an Idempotency-Key", () => {
  test("[ID1] a request with the same Idempotency-Key gets the first answer again, and nothing is created twice", async () => {
    const [key, name] = [newId(), uniqueName()];
    const first = await post(world.admin, "/orgs", { name }, key);
    const again = await post(world.admin, "/orgs", { name }, key);
    expect(first.status).toBe(201);
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(await orgsNamed(name)).toBe(1);
  });

  test("[ID2] an Idempotency-Key is refused for another body, another path or another operation", async () => {
    const [key, person, elsewhere] = [newId(), await world.person(), await world.org()];
    const body = { user_id: person.id, role: "member" };
    expect((await post(world.admin, `/orgs/${org}/members`, body, key)).status).toBe(201);
    const others = [
      await post(world.admin, `/orgs/${org}/members`, { ...body, role: "admin" }, key),
      await post(world.admin, `/orgs/${elsewhere}/members`, body, key),
      await post(world.admin, "/orgs", { name: uniqueName() }, key),
    ];
    for (const other of others) expect(other).toMatchObject(OTHER_REQUEST);
  });

  test("[ID3] an Idempotency-Key is honoured for 24 hours and new after them", async () => {
    const [key, name] = [newId(), uniqueName()];
    const day = 24 * 60 * 60_000;
    const first = await post(world.admin, "/orgs", { name }, key);
    await age(key, day - 1);
    expect((await post(world.admin, "/orgs", { name }, key)).body).toEqual(first.body);
    await age(key, day + 1);
    expect((await post(world.admin, "/orgs", { name: `${name} 2` }, key)).status).toBe(201);
    expect(await post(world.admin, "/orgs", { name }, key)).toMatchObject(OTHER_REQUEST);
  });

  test("[ID4] an Idempotency-Key is still free after a request that failed", async () => {
    const key = newId();
    const body = { email: `${key}@example.com`, role: "member" };
    expect((await post(world.admin, `/orgs/${org}/members`, body, key)).status).toBe(404);
    const user = { name: "Late", username: `u${key.replaceAll("-", "").slice(-12)}`, password: "long enough" };
    expect((await world.admin.api.post("/user", { ...user, email: body.email })).status).toBe(201);
    expect((await post(world.admin, `/orgs/${org}/members`, body, key)).status).toBe(201);
  });

  test("[ID5] many requests at once with one Idempotency-Key create one resource, on whichever replica they arrive", async () => {
    const [key, name] = [newId(), uniqueName()];
    const callers = Array.from({ length: 6 }, (_, index) => (index % 2 ? world.admin : replica.admin));
    const answers = await Promise.all(callers.map((caller) => post(caller, "/orgs", { name }, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await orgsNamed(name)).toBe(1);
  });

  test("[ID6] the same Idempotency-Key of another user is another key", async () => {
    const [key, ann, bob] = [newId(), await world.person(), await world.person()];
    const body = { name: "laptop", scopes: ["clusters:read"] };
    const anns = await post(ann, "/cli-tokens", body, key);
    const bobs = await post(bob, "/cli-tokens", body, key);
    expect([anns.status, bobs.status]).toEqual([201, 201]);
    expect(bobs.body.id).not.toBe(anns.body.id);
  });

  test("[ID7] a repeated request gives no answer to a user who has lost the role", async () => {
    const [key, person] = [newId(), await world.person()];
    const admin = await world.person({ org, role: "admin" });
    const body = { user_id: person.id, role: "member" };
    expect((await post(admin, `/orgs/${org}/members`, body, key)).status).toBe(201);
    await world.admin.api.put(`/orgs/${org}/members/${admin.id}`, { role: "member" });
    expect((await post(admin, `/orgs/${org}/members`, body, key)).status).toBe(403);
  });

  test("[ID8] a repeated request costs neither an audit entry nor the rate limit", async () => {
    const [key, person] = [newId(), await world.person()];
    const queue = (under: string) => post(person, "/tasks/task", { kind: "ping" }, under);
    const first = await queue(key);
    for (let spent = 1; spent < 10; spent++) await queue(newId());
    const again = await queue(key);
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect((await queue(newId())).status).toBe(429);
    const entries = await world.database.kysely
      .selectFrom("audit_log")
      .select("id")
      .where("request_id", "=", again.headers.get("x-request-id"))
      .execute();
    expect(entries).toEqual([]);
  });

  test("[ID9] the stored answer is encrypted, and decrypted for the repeated request", async () => {
    const [key, person] = [newId(), await world.person()];
    const body = { name: "laptop", scopes: ["clusters:read"] };
    const { token } = (await post(person, "/cli-tokens", body, key)).body;
    const { sealed_answer } = await world.database.kysely
      .selectFrom("idempotency_keys")
      .select("sealed_answer")
      .where("key", "=", key)
      .executeTakeFirstOrThrow();
    expect(sealed_answer).toMatch(/^v1\./);
    expect(sealed_answer).not.toContain(token);
    expect((await post(person, "/cli-tokens", body, key)).body.token).toBe(token);
  });

  test.each(["two words", "x".repeat(201), "ä"])("[ID10] the Idempotency-Key %j is refused", async (key) => {
    const refused = await post(world.admin, "/orgs", { name: uniqueName() }, key);
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toContain("Idempotency-Key");
  });

  test("[ID10] an Idempotency-Key has no effect on a request that does not create", async () => {
    const headers = { "idempotency-key": newId() };
    const put = (name: string) => world.admin.api.send("PUT", `/orgs/${org}`, { body: { name }, headers });
    const names = [uniqueName(), uniqueName()];
    const answers = [await put(names[0] ?? ""), await put(names[1] ?? "")];
    expect(answers.map(({ body }) => body.name)).toEqual(names);
    expect((await world.admin.api.get("/orgs", { headers })).status).toBe(200);
  });
});
