import { type FreshDatabase, freshDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type Database } from "./connection.adapter.ts";
import { openPipeline, type Pipeline, type PipelineOptions, type ReadRows, readsFrom } from "./pipeline.adapter.ts";
import { readBounded } from "./prepared.adapter.ts";
import { isUnreachable } from "./transaction.ts";

let fresh: FreshDatabase;
let database: Database;
let pipeline: Pipeline;
const lost: Error[] = [];
beforeAll(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url }, { poolSize: 2, onError: (error) => lost.push(error) });
  ({ pipeline } = database);
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const SESSION = { name: "session", text: "select pg_backend_pid() as pid" };
const sessionOf = async (read: ReadRows) => (await read<{ pid: number }>(SESSION, []))[0]?.pid;
const ID = { name: "id", text: "select $1::uuid as id" };
const id = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

const options = (more: Partial<PipelineOptions> = {}): PipelineOptions => ({
  onError: () => undefined,
  readSlow: () => Promise.reject(new Error("too slow")),
  ...more,
});

const SLEEP = { name: "sleep", text: "select pg_sleep(60)" };
const failuresOf = (reads: readonly Promise<unknown>[]) =>
  Promise.all(
    reads.map((read) =>
      read.then(
        () => "no failure",
        (reason: unknown) => reason,
      ),
    ),
  );

test("[DB26] many reads at a time take one session of the database, and each gets its own rows", async () => {
  const statement = { name: "rows", text: "select n, pg_backend_pid() as pid from generate_series(1, $1::int) n" };
  const counts = Array.from({ length: 50 }, (_, index) => index % 4);
  const read = await Promise.all(
    counts.map((count) => pipeline.read<{ n: number; pid: number }>(statement, [`${count}`])),
  );
  expect(read.map((rows) => rows.map(({ n }) => n))).toEqual(counts.map((count) => [1, 2, 3].slice(0, count)));
  expect(new Set(read.flat().map(({ pid }) => pid)).size).toBe(1);
});

test("[DB26] the pipeline reads a value as the pool reads it", async () => {
  const text = `select $1::text as text, null::text as nothing, 7::bigint as big, array['a','b'] as list,
    '{"a":[1]}'::jsonb as json, '2026-01-31T09:30:00.123Z'::timestamptz as at, $2::bytea as bytes, 'x'::text as text`;
  const values = ["hello", Buffer.from("b")];
  const { rows } = await database.pool.query(text, values);
  expect(rows).toMatchObject([{ big: 7 }]);
  // The first use on a connection is told the columns, the others know them.
  for (let use = 0; use < 3; use++) expect(await pipeline.read({ name: "all types", text }, values)).toEqual(rows);
});

test("[DB26] no value of a row is left in the next row", async () => {
  const statement = { name: "some", text: "select nullif($1, '') as some, $2::bytea as bytes" };
  expect(await pipeline.read(statement, ["a", Buffer.from("b")])).toEqual([{ some: "a", bytes: Buffer.from("b") }]);
  expect(await pipeline.read(statement, ["", Buffer.from("c")])).toEqual([{ some: null, bytes: Buffer.from("c") }]);
});

test("[CV18] a value that cannot be read fails only its own read", async () => {
  const NUMERIC = 1700;
  const unreadable = () => {
    throw new Error("unreadable");
  };
  const types = { getTypeParser: (oid: number) => (oid === NUMERIC ? unreadable : String) } as never;
  const strict = openPipeline({ connectionString: fresh.url, types }, options());
  const before = await sessionOf(strict.read);
  await expect(strict.read({ name: "number", text: "select 1::numeric as n" }, [])).rejects.toThrow("unreadable");
  expect(await sessionOf(strict.read)).toBe(before);
  await strict.close();
});

test("[CV18] a value that the database refuses fails only its read, also at the first use of its statement", async () => {
  for (let use = 0; use < 2; use++) {
    const [before, refused, after] = await Promise.allSettled([
      pipeline.read(ID, [id]),
      pipeline.read(ID, ["no id"]),
      pipeline.read(ID, [id]),
    ]);
    expect(before).toMatchObject({ value: [{ id }] });
    expect(refused).toMatchObject({ reason: { code: "22P02" } });
    expect(after).toMatchObject({ value: [{ id }] });
  }
  const first = { name: "another id", text: "select $1::uuid as id" };
  const [refused, after] = await Promise.allSettled([pipeline.read(first, ["no id"]), pipeline.read(first, [id])]);
  expect([refused, after]).toMatchObject([{ reason: { code: "22P02" } }, { value: [{ id }] }]);
});

test("[DB26] reads on a connection that is lost fail as unreachable, and the next one opens another", async () => {
  const before = await sessionOf(pipeline.read);
  const waiting = failuresOf([pipeline.read(SLEEP, []), sessionOf(pipeline.read)]);
  await fresh.database.pool.query("select pg_terminate_backend($1)", [before]);
  expect((await waiting).map(isUnreachable)).toEqual([true, true]);
  expect(await sessionOf(pipeline.read)).not.toBe(before);
  await expect.poll(() => lost.length).toBeGreaterThan(0);
});

test("[DB26] a connection that does not answer in time is given up with all reads that wait on it", async () => {
  // Long enough for a busy machine to answer the other reads of this test.
  const impatient = openPipeline({ connectionString: fresh.url }, options({ slowAfterMs: 0, silentForMs: 2_000 }));
  const before = await sessionOf(impatient.read);
  const waiting = failuresOf([impatient.read(SLEEP, []), sessionOf(impatient.read)]);
  expect((await waiting).map(isUnreachable)).toEqual([true, true]);
  expect(await sessionOf(impatient.read)).not.toBe(before);
  await impatient.close();
});

