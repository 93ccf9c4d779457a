import { startWorld } from "@binnacle/world";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { openShop, WEB } from "../apps/app.fixture.ts";
import { foldRowCounts, WHOLE_RELATION } from "./row-count.store.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

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

test("[PG11] after inserts and deletes, the totals that are kept are those that counting the rows gives", async () => {
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

test("[PG19] totals are folded where there are new deltas, in as many steps as it takes, and no other row is written", async () => {
  const { kysely: db } = world.database;
  const orgs = [await world.org(), await world.org(), await world.org()];
  expect(orgs).toHaveLength(3);
  const rows = async () =>
    (await sql`select relation, scope, delta, xmin::text, ctid::text from row_counts order by 1, 2, 4, 5`.execute(db))
      .rows;
  const unfolded = async () =>
    (await sql`select from row_counts group by relation, scope having count(*) > 1`.execute(db)).rows.length;
  await foldRowCounts(db, 1);
  expect(await unfolded()).toBe(0);
  const before = await rows();
  await foldRowCounts(db);
  expect(await rows()).toEqual(before);
  await world.org();
  expect(await unfolded()).toBeGreaterThan(0);
  await foldRowCounts(db);
  const { kept, counted } = await totals();
  expect(kept).toEqual(counted);
  const after = new Set((await rows()).map((row) => JSON.stringify(row)));
  expect(before.filter((row) => after.has(JSON.stringify(row))).length).toBeGreaterThan(3);
});

test("[PG19] totals are folded by one replica at a time, and another one leaves them alone", async () => {
  const { kysely: db } = world.database;
  const rows = async () => (await sql`select relation, scope, delta from row_counts order by 1, 2, 3`.execute(db)).rows;
  await world.org();
  await db.transaction().execute(async (tx) => {
    await foldRowCounts(tx);
    await world.org();
    const before = await rows();
    await foldRowCounts(db);
    expect(await rows()).toEqual(before);
  });
  const before = await rows();
  await foldRowCounts(db);
  expect((await rows()).length).toBeLessThan(before.length);
});
