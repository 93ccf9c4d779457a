import { createHash } from "node:crypto";
import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { BACKUP_FORMAT, type BackupHeader, END_OF_ROWS, type TableSection } from "./backup-file.ts";

/**
 * Rows of partitions are those of their table, because another database has other partitions. The migrator's own tables follow from the
 * migrations, and unlogged tables hold what a crash may lose anyway. The event log is that of one database: with another one, streams have
 * to be told to read anew.
 */
const TABLES = `
  select c.relname as table, json_agg(a.attname order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p' and c.relnamespace = 'public'::regnamespace
    and c.relname not in ('kysely_migration', 'kysely_migration_lock') and c.relname not like 'event\\_log%'
  group by c.relname order by c.relname`;

/** Sequences of identity columns follow from the rows. */
const SEQUENCES = `
  select sequencename as name, coalesce(last_value + 1, start_value)::text as next from pg_sequences
  where schemaname = 'public' and not exists (
    select from pg_depend where objid = format('%I.%I', schemaname, sequencename)::regclass and deptype in ('a', 'i'))`;

export const tablesOf = async (client: Client): Promise<TableSection[]> =>
  (await client.query<TableSection>(TABLES)).rows;

export const quotedName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Writes a backup, uncompressed, of the database as it is at one moment: everything is read in one transaction, beside servers that go
 * on writing. Sealed values stay sealed. Returns how many rows each table has. Where the reader leaves early the transaction ends with the
 * connection: a statement to end it would wait for the rest of a table that nobody reads.
 */
export async function* backUp(
  client: Client,
  about: { readonly now: Date; readonly version: string },
): AsyncGenerator<Buffer, Readonly<Record<string, number>>> {
  await client.query("begin isolation level repeatable read read only");
  const hash = createHash("sha256");
  const hashed = (part: Buffer) => {
    hash.update(part);
    return part;
  };
  yield hashed(jsonLine(await headerOf(client, about)));
  const rows: Record<string, number> = {};
  for (const section of await tablesOf(client)) {
    yield hashed(jsonLine(section));
    const copied = client.query(copyTo(`copy (${selected(section)}) to stdout`));
    for await (const part of copied) yield hashed(part as Buffer);
    yield hashed(END_OF_ROWS);
    rows[section.table] = copied.rowCount;
  }
  yield jsonLine({ rows, sha256: hash.digest("hex") });
  await client.query("rollback");
  return rows;
}

async function headerOf(client: Client, { now, version }: { now: Date; version: string }): Promise<BackupHeader> {
  const migrations = await client.query<{ name: string }>("select name from kysely_migration order by name");
  const sequences = await client.query<{ name: string; next: string }>(SEQUENCES);
  return {
    binnacle_backup: BACKUP_FORMAT,
    created_at: now.toISOString(),
    version,
    migrations: migrations.rows.map(({ name }) => name),
    sequences: Object.fromEntries(sequences.rows.map(({ name, next }) => [name, next])),
  };
}

export const listed = ({ table, columns }: TableSection) =>
  `${quotedName(table)} (${columns.map(quotedName).join(", ")})`;

/** A table with partitions can be copied by a query only. */
const selected = ({ table, columns }: TableSection) =>
  `select ${columns.map(quotedName).join(", ")} from ${quotedName(table)}`;

const jsonLine = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);
