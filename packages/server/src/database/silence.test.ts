import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { Pipe } from "@binnacle/world/pipe";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, type Database } from "./connection.adapter.ts";
import { isUnreachable } from "./transaction.ts";

let fresh: FreshDatabase;
let pipe: Pipe;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  const way = await Pipe.toServer(fresh.url, 5432);
  pipe = way.pipe;
  database = connect({ url: way.url }, { poolSize: 4, silentForMs: 300, onError: () => undefined });
});
afterAll(async () => {
  await database.close();
  await pipe.close();
  await fresh.drop();
});

test("[DB3752] a statement over a connection whose other end is gone fails as unreachable, and the next one gets another connection", async () => {
  const ask = () => sql`select 1 as one`.execute(database.kysely);
  await ask();
  pipe.stall();
  const failed = ask().then(
    () => null,
    (error: unknown) => error,
  );
  // What was sent meanwhile is lost for good.
  await vi.waitFor(() => expect(database.pool.idleCount).toBe(0));
  pipe.flow();
  expect(isUnreachable(await failed)).toBe(true);
  expect((await ask()).rows).toEqual([{ one: 1 }]);
});

test("[DB3753] once a connection is gone, those that idle beside it are tried and given up, before a statement finds them", async () => {
  const slow = () => sql`select pg_sleep(0.1)`.execute(database.kysely);
  await Promise.all([slow(), slow(), slow(), slow()]);
  expect(database.pool.idleCount).toBe(4);
  pipe.forget();
  await expect(sql`select 1`.execute(database.kysely)).rejects.toThrow("Connection terminated");
  await vi.waitFor(() => expect(database.pool.totalCount).toBe(0), { timeout: 5_000 });
  expect((await sql`select 1 as one`.execute(database.kysely)).rows).toEqual([{ one: 1 }]);
});

test("[DB3754] a database that neither answers nor takes connections is given up, and found again when it answers", async () => {
  const ask = () => sql`select 1 as one`.execute(database.kysely);
  await ask();
  pipe.stall();
  const reason = await ask().catch((error: unknown) => error);
  expect(isUnreachable(reason)).toBe(true);
  pipe.flow();
  expect((await ask()).rows).toEqual([{ one: 1 }]);
});

test("[DB3752] a statement that takes long, and a transaction that waits for its program, are left alone", async () => {
  await sql`select pg_sleep(1)`.execute(database.kysely);
  await database.kysely.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx);
    const sinceMs = performance.now();
    await vi.waitFor(() => expect(performance.now() - sinceMs).toBeGreaterThan(1_000));
    await sql`select 1`.execute(tx);
  });
});
