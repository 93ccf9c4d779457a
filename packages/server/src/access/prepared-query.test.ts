import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type Database } from "../database/connection.adapter.ts";
import { type ReadRows, rowsFrom } from "./prepared-query.adapter.ts";

let fresh: FreshDatabase;
let single: Database;
let rowsOf: ReadRows;
beforeAll(async () => {
  fresh = await freshDatabase();
  // One connection: its second use of a statement is the one that knows the columns.
  single = connect({ url: fresh.url }, { poolSize: 1, onError: () => undefined });
  rowsOf = rowsFrom(single.pool);
});
afterAll(async () => {
  await single.close();
  await fresh.drop();
});

const ALL_TYPES = `select $1::text as text, null::text as nothing, true as yes, 7::bigint as big, array['a','b'] as list,
  '{"a":[1]}'::jsonb as json, '2026-01-31T09:30:00.123Z'::timestamptz as at, 'x'::text as text`;

test("[AC12] a statement reads what the driver reads, at its first use on a connection and at every later one", async () => {
  const { rows } = await single.pool.query(ALL_TYPES, ["hello"]);
  for (let use = 0; use < 3; use++) {
    expect(await rowsOf({ name: "all types", text: ALL_TYPES }, ["hello"])).toEqual(rows);
  }
});

test("[AC12] nothing of a row is left for the next", async () => {
  const statement = { name: "some", text: "select nullif($1, '') as some, $2::bytea as bytes" };
  expect(await rowsOf(statement, ["a", Buffer.from("b")])).toEqual([{ some: "a", bytes: Buffer.from("b") }]);
  expect(await rowsOf(statement, ["", Buffer.from("c")])).toEqual([{ some: null, bytes: Buffer.from("c") }]);
});

test("[AC12] a statement gives all of its rows in their order, and none where there are none", async () => {
  const statement = { name: "numbers", text: "select n from generate_series(1, $1::int) n" };
  expect(await rowsOf(statement, ["3"])).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(await rowsOf(statement, ["0"])).toEqual([]);
  expect(await rowsOf(statement, ["1"])).toEqual([{ n: 1 }]);
});

test("[CV18] a value that the database refuses fails alone, also before the columns are known", async () => {
  const statement = { name: "one id", text: "select $1::uuid as id" };
  const id = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
  for (let use = 0; use < 2; use++) {
    await expect(rowsOf(statement, ["no id"])).rejects.toMatchObject({ code: "22P02" });
    expect(await rowsOf(statement, [id])).toEqual([{ id }]);
  }
});

test("[CV18] a value that cannot be read fails its query and not the connection", async () => {
  const NUMERIC = 1700;
  const unreadable = () => {
    throw new Error("unreadable");
  };
  const types = { getTypeParser: (oid: number) => (oid === NUMERIC ? unreadable : String) };
  const pool = new pg.Pool({ connectionString: fresh.url, max: 1, types: types as never });
  const read = rowsFrom(pool);
  await expect(read({ name: "number", text: "select 1::numeric as n" }, [])).rejects.toThrow("unreadable");
  expect(await read({ name: "text", text: "select 'x' as t" }, [])).toEqual([{ t: "x" }]);
  expect(pool.totalCount).toBe(1);
  await pool.end();
});

test("[DB6] a statement is told its columns again on a new connection", async () => {
  const statement = { name: "pid", text: "select pg_backend_pid() as pid" };
  const [before] = await rowsOf<{ pid: number }>(statement, []);
  await fresh.database.pool.query("select pg_terminate_backend($1)", [before?.pid]);
  const [after] = await rowsOf<{ pid: number }>(statement, []).catch(() => rowsOf<{ pid: number }>(statement, []));
  expect(after?.pid).not.toBe(before?.pid);
});
