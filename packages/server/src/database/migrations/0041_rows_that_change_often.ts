import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/**
 * Heartbeats, leases and rates change often and are in no index. With room on its page a new version of a row stays there, and no
 * index has to be written (a HOT update). Pages that are full already get that room as their rows change.
 */
const CHANGED_OFTEN = ["clusters", "cluster_sessions", "jobs", "rate_usage", "login_tallies"];
const FILLED_PERCENT = 50;

export const rowsThatChangeOften: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: Object.fromEntries([...CHANGED_OFTEN, "row_counts"].map((table) => [table, "SHARE UPDATE EXCLUSIVE"])),
  steps: [
    ...CHANGED_OFTEN.map((table) => sql`alter table ${sql.table(table)} set (fillfactor = ${sql.lit(FILLED_PERCENT)})`),
    // A share of this table would be many deltas, and each total reads all of its own.
    sql`alter table row_counts set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
  ],
};
