import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/**
 * Projects and clusters that their operator is not to touch, and clusters that are let go. The release before sends projects without that,
 * so suspensions are ended before going back.
 */
export const suspendedPlaces: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { clusters: "ACCESS EXCLUSIVE", projects: "ACCESS EXCLUSIVE" },
  steps: [
    // Without `suspension_reported`: a suspended cluster is confirmed by its projects.
    sql`alter table clusters add column suspended_at timestamptz, add column suspended_by text, add column suspended_reason text,
      add column suspension_ended_at timestamptz, add column detach_requested_at timestamptz, add column detaches boolean,
      add column detach_message text, add column detach_asked_at timestamptz`,
    sql`alter table projects add column suspended_at timestamptz, add column suspended_by text, add column suspended_reason text,
      add column suspension_reported boolean, add column suspension_ended_at timestamptz`,
    sql`alter table projects drop constraint projects_lifecycle_reason_check`,
    // Not valid: PostgreSQL would read the whole table under its lock, and the old rows are right anyway.
    sql`alter table projects add constraint projects_lifecycle_reason_check check (lifecycle_reason in
      ('operator_unreachable', 'apply_failed', 'namespace_conflict', 'cleanup_degraded', 'cluster_abandoned', 'cluster_detached')) not valid`,
  ],
};
