import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** From here on each migration leaves a record for servers of releases that do not know it. */
export const migrationRecords: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { kysely_migration: "ACCESS EXCLUSIVE", kysely_migration_lock: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table kysely_migration add column oldest_release text, add column applied_by text`,
    // Migrations are locked by an advisory lock.
    sql`drop table if exists kysely_migration_lock`,
  ],
};
