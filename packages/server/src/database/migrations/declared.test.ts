import { readFileSync } from "node:fs";
import { restoredDatabase } from "@binnacle/world/database";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { productVersion } from "../../product-version.adapter.ts";
import { isAtLeast } from "../../upgrade/release.ts";
import { MIGRATIONS, migrate } from "../migrate.ts";
import { isDeclared } from "../migration.ts";
import type { Queries } from "../transaction.ts";

/** It has none of these migrations. */
const OLDEST = new URL("./releases/contract-1.sql", import.meta.url);
/** The last migration that release 0.1.0 may have without declaring it. */
const LAST_UNDECLARED = "0040";

const NAMES = Object.keys(MIGRATIONS).sort();
const DECLARED = NAMES.flatMap((name) => {
  const migration = MIGRATIONS[name];
  return isDeclared(migration) ? [{ name, migration }] : [];
});

test("[UG6] every migration after release 0.1.0 declares itself", () => {
  const silent = NAMES.filter((name) => !isDeclared(MIGRATIONS[name]) && name.slice(0, 4) > LAST_UNDECLARED);
  expect(silent).toEqual([]);
});

test("[UG6] the release before works after every migration", async () => {
  // While a release is made, the version is still that of the one before.
  const release = await productVersion();
  const late = DECLARED.filter(({ migration }) => !isAtLeast(release, migration.oldestRelease));
  expect(late.map(({ name }) => name)).toEqual([]);
});

const ORDER = [
  "ROW EXCLUSIVE",
  "SHARE UPDATE EXCLUSIVE",
  "SHARE",
  "SHARE ROW EXCLUSIVE",
  "EXCLUSIVE",
  "ACCESS EXCLUSIVE",
];

/** The strongest lock that the transaction holds on each of the tables, without those of reads. */
async function locksOn(tables: ReadonlyMap<number, string>, tx: Queries): Promise<Record<string, string>> {
  const { rows } = await sql<{ table: number; mode: string }>`
    select relation::int as table, upper(regexp_replace(replace(mode, 'Lock', ''), '(?<=[a-z])([A-Z])', ' \\1', 'g')) as mode
    from pg_locks where pid = pg_backend_pid() and locktype = 'relation' and granted`.execute(tx);
  const held = rows
    .filter(({ table, mode }) => tables.has(table) && ORDER.includes(mode))
    .sort((one, other) => ORDER.indexOf(one.mode) - ORDER.indexOf(other.mode))
    .map(({ table, mode }) => [tables.get(table), mode]);
  return Object.fromEntries(held);
}

test.each(DECLARED)("[UG6] PostgreSQL takes exactly the locks that $name declares", async ({ name, migration }) => {
  const old = await restoredDatabase(readFileSync(OLDEST, "utf8"));
  onTestFinished(() => old.drop());
  const { kysely } = old.database;
  const before = Object.fromEntries(Object.entries(MIGRATIONS).filter(([other]) => other < name));
  await migrate(kysely, { migrations: before });
  const { rows } = await sql<{ oid: number; name: string }>`
    select oid::int, relname as name from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`.execute(kysely);
  const tables = new Map(rows.map(({ oid, name }) => [oid, name]));
  const taken = await kysely.transaction().execute(async (tx) => {
    for (const step of migration.steps) await step.execute(tx);
    return locksOn(tables, tx);
  });
  expect(taken).toEqual(migration.locks);
});
