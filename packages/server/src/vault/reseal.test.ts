import { randomBytes } from "node:crypto";
import { freshDatabase } from "@binnacle/world/database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resealColumn, SEALED_COLUMNS } from "./reseal.store.ts";
import { createVault } from "./vault.ts";

const old = { id: "old", key: randomBytes(32) };
const next = { id: "next", key: randomBytes(32) };

describe("sealing again", () => {
  let world: Awaited<ReturnType<typeof freshDatabase>>;
  const column = { table: "safe", column: "sealed", row: "id::text" };
  const place = (id: number) => ({ table: "safe", row: String(id), column: "sealed" });

  beforeAll(async () => {
    world = await freshDatabase();
  });
  afterAll(() => world.drop());

  async function safeWith(secrets: readonly (readonly [id: number, sealed: string | null])[]) {
    const { pool } = world.database;
    await pool.query("drop table if exists safe");
    await pool.query("create table safe (id integer primary key, sealed text)");
    for (const [id, sealed] of secrets) await pool.query("insert into safe values ($1, $2)", [id, sealed]);
    return async () => (await pool.query<{ id: number; sealed: string | null }>("select * from safe order by id")).rows;
  }

  test("[VA9] after a reseal, what an earlier key sealed opens with the new key alone, and the rest is not touched", async () => {
    const before = createVault([old]);
    const during = createVault([next, old]);
    const fresh = during.seal("fresh", place(1_500));
    const secrets = Array.from({ length: 1_200 }, (_, id) => [id, before.seal(`secret ${id}`, place(id))] as const);
    const rows = await safeWith([...secrets, [1_500, fresh], [1_501, null]]);

    expect(await resealColumn(world.database.pool, during, column)).toBe(1_200);
    const after = createVault([next]);
    const stored = await rows();
    for (const { id, sealed } of stored.slice(0, 1_200))
      expect(after.open(sealed ?? "", place(id))).toBe(`secret ${id}`);
    expect(stored.slice(1_200)).toEqual([
      { id: 1_500, sealed: fresh },
      { id: 1_501, sealed: null },
    ]);
    expect(await resealColumn(world.database.pool, during, column)).toBe(0);
  });

  test("[VA10] every sealed column of the database is listed for the reseal", async () => {
    const vault = createVault([next, old]);
    for (const listed of SEALED_COLUMNS) expect(await resealColumn(world.database.pool, vault, listed)).toBe(0);
    const { rows } = await world.database.pool.query<{ place: string }>(
      "select table_name || '.' || column_name as place from information_schema.columns where table_schema = 'public' and column_name like 'sealed%' and table_name <> 'safe' order by 1",
    );
    expect(rows.map(({ place }) => place)).toEqual(
      SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort(),
    );
  });
});
