import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  /*
   * An email address leads to an account only where somebody other than its user has set or confirmed it: a superuser
   * (`email_verified`), or an administrator of the organization in question (`email_vouched_by`). Who set the addresses
   * that are there already is not known, so only those of superusers are trusted.
   */
  sql`alter table users
    add column email_verified boolean not null default false,
    add column email_vouched_by uuid[] not null default '{}',
    add column disabled boolean not null default false`,
  sql`update users set email_verified = true where is_superuser`,

  sql`alter table sessions
    add column source_address text,
    add column user_agent text,
    add column last_used_at timestamptz,
    add column last_used_address text`,
  sql`update sessions set last_used_at = created_at`,
  sql`alter table sessions alter column last_used_at set not null`,

  sql`create index cli_tokens_by_expiry on cli_tokens (expires_at)`,

  sql`alter table device_logins
    add column kind text not null default 'token' check (kind in ('token', 'session')),
    add column source_address text`,
  sql`create index device_logins_by_source on device_logins (source_address, expires_at) where status = 'pending'`,

  // How often an account was refused in the current window; it decides which refusals come into the audit log.
  sql`create table refused_sign_ins (
    user_id uuid primary key references users on delete cascade,
    window_started_at timestamptz not null,
    refused integer not null
  )`,
];

export const accounts: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
