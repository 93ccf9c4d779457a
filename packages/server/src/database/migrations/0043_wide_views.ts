import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/**
 * For those who see many projects. Apps that run as they should are nearly all of them, so the others have an index of their own: it
 * counts phases and finds what is in trouble. Texts are found by their trigrams, where the database has the extension for them: it comes
 * with PostgreSQL, but a role may not be allowed to create it.
 */
export const wideViews: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: {},
  steps: [
    sql`do $$ begin
      create extension if not exists pg_trgm;
    exception when insufficient_privilege or undefined_file or feature_not_supported then
      raise warning 'pg_trgm cannot be created, so searches read every app: %', sqlerrm;
    end $$`,
  ],
  indexes: [
    {
      name: "apps_unsettled",
      definition: sql`apps (phase, org_id, drift_state, cluster_id)
        where phase <> 'running' or drift_state in ('drifted', 'blocked_sync')`,
    },
    {
      name: "apps_by_search_text",
      definition: sql`apps using gin (search_text gin_trgm_ops)`,
      extension: "pg_trgm",
    },
    { name: "addon_instances_by_phase", definition: sql`addon_instances (org_id, phase)` },
    { name: "projects_by_lifecycle", definition: sql`projects (org_id, lifecycle)` },
  ],
};
