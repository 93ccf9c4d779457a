import { type Person, startWorld } from "@binnacle/world";
import { decodeJwt } from "jose";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { appList } from "../apps/app-place.store.ts";
import type { Pipeline } from "../database/pipeline.adapter.ts";
import { newId } from "../id.adapter.ts";
import { describedRoutes } from "../routes.ts";
import { insertCluster, insertProject } from "./bindings.fixture.ts";
import { choiceOf, listStatements } from "./list.store.ts";
import type { ContentFilter } from "./list.ts";
import { placeStore } from "./place.store.ts";

const OF_EACH = 500;

const world = await startWorld();
const older = await placeWithApps();
await placeWithApps();
await sql`analyze`.execute(world.database.kysely);
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

test.each<[string, () => ContentFilter]>([
  ["a project", () => ({ project_id: older.projectId })],
  ["an organization", () => ({ org_id: older.orgId })],
])("[PG10] the first page of apps of %s is read without reading newer apps of another one", async (_, filter) => {
  const { query, values } = choiceOf(appList, filter());
  const { first } = listStatements(query);
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
          `explain (analyze, format json) execute listed('${session?.id}', now(), 10, 0, '${values[0]}')`,
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

test.each(["listUsers", "listOrgs", "listProjects", "listApps", "listAddonInstances"])(
  "[AC220] the page of %s comes with its total and its caller from one SQL statement",
  async (id) => {
    const { guard, operation } = describedRoutes().find((route) => route.operation.id === id) ?? expect.unreachable();
    const { kysely, pool, pipeline } = world.database;
    const sent: unknown[] = [];
    const note = (connection: unknown) => sent.push(connection);
    const read: Pipeline["read"] = (statement, values) => {
      note(statement);
      return pipeline.read(statement, values);
    };
    pool.on("acquire", note);
    const request = {
      places: placeStore({ kysely, pool, pipeline: { ...pipeline, read } }),
      credential: { kind: "session", sessionId: sessionOf(world.admin), userId: world.admin.id, expiresAtMs: 0 },
      operation,
      now: world.clock.now(),
    } as const;
    const seen = await guard.authorize(request, {
      params: {},
      query: { page: 1, items_per_page: 10 },
      body: undefined,
    });
    pool.off("acquire", note);
    expect(seen).toMatchObject({
      caller: { id: world.admin.id },
      rows: expect.any(Array),
      total: expect.any(Number),
    });
    expect(sent).toHaveLength(1);
  },
);

const sessionOf = ({ token }: Person) => String(decodeJwt(token)["sid"]);