test("[DB26] a process that was held up does not take its connection for a silent one", async () => {
  const impatient = openPipeline({ connectionString: fresh.url }, options({ silentForMs: 300 }));
  const before = await sessionOf(impatient.read);
  const holdUp = () => {
    for (const until = performance.now() + 400; performance.now() < until; );
  };
  const soon = { name: "soon", text: "select pg_backend_pid() as pid from pg_sleep(0.05)" };
  holdUp();
  expect(await impatient.read(soon, [])).toEqual([{ pid: before }]);
  // The read is sent after its timer was due, and before anything else has happened.
  const sent = new Promise((resolve) => setTimeout(resolve, 300)).then(() => impatient.read(soon, []));
  holdUp();
  expect(await sent).toEqual([{ pid: before }]);
  await impatient.close();
});

test("[DB29] a statement that waits for a lock goes to the pool, and those behind it are answered", async () => {
  await fresh.database.pool.query("create table locked as select 1 as one");
  const impatient = openPipeline(
    { connectionString: fresh.url },
    options({ readSlow: readsFrom(database.pool), slowAfterMs: 200 }),
  );
  const before = await sessionOf(impatient.read);
  const holder = await fresh.database.pool.connect();
  await holder.query("begin; lock table locked");
  const waiting = impatient.read({ name: "locked", text: "select one from locked" }, []);
  expect(await Promise.all([impatient.read(ID, [id]), sessionOf(impatient.read)])).toEqual([[{ id }], before]);
  await holder.query("commit");
  holder.release();
  expect(await waiting).toEqual([{ one: 1 }]);
  await impatient.close();
});

test("[PG13] a read ends once it has enough rows, and leaves its connection as it was", async () => {
  const rowsOf = async (length: string) => {
    const query = sql`select n, repeat('x', ${length}::int) as text from generate_series(1, 100) n`;
    const rows = await readBounded<{ n: number }>(database.kysely, query.compile(database.kysely), 10_000);
    return rows.map(({ n }) => n);
  };
  const first = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  // More connections than the pool has would be needed if one were left behind.
  for (let use = 0; use < 3; use++) {
    expect(await rowsOf("1")).toEqual(first(100));
    const some = await rowsOf("1000");
    expect(some).toEqual(first(some.length));
    expect(some.length).toBeLessThan(30);
    expect((await rowsOf("100000")).length).toBeLessThan(30);
    await expect(rowsOf("no number")).rejects.toMatchObject({ code: "22P02" });
  }
});

test("[PG20] a step reads fewer rows where those before it are long", async () => {
  /** How many rows were read together, by the time at which PostgreSQL was asked for them. */
  const steps = async (length: number) => {
    const query = sql`select statement_timestamp()::text as at, repeat('x', ${length}::int) as text from generate_series(1, 60) n`;
    const rows = await readBounded<{ at: string }>(database.kysely, query.compile(database.kysely), 10_000_000);
    return [...Map.groupBy(rows, ({ at }) => at).values()].map((together) => together.length);
  };
  const largest = async (length: number) => Math.max(...(await steps(length)));
  expect([await largest(10), await largest(100_000), await largest(200_000)]).toEqual([15, 3, 3]);
  expect((await steps(200_000)).slice(1)).toEqual(expect.arrayContaining([2]));
});

test("[DB26] reads from an address without a database fail, and say why", async () => {
  const nowhere = openPipeline({ host: "127.0.0.1", port: 1 }, options());
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(sessionOf(nowhere.read)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  }
  await nowhere.close();
});

test("[DB26] reads that were sent are answered before the connection closes", async () => {
  const closing = openPipeline({ connectionString: fresh.url }, options());
  await sessionOf(closing.read);
  const reads = [1, 2, 3].map(() => closing.read(ID, [id]));
  await Promise.all(reads.slice(0, 1));
  await closing.close();
  expect(await Promise.all(reads)).toEqual([[{ id }], [{ id }], [{ id }]]);
});

test("[DB27] a column that a newer version adds fails no read of an older version", async () => {
  await fresh.database.pool.query("create table upgraded as select 1 as one");
  const statement = { name: "upgraded", text: "select * from upgraded" };
  const bounded: ReadRows = ({ text }, parameters) => readBounded(database.kysely, { sql: text, parameters }, 1_000);
  const readers = [pipeline.read, readsFrom(database.pool), bounded];
  // A connection of the pool for each of two, so that both have prepared the statement.
  for (const read of readers) expect(await Promise.all([read(statement, []), read(statement, [])])).toHaveLength(2);
  await fresh.database.pool.query("alter table upgraded add column two int default 2");
  for (const read of readers) {
    const row = [{ one: 1, two: 2 }];
    expect(await Promise.all([read(statement, []), read(statement, [])])).toEqual([row, row]);
    expect(await read(statement, [])).toEqual(row);
  }
});

test("[DB30] a row with another number of columns than its statement had is not read by their names, but asked for again", async () => {
  const statement = { name: "shaped", text: "select 'viewer' as role, 1 as one" };
  const again = "prepare shaped as select 'added' as added, 'viewer' as role, 1 as one";
  for (const read of [pipeline.read, readsFrom(database.pool)]) {
    expect(await read(statement, [])).toEqual([{ role: "viewer", one: 1 }]);
    await read({ name: "forget", text: "deallocate shaped" }, []);
    await read({ name: "again", text: again }, []);
    expect(await read(statement, [])).toEqual([{ role: "viewer", one: 1 }]);
  }
});
