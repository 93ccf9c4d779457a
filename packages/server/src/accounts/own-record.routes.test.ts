import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { insertCluster } from "../access/bindings.fixture.ts";
import type { Credential } from "../access/caller.ts";
import { placeStore } from "../access/place.store.ts";
import type { Pipeline } from "../database/pipeline.adapter.ts";
import { ME, OWN_ACCESS } from "./own-record.store.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const PROJECTS = 1_500;

/** A member of an organization who has a role on each of its many projects. */
async function crowdedUser() {
  const org = await world.org("Many Projects");
  const cluster = await insertCluster(world.database.kysely, org);
  const user = await world.person({ org });
  await sql`
    insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
    select gen_random_uuid(), ${org}, ${cluster}, 'many-' || made, 'many-' || made, now(), now() from generate_series(1, ${PROJECTS}) made
  `.execute(world.database.kysely);
  await sql`
    insert into role_bindings (id, user_id, project_id, role, created_at, updated_at)
    select gen_random_uuid(), ${user.id}, id, 'editor', now(), now() from projects where org_id = ${org}
  `.execute(world.database.kysely);
  return { ...user, org, cluster };
}

const crowded = await crowdedUser();
const other = await world.person({ org: await world.org("Others") });

test("[AU4401] a user with very many roles gets the first thousand and the number of the others, each role once", async () => {
  const { status, body } = await crowded.api.get("/user/me/access");
  expect([status, body.projects.length, body.more_roles]).toEqual([200, 1_000, PROJECTS - 1_000]);
  const ids = body.projects.map(({ id }: { id: string }) => id);
  expect(ids).toEqual([...new Set(ids)].sort().reverse());
  const me = await crowded.api.get("/user/me");
  expect([me.status, me.body.role_bindings.length, me.body.more_roles]).toEqual([200, 1_000, PROJECTS - 1_000]);
  const { body: theirs } = await other.api.get("/user/me/access");
  expect([theirs.orgs.length, theirs.projects, theirs.more_roles]).toEqual([1, [], 0]);
});

test("[AU4401] a token that is bound to another organization has none of the roles", async () => {
  const elsewhere = await world.org();
  await world.admin.api.post(`/orgs/${elsewhere}/members`, { user_id: crowded.id, role: "member" });
  const made = await crowded.api.post("/cli-tokens", { name: "ci", scopes: ["read"], org_id: elsewhere });
  const bound = world.anyone.with({ authorization: `Bearer ${made.body.token}` });
  const { body } = await bound.get("/user/me/access");
  expect([body.orgs.length, body.projects, body.more_roles]).toEqual([1, [], 0]);
});

test("[DB28] the roles of a user with many do not pass the connection that all requests share", async () => {
  const passed: number[] = [];
  const pipeline: Pipeline = {
    ...world.database.pipeline,
    async read(statement, values) {
      const rows = await world.database.pipeline.read(statement, values);
      passed.push(JSON.stringify(rows).length);
      return rows as never;
    },
  };
  const places = placeStore({ ...world.database, pipeline });
  const credentialOf = async (userId: string): Promise<Credential> => {
    const sessions = world.database.kysely.selectFrom("sessions").select("id").where("user_id", "=", userId);
    return { kind: "session", sessionId: (await sessions.executeTakeFirstOrThrow()).id, userId, expiresAtMs: 0 };
  };
  const [many, few] = [await credentialOf(crowded.id), await credentialOf(other.id)];
  const now = world.clock.now();
  expect((await places.callerWith(OWN_ACCESS, many, now))?.projects).toHaveLength(1_000);
  expect((await places.callerWith(ME, many, now))?.bindings).toHaveLength(1_000);
  expect((await places.callerWith(OWN_ACCESS, few, now))?.orgs).toHaveLength(1);
  expect((await places.callerWith(ME, few, now))?.organizations).toHaveLength(1);
  expect(passed).toHaveLength(4);
  expect(Math.max(...passed)).toBeLessThan(4_096);
});
