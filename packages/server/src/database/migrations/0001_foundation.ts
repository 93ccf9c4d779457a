import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { counted } from "./counted.ts";

const STATEMENTS = [
  /*
   * Exact totals of large lists without counting rows at each read: every insert and delete leaves a delta here, a
   * worker folds them together. Only inserts on the way in, so writers never wait for each other.
   */
  sql`create table row_counts (
    relation text not null,
    scope uuid not null default '00000000-0000-0000-0000-000000000000',
    delta bigint not null
  )`,
  sql`create index row_counts_by_scope on row_counts (relation, scope) include (delta)`,
  sql`create function count_rows() returns trigger language plpgsql as $$
    declare
      sign int := case tg_op when 'INSERT' then 1 else -1 end;
      scope text := case when tg_nargs = 0 then quote_literal('00000000-0000-0000-0000-000000000000') else quote_ident(tg_argv[0]) end;
    begin
      execute format(
        'insert into row_counts (relation, scope, delta) select %L, coalesce(%s::uuid, ''00000000-0000-0000-0000-000000000000''), %s * count(*) from changed group by 2',
        tg_table_name, scope, sign);
      return null;
    end $$`,

  sql`create table tiers (
    name text primary key,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  sql`create table rate_limits (
    id uuid primary key,
    tier_name text not null references tiers,
    path text not null,
    limit_count integer not null check (limit_count >= 0),
    period_seconds integer not null check (period_seconds > 0),
    name text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint rate_limits_path_taken unique (tier_name, path)
  )`,

  sql`create table users (
    id uuid primary key,
    name text not null,
    username text not null,
    email text not null check (email = lower(email)),
    password_hash text not null,
    profile_image_url text,
    is_superuser boolean not null default false,
    tier_name text not null references tiers,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint users_username_taken unique (username),
    constraint users_email_taken unique (email)
  )`,
  sql`create table rate_usage (
    user_id uuid not null references users on delete cascade,
    tier_name text not null references tiers,
    path text not null,
    window_started_at timestamptz not null,
    spent integer not null,
    primary key (user_id, tier_name, path)
  )`,
  sql`create table sessions (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz
  )`,
  sql`create index sessions_by_user on sessions (user_id)`,
  sql`create index sessions_by_expiry on sessions (expires_at)`,
  sql`create table cli_tokens (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    name text not null,
    token_digest bytea not null unique,
    scopes text[] not null,
    expires_at timestamptz not null,
    last_used_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  sql`create index cli_tokens_by_user on cli_tokens (user_id, id desc)`,
  sql`create table device_logins (
    id uuid primary key,
    device_code_digest bytea not null unique,
    user_code text not null unique,
    client_name text not null,
    scopes text[] not null,
    status text not null check (status in ('pending', 'approved', 'denied', 'claimed')),
    user_id uuid references users on delete cascade,
    interval_seconds integer not null,
    last_asked_at timestamptz,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  sql`create index device_logins_by_expiry on device_logins (expires_at)`,
  sql`create table login_tallies (
    key text primary key,
    tally jsonb not null,
    updated_at timestamptz not null
  )`,
  sql`create index login_tallies_by_age on login_tallies (updated_at)`,

  sql`create table orgs (
    id uuid primary key,
    name text not null,
    slug text not null,
    description text,
    settings jsonb not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint orgs_name_taken unique (name),
    constraint orgs_slug_taken unique (slug)
  )`,
  sql`create table memberships (
    org_id uuid not null references orgs on delete cascade,
    user_id uuid not null references users on delete cascade,
    role text not null check (role in ('member', 'admin')),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint memberships_member_already primary key (org_id, user_id)
  )`,
  sql`create index memberships_by_user on memberships (user_id)`,
  sql`create index memberships_by_age on memberships (org_id, created_at desc, user_id desc)`,

  // No references: what happened stays on record when the things it happened to are gone.
  sql`create table audit_log (
    id uuid primary key,
    at timestamptz not null,
    org_id uuid,
    actor_id uuid,
    actor_email text,
    via text not null check (via in ('user', 'cli_token', 'system')),
    source_address text,
    action text not null,
    resource_type text not null,
    resource_id text,
    resource_name text,
    changes jsonb not null,
    request_id text
  )`,
  sql`create index audit_log_by_org on audit_log (org_id, id desc)`,

  sql`create table idempotency_keys (
    user_id uuid not null references users on delete cascade,
    key text not null,
    sealed_answer text,
    created_at timestamptz not null,
    primary key (user_id, key)
  )`,
  sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`,

  ...counted("users"),
  ...counted("orgs"),
  ...counted("memberships", "org_id"),
  ...counted("audit_log", "org_id"),
];

export const foundation: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
