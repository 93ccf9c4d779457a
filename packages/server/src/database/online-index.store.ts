import { type RawBuilder, sql } from "kysely";
import { isDeclared, type Migrations, type OnlineIndex } from "./migration.ts";
import type { Queries } from "./transaction.ts";

/** Any number will do that nothing else in the database uses. */
const BUILDING_LOCK = sql.lit("3853314791062309109");

/**
 * Builds the indexes of migrations that are not there yet, while servers read and write their tables. One that was not finished, because
 * its server was stopped, is built anew. One server builds; the others do not wait for it, since queries only are slower without. Returns
 * the names of those that were built.
 */
export async function buildIndexes(database: Queries, migrations: Migrations): Promise<string[]> {
  const wanted = Object.values(migrations).flatMap((migration) =>
    isDeclared(migration) ? (migration.indexes ?? []) : [],
  );
  // A connection that waited for the lock would hold a snapshot, which the building of an index waits for.
  return database.connection().execute(async (connection) => {
    const { rows } = await sql<{ is_mine: boolean }>`
      select pg_try_advisory_lock(${BUILDING_LOCK}::bigint) as is_mine`.execute(connection);
    if (!rows[0]?.is_mine) return [];
    try {
      return await buildMissing(connection, wanted);
    } finally {
      await sql`select pg_advisory_unlock(${BUILDING_LOCK}::bigint)`.execute(connection);
    }
  });
}

async function buildMissing(connection: Queries, wanted: readonly OnlineIndex[]): Promise<string[]> {
  const { rows: found } = await sql<{ name: string; is_valid: boolean }>`
    select c.relname as name, i.indisvalid as is_valid from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace and c.relname = any (${wanted.map(({ name }) => name)})`.execute(
    connection,
  );
  const { rows: extensions } = await sql<{ name: string }>`select extname as name from pg_extension`.execute(
    connection,
  );
  const built: string[] = [];
  for (const { name, definition, extension } of wanted) {
    if (found.some((index) => index.name === name && index.is_valid)) continue;
    if (extension && !extensions.some((installed) => installed.name === extension)) continue;
    await buildOnPartitions(connection, name, definition);
    built.push(name);
  }
  return built;
}

/** Whoever writes to a table waits behind its new index for as long as the index waits for the table. */
const LOCK_TIMEOUT_MS = 500;

/**
 * PostgreSQL builds no index of a table with partitions concurrently, so it is built on each of them first. The index of the table then
 * finds them, and nothing is left to be built under its lock.
 */
async function buildOnPartitions(connection: Queries, name: string, definition: RawBuilder<unknown>): Promise<void> {
  const [, table = "", columns = ""] = /^(\w+)(.*)$/s.exec(definition.compile(connection).sql) ?? [];
  const { rows: partitions } = await sql<{ name: string; has_index: boolean }>`
    select p.relname as name, coalesce(x.indisvalid, false) as has_index
    from pg_inherits join pg_class p on p.oid = inhrelid
      left join pg_index x on x.indrelid = p.oid and x.indexrelid = to_regclass(replace(${name}, ${table}, p.relname))
    where inhparent = ${table}::regclass order by 1`.execute(connection);
  const build = async (index: string, on: string) => {
    await sql`drop index concurrently if exists ${sql.table(index)}`.execute(connection);
    await sql`create index concurrently ${sql.table(index)} on ${sql.table(on)} ${sql.raw(columns)}`.execute(
      connection,
    );
  };
  if (partitions.length === 0) return build(name, table);
  for (const partition of partitions)
    if (!partition.has_index) await build(name.replace(table, partition.name), partition.name);
  await connection.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
    await sql`create index ${sql.table(name)} on ${definition}`.execute(tx);
  });
}
