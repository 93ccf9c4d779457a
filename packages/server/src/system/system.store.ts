import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";

interface Counts {
  readonly organizations: number;
  readonly users: number;
  readonly clusters: number;
  readonly apps: number;
  readonly sessions: number;
  readonly undelivered: number;
}

export async function countEverything(db: Queries, now: Date): Promise<Counts> {
  const { rows } = await sql<Counts>`
    select (select count(*) from orgs) as organizations,
      (select count(*) from users) as users,
      (select count(*) from clusters) as clusters,
      (select count(*) from apps) as apps,
      (select count(*) from cluster_sessions where lease_until > ${now}) as sessions,
      (select count(*) from desired_resources where acked_generation is distinct from generation) as undelivered
  `.execute(db);
  return rows[0] as Counts;
}

interface JobCounts {
  readonly pending: number;
  readonly running: number;
  readonly failed: number;
  readonly oldest_pending_seconds: number | null;
}

/** The queue goes by the clock of the database, which all workers share. */
export async function countJobs(db: Queries): Promise<JobCounts> {
  const { rows } = await sql<JobCounts>`
    select count(*) filter (where status = 'pending') as pending,
      count(*) filter (where status = 'running') as running,
      count(*) filter (where status = 'failed') as failed,
      floor(extract(epoch from now() - min(run_at) filter (where status = 'pending' and run_at <= now())))::int
        as oldest_pending_seconds
    from jobs
  `.execute(db);
  return rows[0] as JobCounts;
}

interface DatabaseFacts {
  readonly version: string;
  readonly size_bytes: number;
  readonly connections: number;
  readonly max_connections: number;
  readonly migration: string | null;
}

export async function readDatabaseFacts(db: Queries): Promise<DatabaseFacts> {
  const { rows } = await sql<DatabaseFacts>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as size_bytes,
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
      current_setting('max_connections')::int as max_connections,
      (select max(name) from kysely_migration) as migration
  `.execute(db);
  return rows[0] as DatabaseFacts;
}
