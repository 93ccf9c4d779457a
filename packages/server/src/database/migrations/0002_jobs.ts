import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // `max_attempts` may stay open until the first claim: then the handler of the kind says how many a job gets.
  sql`create table jobs (
    id uuid primary key,
    kind text not null,
    lane text,
    payload jsonb not null,
    status text not null check (status in ('pending', 'running', 'succeeded', 'failed')),
    attempts integer not null default 0 check (attempts >= 0),
    max_attempts integer check (max_attempts > 0),
    run_at timestamptz not null,
    fence bigint not null default 0,
    worker_id text,
    lease_until timestamptz,
    result jsonb,
    error_message text,
    created_by uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz,
    constraint jobs_leased_while_running check ((status = 'running') = (lease_until is not null)),
    constraint jobs_finished_at_the_end check ((status in ('succeeded', 'failed')) = (finished_at is not null)),
    constraint jobs_limited_once_claimed check (status <> 'running' or max_attempts is not null)
  )`,
  sql`create index jobs_due on jobs (run_at, id) where status = 'pending'`,
  sql`create index jobs_lane_order on jobs (lane, run_at, id) where status = 'pending' and lane is not null`,
  sql`create index jobs_leased on jobs (lease_until) where status = 'running'`,
  sql`create index jobs_by_end on jobs (finished_at) where finished_at is not null`,
  // The rule that jobs of one lane never run side by side holds even when two workers claim at the same instant.
  sql`create unique index jobs_one_running_per_lane on jobs (lane) where status = 'running' and lane is not null`,
];

export const jobs: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
