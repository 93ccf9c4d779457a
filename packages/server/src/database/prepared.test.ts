import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { insertOf } from "./insert.store.ts";
import { PipelinedClient, runTogether } from "./prepared.adapter.ts";
import { inTransaction } from "./transaction.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test("[DB25] a connection prepares a prepared statement once, and values are not part of its text", async () => {
  const text = "select $1::text as value";
  await inTransaction(fresh.database.kysely, async (tx) => {
    for (const value of ["one", "'; drop table orgs"]) {
      expect(await runTogether(tx, [{ text, values: [value] }])).toMatchObject([{ rows: [{ value }] }]);
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
  await runTogether(db, [insertOf({ orgs: org("first"), tiers: { name: "new", ...times } })]);
  expect(await written()).toEqual([["first"], ["new"]]);
  const again = insertOf({ orgs: org("second"), tiers: { name: "new", ...times } });
  await expect(runTogether(db, [again])).rejects.toMatchObject({ code: "23505" });
  expect(await written()).toEqual([["first"], ["new"]]);
});

test("[DB1049] statements that do not wait for each other are sent with one write, and are answered in their order", async () => {
  const client = new PipelinedClient({ connectionString: fresh.url });
  await client.connect();
  const write = vi.spyOn(client.socket, "_writev");
  const answers = await Promise.all([1, 2, 3].map((n) => client.query("select $1::int as n", [n])));
  expect(answers.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
  expect(write).toHaveBeenCalledTimes(1);
  await client.end();
});

test("[DB2501] a transaction is begun by the same write that sends its first statement", async () => {
  const client = new PipelinedClient({ connectionString: fresh.url });
  await client.connect();
  const write = vi.spyOn(client.socket, "_writev");
  await client.query("begin");
  const { rows } = await client.query("select now() < clock_timestamp() as is_within");
  expect(rows).toEqual([{ is_within: true }]);
  expect(write).toHaveBeenCalledTimes(1);
  await client.query("rollback");
  await client.end();
});

test("[DB2501] a connection on which no transaction can begin is ended", async () => {
  const client = new PipelinedClient({ connectionString: fresh.url });
  client.on("error", () => undefined);
  await client.connect();
  const closed = new Promise((resolve) => client.socket.once("close", resolve));
  await client.query("begin");
  await expect(client.query("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
  await client.query("begin");
  await closed;
  await expect(client.query("select 1")).rejects.toThrow();
});

test("[DB1049] of statements that are sent together one that fails is reported, and nothing of its transaction is kept", async () => {
  const { kysely: db } = fresh.database;
  const times = { created_at: new Date(), updated_at: new Date() };
  const tier = (name: string) => insertOf({ tiers: { name, ...times } });
  const refused = inTransaction(db, (tx) =>
    runTogether(tx, [tier("before"), { text: "select $1::uuid", values: ["no id"] }, tier("after")]),
  );
  await expect(refused).rejects.toMatchObject({ code: "22P02" });
  const names = (await db.selectFrom("tiers").select("name").execute()).map(({ name }) => name);
  expect(names).not.toContain("before");
  expect(names).not.toContain("after");
});
