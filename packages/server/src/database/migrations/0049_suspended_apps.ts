import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** Apps that their operator is not to touch. The release before sends them without that, so it is ended before going back. */
export const suspendedApps: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { apps: "ACCESS EXCLUSIVE", clusters: "ACCESS EXCLUSIVE" },
  steps: [
    // What the operator said at its last connection; null until it has said something to a server that asks.
    sql`alter table clusters add column suspends boolean`,
    sql`alter table apps add column suspended_at timestamptz, add column suspended_by text, add column suspended_reason text,
      add column suspension_reported boolean`,
  ],
};
