import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

export const operatorUpgrades: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { clusters: "ACCESS EXCLUSIVE", orgs: "SHARE ROW EXCLUSIVE", users: "SHARE ROW EXCLUSIVE" },
  steps: [
    // What the operator said at its last connection.
    sql`alter table clusters add column self_upgrade boolean not null default false`,
    sql`create table operator_upgrades (
      id uuid primary key,
      org_id uuid not null references orgs on delete cascade,
      to_version text not null,
      digest text,
      batch_size integer not null,
      stop_on_failure boolean not null,
      status text not null check (status in ('running', 'succeeded', 'failed', 'cancelled')),
      cancel_requested_at timestamptz,
      created_by uuid references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      finished_at timestamptz
    )`,
    sql`create index operator_upgrades_by_org on operator_upgrades (org_id, id desc)`,
    sql`create index operator_upgrades_finished on operator_upgrades (finished_at) where finished_at is not null`,
    sql`create table operator_upgrade_clusters (
      upgrade_id uuid not null references operator_upgrades on delete cascade,
      cluster_id uuid not null references clusters on delete cascade,
      phase text not null check (phase in
        ('pending', 'running', 'succeeded', 'returned', 'failed', 'skipped', 'cancelled')),
      from_version text,
      reason text,
      started_at timestamptz,
      finished_at timestamptz,
      primary key (upgrade_id, cluster_id)
    )`,
    sql`create index operator_upgrade_clusters_newest on operator_upgrade_clusters (cluster_id, upgrade_id desc)`,
    // A cluster is in one upgrade at a time.
    sql`create unique index operator_upgrade_clusters_active on operator_upgrade_clusters (cluster_id)
      where phase in ('pending', 'running')`,
  ],
};
