import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // A column that is null, like a row that is not there, stands for what the product does by default.
  sql`create table cluster_settings (
    cluster_id uuid primary key references clusters on delete cascade,
    pod_security text check (pod_security in ('privileged', 'baseline', 'restricted')),
    ingress_namespaces text[],
    cluster_wide_charts jsonb,
    updated_at timestamptz not null
  )`,

  sql`alter table projects
    -- Null follows the cluster.
    add column pod_security text check (pod_security in ('privileged', 'baseline', 'restricted')),
    -- An administrator of the organization has allowed a level weaker than the cluster's.
    add column weaker_pod_security_allowed boolean not null default false,
    add column isolation text not null default 'namespace' check (isolation in ('namespace', 'none')),
    add column quota jsonb`,

  // Projects that are there already are told again, with their policy.
  sql`update clusters set revision = revision + 1
    where id in (select cluster_id from desired_resources where kind = 'project' and removed_at is null)`,
  sql`update desired_resources set generation = desired_resources.generation + 1, revision = clusters.revision
    from clusters
    where clusters.id = desired_resources.cluster_id and kind = 'project' and removed_at is null`,
];

export const projectPolicy: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
