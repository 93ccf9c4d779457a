import { startWorld, type World } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";
import { insertCluster, insertProject } from "./bindings.fixture.ts";
import { LISTS, type List } from "./list.store.ts";

const OF_EACH = 500;

let world: World;
let older: { readonly orgId: string; readonly projectId: string };
beforeAll(async () => {
  world = await startWorld();
  older = await placeWithApps();
  await placeWithApps();
  await sql`analyze`.execute(world.database.kysely);
});
afterAll(() => world.stop());

async function placeWithApps() {
  const { kysely: db } = world.database;
  const at = { created_at: new Date(), updated_at: new Date() };
  const orgId = await world.org();
  const clusterId = await insertCluster(db, orgId);
  const projectId = await insertProject(db, orgId, clusterId);
  const apps = Array.from({ length: OF_EACH }, (_, index) => ({
    ...{ id: newId(), org_id: orgId, cluster_id: clusterId, project_id: projectId, namespace: "shop" },
    ...{ name: `app-${index}`, components: "[]", generation: 1, revision: 1, phase: "pending" as const, ...at },
  }));
  await db.insertInto("apps").values(apps).execute();
  return { orgId, projectId };
}

interface Plan {
  readonly Plans?: readonly Plan[];
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

test.each<[string, List, () => string]>([
  ["a project", LISTS.apps.ofProject, () => older.projectId],
  ["an organization", LISTS.apps.ofOrg, () => older.orgId],
])("[PG10] the first apps of %s are read without the newer ones of another", async (_, { first }, place) => {
  const appRows = await world.database.kysely.connection().execute(async (db) => {
    const session = await db
      .selectFrom("sessions")
      .select("id")
      .where("user_id", "=", world.admin.id)
      .executeTakeFirst();
    // As after some uses of the statement, when PostgreSQL no longer plans it for the values at hand.
    await sql`set plan_cache_mode = force_generic_plan`.execute(db);
    await sql.raw(`prepare listed as ${first.session.text}`).execute(db);
    try {
      const { rows } = await sql
        .raw<{ "QUERY PLAN": [{ Plan: Plan }] }>(
          `explain (analyze, format json) execute listed('${session?.id}', now(), 10, 0, '${place()}')`,
        )
        .execute(db);
      return nodesOf(rows[0]?.["QUERY PLAN"][0].Plan ?? expect.unreachable()).filter(
        (node) => node["Relation Name"] === "apps" && node["Actual Loops"] > 0,
      );
    } finally {
      await sql.raw("deallocate listed; reset plan_cache_mode").execute(db);
    }
  });
  expect(appRows).toMatchObject([{ "Actual Rows": 10 }]);
  expect(appRows[0]?.["Rows Removed by Filter"] ?? 0).toBe(0);
});
