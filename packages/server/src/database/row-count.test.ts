import { startWorld, type World } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openShop, WEB } from "../apps/app.fixture.ts";
import { foldRowCounts, WHOLE_RELATION } from "./row-count.store.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
});
afterAll(() => world?.stop());

/** The tables and columns by which triggers count, with the totals of each part: as they are kept, and as they are. */
async function totals() {
  const { kysely: db } = world.database;
  const triggers = await sql<{ table: string; column: string | null }>`
    select tgrelid::regclass::text as table, nullif(convert_from(rtrim(tgargs, '\\x00'), 'UTF8'), '') as column
    from pg_trigger where tgfoid = 'count_rows'::regproc and tgname like '%inserted' order by 1, 2`.execute(db);
  const counts = triggers.rows.map(({ table, column }) => {
    const scope = column ? sql`coalesce(${sql.ref(column)}, ${WHOLE_RELATION})` : sql`${WHOLE_RELATION}::uuid`;
    return sql`select ${table} as relation, ${scope} as scope, count(*) as total from ${sql.table(table)} group by 2`;
  });
  const counted = await sql`${sql.join(counts, sql` union all `)} order by 1, 2`.execute(db);
  const kept = await sql`select relation, scope, sum(delta)::bigint as total from row_counts group by 1, 2
    having sum(delta) <> 0 order by 1, 2`.execute(db);
  return { parts: triggers.rows.length, counted: counted.rows, kept: kept.rows };
}

test("[PG11] the totals that are kept are those that counting gives, whatever has come and gone", async () => {
  const { kysely: db } = world.database;
  const { editor, project, cluster, org } = await openShop(world);
  const { admin } = world;
  await world.org();
  for (const name of ["one", "two", "three"])
    expect((await editor.api.post("/apps", { name, project_id: project, components: [WEB] })).status).toBe(201);
  const other = await admin.api.post("/projects", { name: "other", cluster_id: cluster });
  const { status } = await admin.api.post("/apps", { name: "gone", project_id: other.body.id, components: [WEB] });
  expect(status).toBe(201);
  await foldRowCounts(db);
  const before = await totals();
  expect(before.parts).toBe(10);
  expect(before.kept).toEqual(before.counted);
  expect(before.kept).toContainEqual({ relation: "apps", scope: project, total: 3 });

  await sql`delete from apps where project_id = ${project} and name in ('one', 'two')`.execute(db);
  await sql`delete from projects where id = ${other.body.id}`.execute(db);
  await sql`delete from apps where false`.execute(db);
  const after = await totals();
  expect(after.kept).toEqual(after.counted);
  expect(after.kept).toContainEqual({ relation: "apps", scope: project, total: 1 });
  expect(after.kept).toContainEqual({ relation: "projects", scope: org, total: 1 });
});
