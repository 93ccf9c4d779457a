import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  sql`alter table provisioning_jobs
    add column error_code text check (error_code in ('bad_credentials', 'permission_denied', 'quota_exceeded',
      'not_offered', 'no_capacity', 'unreachable', 'timed_out', 'cancelled', 'leftovers', 'unsupported', 'failed')),
    add column dry_run boolean not null default false,
    add column plan jsonb,
    add column cancel_requested_at timestamptz`,

  // The states of a cluster outlive its jobs, and go with its record.
  sql`create table infrastructure_states (
    id uuid primary key,
    cluster_id uuid not null references clusters on delete cascade,
    serial bigint not null,
    lineage text not null,
    sealed_state text not null,
    job_id uuid not null,
    created_at timestamptz not null
  )`,
  sql`create index infrastructure_states_by_cluster on infrastructure_states (cluster_id, id desc)`,

  sql`create table node_tokens (
    token_hash text primary key,
    cluster_id uuid not null references clusters on delete cascade,
    node text not null,
    expires_at timestamptz not null,
    used_at timestamptz
  )`,
  sql`create index node_tokens_by_cluster on node_tokens (cluster_id)`,

  // With the join token a machine becomes a node of the cluster; the public key belongs to the sealed one.
  sql`alter table clusters add column sealed_join_token text, add column ssh_public_key text`,
];

export const provisioner: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
