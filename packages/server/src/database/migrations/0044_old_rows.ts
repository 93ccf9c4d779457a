import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** Finds entries of the audit log by what was done, in a log of millions, and lines of the logs of jobs that are old. */
export const oldRows: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: {},
  steps: [],
  indexes: [
    { name: "audit_log_by_action", definition: sql`audit_log (org_id, action text_pattern_ops, at)` },
    { name: "audit_log_by_type", definition: sql`audit_log (org_id, resource_type, at)` },
    { name: "provisioning_log_lines_by_time", definition: sql`provisioning_log_lines (at)` },
  ],
};
