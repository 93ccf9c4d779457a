import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faultOf } from "../http/failure.ts";
import { connect, type Database } from "./connection.adapter.ts";
import { isTooSlow, isUnreachable, type Queries } from "./transaction.ts";

let fresh: FreshDatabase;
let database: Database;
let db: Queries;
beforeAll(async () => {
  fresh = await freshDatabase();
  const limits = { statementMs: 500, lockMs: 200, idleInTransactionMs: 200 };
  database = connect({ url: fresh.url }, { poolSize: 2, limits, onError: () => undefined });
  db = database.kysely;
  await sql`create table held as select 1 as one`.execute(db);
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (reason: Error) => reason,
  );

test("[DB31] a statement that takes too long is ended, and is a 503 that says so", async () => {
  const reason = await reasonOf(sql`select pg_sleep(60)`.execute(db));
  expect([isTooSlow(reason), isUnreachable(reason)]).toEqual([true, false]);
  expect(faultOf(reason)).toMatchObject({ kind: "unavailable", detail: expect.stringContaining("took too long") });
});

test("[DB31] a wait for a lock that is not released ends, and can be tried again", async () => {
  await fresh.database.kysely.transaction().execute(async (holder) => {
    await sql`lock table held`.execute(holder);
    const reason = await reasonOf(sql`select one from held`.execute(db));
    expect([isTooSlow(reason), isUnreachable(reason)]).toEqual([false, true]);
    expect(faultOf(reason)?.kind).toBe("unavailable");
  });
  expect((await sql`select one from held`.execute(db)).rows).toEqual([{ one: 1 }]);
});

test("[DB31] a transaction whose program does not go on is rolled back, and releases its locks", async () => {
  const [locked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const abandoned = db.transaction().execute(async (tx) => {
    await sql`lock table held`.execute(tx);
    locked.resolve();
    await ended.promise;
    await sql`select 1`.execute(tx);
  });
  await locked.promise;
  expect((await sql`select one from held`.execute(fresh.database.kysely)).rows).toEqual([{ one: 1 }]);
  ended.resolve();
  expect(isUnreachable(await reasonOf(abandoned))).toBe(true);
});
