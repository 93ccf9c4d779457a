import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // Rows from before have been in their phase since some time before their last change.
  sql`alter table apps add column phase_since timestamptz not null default now()`,
  sql`update apps set phase_since = updated_at`,
  sql`alter table addon_instances
    add column phase_since timestamptz not null default now(),
    add column component_statuses jsonb not null default '[]',
    add column drift_state text not null default 'unknown'
      check (drift_state in ('unknown', 'in_sync', 'drifted', 'blocked_sync')),
    add column drift_summary text,
    add column drift_fields jsonb not null default '[]',
    add column drift_detected_at timestamptz`,
  sql`update addon_instances set phase_since = updated_at`,
];

export const componentStatus: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
