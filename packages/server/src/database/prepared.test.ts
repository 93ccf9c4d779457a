import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertRows } from "./insert.store.ts";
import { runPrepared } from "./prepared.adapter.ts";
import { inTransaction } from "./transaction.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test("[DB25] a connection prepares such a statement once, and its values are no part of it", async () => {
  const text = "select $1::text as value";
  await inTransaction(fresh.database.kysely, async (tx) => {
    for (const value of ["one", "'; drop table orgs"]) {
      const { rows } = await runPrepared(tx, text, [value]);
      expect(rows).toEqual([{ value }]);
    }
    const { rows } = await sql`
      select statement, generic_plans + custom_plans as runs from pg_prepared_statements
    `.execute(tx);
    expect(rows).toEqual([{ statement: text, runs: 2 }]);
  });
});

test("[DB25] the rows of several tables are written by one statement, or none of them", async () => {
  const times = { created_at: new Date(), updated_at: new Date() };
  const org = (slug: string) => ({
    id: crypto.randomUUID(),
    name: slug,
    slug,
    description: null,
    settings: "{}",
    ...times,
  });
  const { kysely: db } = fresh.database;
  const written = async () => [
    (await db.selectFrom("orgs").select("slug").execute()).map(({ slug }) => slug),
    (await db.selectFrom("tiers").select("name").where("name", "like", "new%").execute()).map(({ name }) => name),
  ];
  await insertRows(db, { orgs: org("first"), tiers: { name: "new", ...times } });
  expect(await written()).toEqual([["first"], ["new"]]);
  await expect(insertRows(db, { orgs: org("second"), tiers: { name: "new", ...times } })).rejects.toMatchObject({
    code: "23505",
  });
  expect(await written()).toEqual([["first"], ["new"]]);
});
