import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/**
 * What the machines of a cluster were made with: the token of its agents, its release of Kubernetes, and the bucket with the snapshots
 * of its data. Null for clusters that an earlier release has made.
 */
export const recoverableClusters: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { clusters: "ACCESS EXCLUSIVE", provisioning_jobs: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table clusters
      add column sealed_agent_token text,
      add column kubernetes_release jsonb,
      add column snapshot_bucket text`,
    // It only allows more than before, so no row has to be read for it while the table is locked.
    sql`alter table provisioning_jobs
      drop constraint provisioning_jobs_error_code_check,
      add constraint provisioning_jobs_error_code_check check (error_code in ('bad_credentials', 'permission_denied',
        'quota_exceeded', 'not_offered', 'no_capacity', 'unreachable', 'timed_out', 'cancelled', 'leftovers', 'unsupported',
        'init_failed', 'bootstrap_failed', 'control_plane_protected', 'local_volumes', 'no_snapshot', 'failed')) not valid`,
  ],
};
