import { sql } from "kysely";
import type { DeclaredMigration } from "../migration.ts";

/**
 * The last events, so that a stream that is opened again gets what it has missed. Rows are written within the transaction of
 * what they tell, and get their position afterwards, in the order in which they became visible. `recorded` is the order of
 * writing: of two changes of which one was made after the other was committed, it says which was first.
 */
export const eventLog: DeclaredMigration = {
  oldestRelease: "0.1.0",
  locks: {},
  steps: [
    sql`create table event_log (
      recorded bigint generated always as identity primary key,
      position bigint,
      topic text not null,
      org_id uuid,
      bytes integer not null,
      message text not null,
      created_at timestamptz not null default clock_timestamp()
    )`,
    sql`create index event_log_without_position on event_log (recorded) where position is null`,
    sql`create unique index event_log_position on event_log (position)`,
    sql`create index event_log_org on event_log (org_id, position)`,
    // The log that positions belong to: a restored database has another one, in which an older position means nothing.
    sql`create table event_log_head (
      log_id text not null default substr(md5(random()::text || clock_timestamp()::text), 1, 8),
      position bigint not null
    )`,
    sql`insert into event_log_head (position) values (0)`,
    // Up to which position rows of an organization were deleted. Rows without an organization are kept under the id of zeros.
    sql`create table event_log_pruned (org_id uuid primary key, position bigint not null)`,
  ],
};
