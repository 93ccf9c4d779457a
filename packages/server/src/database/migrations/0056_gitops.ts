import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/** Git hosts of organizations, the repositories of their clusters, and the keys that may write them. */
export const gitops: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: { orgs: "SHARE ROW EXCLUSIVE", clusters: "SHARE ROW EXCLUSIVE" },
  steps: [
    // The row stays when GitOps is switched off: the keys of an organization are the same when it is switched on again.
    sql`create table gitops_settings (
      org_id uuid primary key references orgs on delete cascade,
      is_on boolean not null,
      provider text not null check (provider in ('gitea', 'github', 'gitlab', 'gitolite')),
      base_url text not null,
      owner text not null,
      ssh_url text,
      branch text not null,
      author_email_domain text,
      host_keys jsonb not null,
      key_grace_hours integer not null,
      sealed_token text,
      signing_key text not null,
      sealed_signing_key text not null,
      sealed_fingerprint_key text not null,
      paused_until timestamptz,
      epoch integer not null default 0,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (not is_on or sealed_token is not null)
    )`,
    // They end with the cluster. A foreign key to the organization would lock its row in every change.
    sql`create table gitops_repositories (
      cluster_id uuid primary key references clusters on delete cascade,
      org_id uuid not null,
      name text not null,
      url text,
      head text,
      head_revision bigint,
      head_at timestamptz,
      pushing_head text,
      pushing_revision bigint,
      foreign_head text,
      error_code text,
      error_message text,
      error_at timestamptz,
      failures integer not null default 0,
      next_try_at timestamptz,
      push_key text,
      sealed_push_key text,
      observed_at timestamptz,
      look_at timestamptz not null default now(),
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`,
    sql`create index gitops_repositories_by_look on gitops_repositories (org_id, look_at)`,
    sql`create table gitops_keys (
      id uuid primary key,
      cluster_id uuid not null references clusters on delete cascade,
      org_id uuid not null,
      host_id text not null,
      public_key text not null,
      fingerprint text not null,
      sealed_private_key text,
      proven_at timestamptz,
      superseded_at timestamptz,
      remove_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`,
    sql`create index gitops_keys_by_cluster on gitops_keys (cluster_id, id desc)`,
    sql`create index gitops_keys_by_org on gitops_keys (org_id)`,
  ],
};
