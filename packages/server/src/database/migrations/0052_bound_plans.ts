import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** A provisioning job can be bound to the plan that somebody has seen, and waits by itself while its cloud throttles it. */
export const boundPlans: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { provisioning_jobs: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table provisioning_jobs
      add column plan_digest text,
      add column plan_job_id uuid,
      add column plan_confirmed_at timestamptz,
      add column throttles integer not null default 0,
      add column throttled_since timestamptz,
      add column retry_at timestamptz,
      -- It only allows more than before, so no row has to be read for it while the table is locked.
      drop constraint provisioning_jobs_error_code_check,
      add constraint provisioning_jobs_error_code_check check (error_code in ('bad_credentials', 'permission_denied',
        'quota_exceeded', 'not_offered', 'no_capacity', 'throttled', 'unreachable', 'timed_out', 'cancelled', 'leftovers', 'unsupported',
        'init_failed', 'bootstrap_failed', 'control_plane_protected', 'local_volumes', 'plan_changed', 'no_snapshot', 'failed')) not valid`,
  ],
};
