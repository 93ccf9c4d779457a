import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** Jobs replace the machine of a node, and are refused where data would be lost. A cluster has few of them. */
export const guardedMachines: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { provisioning_jobs: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table provisioning_jobs
      add column node text,
      add column replaced_machine text,
      add column force boolean not null default false,
      drop constraint provisioning_jobs_action_check,
      add constraint provisioning_jobs_action_check check (action in ('create', 'scale', 'replace', 'destroy')),
      drop constraint provisioning_jobs_error_code_check,
      add constraint provisioning_jobs_error_code_check check (error_code in ('bad_credentials', 'permission_denied',
        'quota_exceeded', 'not_offered', 'no_capacity', 'unreachable', 'timed_out', 'cancelled', 'leftovers',
        'unsupported', 'init_failed', 'bootstrap_failed', 'control_plane_protected', 'local_volumes', 'failed'))`,
  ],
};
