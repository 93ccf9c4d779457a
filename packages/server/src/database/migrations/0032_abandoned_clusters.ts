import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  sql`alter table clusters add column abandoned_at timestamptz`,
  sql`create index clusters_abandoned on clusters (id) where abandoned_at is not null`,
  // The name of an abandoned cluster is free for another one.
  sql`alter table clusters drop constraint clusters_name_taken`,
  sql`create unique index clusters_name_taken on clusters (org_id, name) where abandoned_at is null`,
  sql`alter table projects drop constraint projects_lifecycle_check, drop constraint projects_lifecycle_reason_check,
    add constraint projects_lifecycle_check
      check (lifecycle in ('pending', 'ready', 'degraded', 'cleanup_pending', 'cleanup_degraded')),
    add constraint projects_lifecycle_reason_check check (lifecycle_reason in
      ('operator_unreachable', 'apply_failed', 'namespace_conflict', 'cleanup_degraded', 'cluster_abandoned'))`,
];

export const abandonedClusters: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
