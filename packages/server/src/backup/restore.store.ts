import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { connected, withClient } from "../database/command.adapter.ts";
import { type Address, SERVER_NAMES } from "../database/connection.adapter.ts";
import { migrate, migrateExactly, unknownMigrations } from "../database/migrate.ts";
import { tableOfPartition } from "../database/partitions.ts";
import { SEALED_COLUMNS } from "../vault/reseal.store.ts";
import type { Vault } from "../vault/vault.ts";
import { listed, quotedName, tablesOf } from "./backup.store.ts";
import {
  BACKUP_FORMAT,
  type BackupHeader,
  type BackupReader,
  type BackupTrailer,
  BrokenBackup,
  type TableSection,
} from "./backup-file.ts";

/** The backup cannot be restored here. The message says what to do. */
export class RestoreRefused extends Error {
  override readonly name = "RestoreRefused";
}

/**
 * Restores a backup into an installation without organizations. All rows come in one transaction, which commits only when the
 * checksum is right and the keys open what is sealed; so an attempt that fails or is killed leaves the installation empty.
 */
export async function restore(address: Address, backup: BackupReader, vault: Vault): Promise<BackupTrailer> {
  const header = await backup.line<BackupHeader>();
  if (header.binnacle_backup !== BACKUP_FORMAT)
    throw new RestoreRefused(
      "The file is not a backup that this version can read. Restore it with the version that wrote it.",
    );
  // Rows of an earlier version go into the tables of that version. The later migrations then change them as an upgrade would.
  const isReady = await connected(address, ({ kysely }) => migrateExactly(kysely, header.migrations));
  if (!isReady) throw otherTables(header);
  try {
    return await withClient(address, (client) => restoreRows(client, header, backup, vault));
  } finally {
    await connected(address, ({ kysely }) => migrate(kysely));
  }
}

async function restoreRows(
  client: Client,
  header: BackupHeader,
  backup: BackupReader,
  vault: Vault,
): Promise<BackupTrailer> {
  // The connection ends with an error, and the transaction with it.
  await client.query("begin");
  await requireEmpty(client);
  const trailer = await withoutConstraints(client, () => loadTables(client, backup));
  await setSequences(client, header);
  await requireKeys(client, vault);
  await client.query("commit");
  return trailer;
}

/** A server that was taken back by a release goes on with the tables of the later one, and so do its backups. */
function otherTables({ version, migrations }: BackupHeader): RestoreRefused {
  const [later] = unknownMigrations(migrations);
  if (later !== undefined)
    return new RestoreRefused(
      `The backup is of a database that a later release has migrated: this version does not know ${later}. Restore it with the later ` +
        "release. A version that worked with that database works with the restored one too.",
    );
  return new RestoreRefused(
    `The backup is of version ${version}, which has other tables than this database. Restore it into an empty database.`,
  );
}

/** Whoever still writes would wait for the restore and then write to what it does not know. */
async function requireEmpty(client: Client): Promise<void> {
  const { rows: others } = await client.query(
    `select from pg_stat_activity
     where datname = current_database() and application_name ~ '${SERVER_NAMES}'`,
  );
  if (others.length > 0)
    throw new RestoreRefused("Servers of Binnacle use this database. Stop all of them, then restore.");
  const { rows } = await client.query<{ orgs: number }>("select count(*)::int as orgs from orgs");
  if (rows[0]?.orgs)
    throw new RestoreRefused(
      "The database has organizations already. A backup is restored into an empty installation only.",
    );
}

async function loadTables(client: Client, backup: BackupReader): Promise<BackupTrailer> {
  const known = new Set((await tablesOf(client)).map(({ table }) => table));
  // A server that was started once has its first user in them.
  await client.query(`truncate ${[...known].map(quotedName).join(", ")}`);
  const rows: Record<string, number> = {};
  for (;;) {
    const digest = backup.digest();
    const section = await backup.line<TableSection | BackupTrailer>();
    if (!("table" in section)) {
      requireWhole(section, rows, digest);
      return section;
    }
    const table = tableFor(section, known);
    if (table === undefined) throw unknownTable(section.table);
    const copied = client.query(copyFrom(`copy ${listed({ ...section, table })} from stdin`));
    await pipeline(backup.rows(), copied);
    rows[section.table] = copied.rowCount;
  }
}

/**
 * Release 0.1.0 knows no partitions, and names those of a database that a later release has migrated like tables. Their rows go into
 * whatever partitions the table has here.
 */
function tableFor({ table }: TableSection, known: ReadonlySet<string>): string | undefined {
  if (known.has(table)) return table;
  const whole = tableOfPartition(table)?.name;
  return whole !== undefined && known.has(whole) ? whole : undefined;
}

const unknownTable = (table: string) =>
  new RestoreRefused(
    `The backup has a table ${table}, which is not one of Binnacle's. Nothing was restored. Create the table in the empty database before ` +
      "the restore, or take another backup of a database that does not have it.",
  );

function requireWhole(trailer: BackupTrailer, rows: Readonly<Record<string, number>>, digest: string): void {
  const isWhole = trailer.sha256 === digest && JSON.stringify(trailer.rows) === JSON.stringify(rows);
  if (!isWhole) throw new BrokenBackup("The backup is damaged: its checksum is wrong. Nothing was restored.");
}

/**
 * Tables refer to each other in circles, so references are checked at the end, for all rows. Triggers are off, because what they keep is
 * in the backup. An owner of the tables may do both; switching all checks off would take a superuser.
 */
async function withoutConstraints<T>(client: Client, load: () => Promise<T>): Promise<T> {
  const { rows: references } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  const tables = (await tablesOf(client)).map(({ table }) => quotedName(table));
  for (const { table, name } of references)
    await client.query(`alter table ${table} drop constraint ${quotedName(name)}`);
  for (const table of tables) await client.query(`alter table ${table} disable trigger user`);
  const loaded = await load();
  for (const table of tables) await client.query(`alter table ${table} enable trigger user`);
  for (const { table, name, definition } of references)
    await client.query(`alter table ${table} add constraint ${quotedName(name)} ${definition}`);
  return loaded;
}

async function setSequences(client: Client, { sequences }: BackupHeader): Promise<void> {
  for (const [name, next] of Object.entries(sequences))
    await client.query("select setval($1::regclass, $2::bigint, false)", [quotedName(name), next]);
  const { rows } = await client.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attidentity <> '' and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
  );
  for (const { table, column } of rows)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${quotedName(column)}), 0) + 1, false) from ${quotedName(table)}`,
      [quotedName(table), column],
    );
}

/** Without the right key the installation would run, and fail at the first use of a secret. One value of each key is opened. */
async function requireKeys(client: Client, vault: Vault): Promise<void> {
  const tables = new Map((await tablesOf(client)).map(({ table, columns }) => [table, columns]));
  const present = SEALED_COLUMNS.filter(({ table, column }) => tables.get(table)?.includes(column));
  for (const { table, column, row } of present) {
    const { rows } = await client.query<{ row: string; sealed: string }>(
      `select distinct on (split_part(${column}, '.', 2)) ${row} as row, ${column} as sealed
       from ${table} where ${column} is not null`,
    );
    for (const { row: key, sealed } of rows) {
      try {
        vault.open(sealed, { table, row: key, column });
      } catch {
        throw new RestoreRefused(
          `BINNACLE_VAULT_KEYS does not have the key with which ${table} is sealed in this backup. Give the keys of the ` +
            "installation that was backed up.",
        );
      }
    }
  }
}
