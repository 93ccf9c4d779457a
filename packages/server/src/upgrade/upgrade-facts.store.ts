import { sql } from "kysely";
import { SERVER_NAMES } from "../database/connection.adapter.ts";
import { appliedMigrations } from "../database/migrate.ts";
import type { AppliedMigration } from "../database/migration.ts";
import type { Queries } from "../database/transaction.ts";

/** The operators of one release, those that are connected apart from those that are not. */
export interface OperatorCount {
  readonly release: string | null;
  readonly connected: boolean;
  readonly clusters: number;
}

/** The state of an installation, as far as an upgrade depends on it. */
export interface UpgradeFacts {
  readonly applied: readonly AppliedMigration[];
  /** The releases of the servers that are connected to the database; null for one that does not name its release. */
  readonly servers: readonly (string | null)[];
  readonly operators: readonly OperatorCount[];
}

/** Everything is read at one moment, in a transaction in which PostgreSQL refuses every change. */
export function readUpgradeFacts(database: Queries): Promise<UpgradeFacts> {
  const reading = database.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  return reading.execute(async (tx) => {
    const applied = await appliedMigrations(tx);
    const isEmpty = applied.length === 0;
    return { applied, servers: await readServers(tx), operators: isEmpty ? [] : await readOperators(tx) };
  });
}

async function readServers(db: Queries): Promise<(string | null)[]> {
  const { rows } = await sql<{ release: string | null }>`
    select distinct substring(application_name from '[0-9].*$') as release from pg_stat_activity
    where datname = current_database() and application_name ~ ${SERVER_NAMES} and application_name !~ ' bus$'
    order by release
  `.execute(db);
  return rows.map(({ release }) => release);
}

/** A database of an earlier version may not have the column of abandoned clusters, so it is read by its name. */
async function readOperators(db: Queries): Promise<OperatorCount[]> {
  const { rows } = await sql<OperatorCount>`
    select operator_version as release, session.cluster_id is not null as connected, count(*) as clusters
    from clusters left join cluster_sessions session on session.cluster_id = clusters.id and session.lease_until > now()
    where to_jsonb(clusters) ->> 'abandoned_at' is null and first_connected_at is not null
    group by 1, 2 order by 2 desc, 1
  `.execute(db);
  return rows;
}
