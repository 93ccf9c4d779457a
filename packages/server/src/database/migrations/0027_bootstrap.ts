import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // A job whose machines boot has no queued job: it is ended by their reports, by the operator or by this time.
  sql`alter table provisioning_jobs
    add column waits_until timestamptz,
    drop constraint provisioning_jobs_error_code_check,
    add constraint provisioning_jobs_error_code_check check (error_code in ('bad_credentials', 'permission_denied',
      'quota_exceeded', 'not_offered', 'no_capacity', 'unreachable', 'timed_out', 'cancelled', 'leftovers',
      'unsupported', 'init_failed', 'bootstrap_failed', 'failed'))`,
  sql`create index provisioning_jobs_waiting on provisioning_jobs (waits_until)
    where waits_until is not null and status = 'running'`,

  sql`alter table node_tokens
    add column purpose text not null default 'bootstrap' check (purpose in ('bootstrap', 'report')),
    add column job_id uuid references provisioning_jobs on delete cascade,
    add column used_from text`,

  sql`create table node_boots (
    cluster_id uuid not null references clusters on delete cascade,
    node text not null,
    job_id uuid not null references provisioning_jobs on delete cascade,
    status text not null check (status in ('pending', 'running', 'completed', 'failed')),
    stage text,
    message text,
    lines integer not null default 0,
    log_bytes integer not null default 0,
    window_at timestamptz,
    window_reports integer not null default 0,
    updated_at timestamptz not null,
    primary key (cluster_id, node)
  )`,
];

export const bootstrap: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
