import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** The organization of a job, so that workers serve organizations in turn. Jobs of the release before share a made-up one. */
export const jobsOfTenants: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { jobs: "ACCESS EXCLUSIVE" },
  steps: [sql`alter table jobs add column tenant_id uuid not null default '00000000-0000-0000-0000-000000000000'`],
  indexes: [{ name: "jobs_due_by_tenant", definition: sql`jobs (tenant_id, run_at, id) where status = 'pending'` }],
};
