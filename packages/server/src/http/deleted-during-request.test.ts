import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import { hold } from "../accounts/locked-row.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

/** The answer to a request during which the row is deleted, after the guard has looked and before the write. */
async function answerWithout(table: "orgs" | "users", id: string, send: () => ReturnType<Client["post"]>) {
  const row = await hold(world, `select 1 from ${table} where id = $1`, id);
  const answer = send();
  await row.waitedFor();
  await row.release(`delete from ${table} where id = $1`);
  return answer;
}

describe("an organization that is deleted while something is made in it", () => {
  test.each([
    ["clusters", { name: "production" }],
    ["credentials", { name: "cloud", provider: "gcp" }],
    ["members", { email: "somebody@example.com", role: "member" }],
  ])("[CV31] a request to an organization that is deleted meanwhile is a 404: %s", async (what, body) => {
    const org = await world.org();
    expect(await answerWithout("orgs", org, () => world.admin.api.post(`/orgs/${org}/${what}`, body))).toMatchObject({
      status: 404,
      body: { detail: "Organization not found." },
    });
  });
});

describe("a caller who is deleted while a request of theirs is under way", () => {
  const TOKEN = { name: "laptop", scopes: ["bundles:read"] };

  test.each<[string, (person: Person) => ReturnType<Client["post"]>]>([
    ["a CLI token", ({ api }) => api.post("/cli-tokens", TOKEN)],
    ["a request under a key", ({ api }) => api.with({ "idempotency-key": "once" }).post("/cli-tokens", TOKEN)],
    ["a task", ({ api }) => api.post("/tasks/task", { kind: "ping" })],
  ])("[CV31] a caller who is deleted during a request gets a 401: %s", async (_, send) => {
    const person = await world.person();
    expect(await answerWithout("users", person.id, () => send(person))).toMatchObject({
      status: 401,
      body: { detail: "User not authenticated." },
    });
  });

  test("[CV31] a caller who is deleted during the approval of a device gets a 401", async () => {
    const person = await world.person();
    const device = { requested_scopes: ["bundles:read"], client_name: "laptop" };
    const { user_code } = (await world.anyone.post("/auth/cli/device", device)).body;
    const approve = () => person.api.post("/auth/cli/device/approval", { user_code, approved: true });
    expect((await answerWithout("users", person.id, approve)).status).toBe(401);
  });
});

test("[CV31] granting a role to a user who is deleted meanwhile is a 422", async () => {
  const org = await world.org();
  const cluster = await insertCluster(world.database.kysely, org);
  const person = await world.person({ org });
  const grant = () => world.admin.api.post(`/clusters/${cluster}/rbac`, { user_id: person.id, role: "viewer" });
  expect(await answerWithout("users", person.id, grant)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["body", "user_id"] }] },
  });
});
