import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** A job can bring the machines of a cluster to another release of k3s. */
export const kubernetesUpgrades: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { provisioning_jobs: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table provisioning_jobs
      add column kubernetes_release jsonb,
      add column snapshot_wait_since timestamptz,
      -- It only allows more than before, so no row has to be read for it while the table is locked.
      drop constraint provisioning_jobs_action_check,
      add constraint provisioning_jobs_action_check check (action in ('create', 'scale', 'replace', 'upgrade', 'destroy')) not valid`,
  ],
};
