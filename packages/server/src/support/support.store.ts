import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";

const MOST_FAILURES = 50;

interface Failure {
  readonly kind: string;
  readonly attempts: number;
  readonly finished_at: Date | null;
  readonly error_message: string | null;
}

/** The jobs that have failed last, without what they were about. */
export async function lastFailures(db: Queries): Promise<Failure[]> {
  const { rows } = await sql<Failure>`
    select kind, attempts, finished_at, error_message from jobs where status = 'failed'
    order by finished_at desc nulls last limit ${MOST_FAILURES}`.execute(db);
  return rows;
}

interface PhaseCount {
  readonly phase: string;
  readonly reason: string | null;
  readonly count: number;
}

/** How many apps are in which state. */
export async function appPhases(db: Queries): Promise<PhaseCount[]> {
  const { rows } = await sql<PhaseCount>`
    select phase, phase_reason as reason, count(*)::int as count from apps group by phase, phase_reason order by count desc limit 100`.execute(
    db,
  );
  return rows;
}

interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly dead_rows: number;
  readonly bytes: number;
  readonly last_autovacuum: Date | null;
}

/** The statistics that PostgreSQL keeps; nothing is counted for them. */
export async function tableSizes(db: Queries): Promise<TableSize[]> {
  const { rows } = await sql<TableSize>`
    select relname as table, n_live_tup::float as rows, n_dead_tup::float as dead_rows,
      pg_total_relation_size(relid)::float as bytes, last_autovacuum
    from pg_stat_user_tables order by bytes desc`.execute(db);
  return rows;
}

interface Activity {
  readonly application_name: string;
  readonly state: string | null;
  readonly wait_event_type: string | null;
  readonly count: number;
  readonly longest_seconds: number | null;
}

/** Connections by what they do. Statements are left out, because they may have values in them. */
export async function activity(db: Queries): Promise<Activity[]> {
  const { rows } = await sql<Activity>`
    select application_name, state, wait_event_type, count(*)::int as count,
      extract(epoch from max(now() - state_change))::float as longest_seconds
    from pg_stat_activity where datname = current_database()
    group by application_name, state, wait_event_type order by count desc`.execute(db);
  return rows;
}
