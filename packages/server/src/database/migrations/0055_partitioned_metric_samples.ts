import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/**
 * Samples have partitions by the hour. What is there becomes the default partition as it is. They no longer refer to their cluster: a
 * partition with a reference could not be made without a lock of all clusters, and samples are gone after a day anyway.
 */
export const partitionedMetricSamples: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { metric_samples: "ACCESS EXCLUSIVE", clusters: "ACCESS EXCLUSIVE" },
  steps: [
    sql`alter table metric_samples rename to metric_samples_default`,
    sql`alter table metric_samples_default drop constraint metric_samples_cluster_id_fkey`,
    sql`alter index metric_samples_pkey rename to metric_samples_default_pkey`,
    sql`alter index metric_samples_by_age rename to metric_samples_default_by_age`,
    sql`create table metric_samples (
      cluster_id uuid not null,
      at timestamptz not null,
      sample jsonb not null,
      primary key (cluster_id, at)
    ) partition by range (at)`,
    sql`create index metric_samples_by_age on metric_samples (at)`,
    sql`alter table metric_samples attach partition metric_samples_default default`,
    /*
     * Release 0.1.0 deletes old samples by their place, and in each partition another sample has the same place. Those that are not old
     * stay. An hour is left for clocks that differ. A worker that moves samples into the partition of their hour says so.
     */
    sql`create function keep_recent_sample() returns trigger language plpgsql as $$ begin return null; end $$`,
    sql`create trigger keep_recent before delete on metric_samples for each row
      when (old.at > now() - interval '23 hours' and current_setting('binnacle.moving', true) is distinct from 'on')
      execute function keep_recent_sample()`,
  ],
};
