import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { pauseMsAfter } from "../outage.ts";
import { productVersion } from "../product-version.adapter.ts";
import { type AppliedMigration, isDeclared, type Migrations, pendingMigrations } from "./migration.ts";
import { foundation } from "./migrations/0001_foundation.ts";
import { jobs } from "./migrations/0002_jobs.ts";
import { fleet } from "./migrations/0003_fleet.ts";
import { accounts } from "./migrations/0004_accounts.ts";
import { templateScope } from "./migrations/0005_template_scope.ts";
import { ingressHosts } from "./migrations/0006_ingress_hosts.ts";
import { chartRepositories } from "./migrations/0007_chart_repositories.ts";
import { projectPolicy } from "./migrations/0009_project_policy.ts";
import { traces } from "./migrations/0010_traces.ts";
import { componentStatus } from "./migrations/0011_component_status.ts";
import { freshness } from "./migrations/0013_freshness.ts";
import { boundTokens } from "./migrations/0015_bound_tokens.ts";
import { appNames } from "./migrations/0016_app_names.ts";
import { exec } from "./migrations/0017_exec.ts";
import { consoleReads } from "./migrations/0018_console_reads.ts";
import { provisioner } from "./migrations/0019_provisioner.ts";
import { staticCounts } from "./migrations/0020_static_counts.ts";
import { listedComponents } from "./migrations/0021_listed_components.ts";
import { chartHosts } from "./migrations/0022_chart_hosts.ts";
import { noQuota } from "./migrations/0026_no_quota.ts";
import { bootstrap } from "./migrations/0027_bootstrap.ts";
import { changeSummaries } from "./migrations/0029_change_summaries.ts";
import { driftRepairs } from "./migrations/0030_drift_repairs.ts";
import { abandonedClusters } from "./migrations/0032_abandoned_clusters.ts";
import { credentialSettings } from "./migrations/0035_credential_settings.ts";
import { hubAddresses } from "./migrations/0037_hub_addresses.ts";
import { migrationRecords } from "./migrations/0038_migration_records.ts";
import { operatorUpgrades } from "./migrations/0039_operator_upgrades.ts";
import { eventLog } from "./migrations/0040_event_log.ts";
import { rowsThatChangeOften } from "./migrations/0041_rows_that_change_often.ts";
import { guardedMachines } from "./migrations/0042_guarded_machines.ts";
import { wideViews } from "./migrations/0043_wide_views.ts";
import { oldRows } from "./migrations/0044_old_rows.ts";
import { jobsOfTenants } from "./migrations/0045_jobs_of_tenants.ts";
import { recoverableClusters } from "./migrations/0048_recoverable_clusters.ts";
import { suspendedApps } from "./migrations/0049_suspended_apps.ts";
import { suspendedPlaces } from "./migrations/0050_suspended_places.ts";
import { boundPlans } from "./migrations/0052_bound_plans.ts";
import { kubernetesUpgrades } from "./migrations/0053_kubernetes_upgrades.ts";
import { partitionedAuditLog } from "./migrations/0054_partitioned_audit_log.ts";
import { partitionedMetricSamples } from "./migrations/0055_partitioned_metric_samples.ts";
import { gitops } from "./migrations/0056_gitops.ts";
import { gitopsChanges } from "./migrations/0057_gitops_changes.ts";
import { machineEgress } from "./migrations/0058_machine_egress.ts";
import { buildIndexes } from "./online-index.store.ts";
import { isRetryable, isUnreachable, type Queries, type Tx } from "./transaction.ts";

/** They are applied in the order of their names. A released migration is never edited. */
export const MIGRATIONS: Migrations = {
  "0001_foundation": foundation,
  "0002_jobs": jobs,
  "0003_fleet": fleet,
  "0004_accounts": accounts,
  "0005_template_scope": templateScope,
  "0006_ingress_hosts": ingressHosts,
  "0007_chart_repositories": chartRepositories,
  "0009_project_policy": projectPolicy,
  "0010_traces": traces,
  "0011_component_status": componentStatus,
  "0013_freshness": freshness,
  "0015_bound_tokens": boundTokens,
  "0016_app_names": appNames,
  "0017_exec": exec,
  "0018_console_reads": consoleReads,
  "0019_provisioner": provisioner,
  "0020_static_counts": staticCounts,
  "0030_drift_repairs": driftRepairs,
  "0022_chart_hosts": chartHosts,
  "0026_no_quota": noQuota,
  "0032_abandoned_clusters": abandonedClusters,
  "0027_bootstrap": bootstrap,
  "0021_listed_components": listedComponents,
  "0029_change_summaries": changeSummaries,
  "0035_credential_settings": credentialSettings,
  "0037_hub_addresses": hubAddresses,
  "0038_migration_records": migrationRecords,
  "0039_operator_upgrades": operatorUpgrades,
  "0040_event_log": eventLog,
  "0041_rows_that_change_often": rowsThatChangeOften,
  "0042_guarded_machines": guardedMachines,
  "0043_wide_views": wideViews,
  "0044_old_rows": oldRows,
  "0045_jobs_of_tenants": jobsOfTenants,
  "0048_recoverable_clusters": recoverableClusters,
  "0049_suspended_apps": suspendedApps,
  "0050_suspended_places": suspendedPlaces,
  "0052_bound_plans": boundPlans,
  "0053_kubernetes_upgrades": kubernetesUpgrades,
  "0054_partitioned_audit_log": partitionedAuditLog,
  "0055_partitioned_metric_samples": partitionedMetricSamples,
  "0056_gitops": gitops,
  "0057_gitops_changes": gitopsChanges,
  "0058_machine_egress": machineEgress,
};

/** The cause is the error of the database. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";

  constructor(migration: string, cause: unknown) {
    super(
      `The migration ${migration} of the database failed, and the database is as it was before. Remove the cause and start ` +
        "again, or start the version that ran before.",
      { cause },
    );
  }
}

/** Any number will do that nothing else in the database uses; servers of all releases share it. */
const ADVISORY_LOCK = "3853314791062309107";

/**
 * Whoever needs a table waits behind a migration that waits for it, so it gives up soon, and comes again when the traffic had its
 * turn. This is for all of its tables together. Nobody is to wait longer than a second, and the steps take the rest of it.
 */
const LOCK_TIMEOUT_MS = 500;

interface Migrating {
  readonly migrations?: Migrations;
  /** That of this server, unless given. */
  readonly release?: string;
  readonly lockTimeoutMs?: number;
  /** Told each time that the tables were in use, and the migrations will be tried again. */
  readonly onBlocked?: (error: unknown) => void;
}

/**
 * Applies all migrations in one transaction, and then builds their indexes. Replicas that start together wait for each other's
 * migrations. Throws `SchemaRefused` where a later
 * release has migrated the database and does not allow this one.
 */
export async function migrate(database: Queries, options: Migrating = {}): Promise<string[]> {
  const { lockTimeoutMs = LOCK_TIMEOUT_MS, onBlocked } = options;
  const run = { migrations: MIGRATIONS, release: await productVersion(), ...options, lockTimeoutMs };
  for (let failures = 1; ; failures += 1) {
    try {
      const applied = await underLock(database, (tx) => applyPending(tx, run));
      await buildIndexes(database, run.migrations);
      return applied;
    } catch (error) {
      const cause = error instanceof MigrationFailed ? error.cause : error;
      if (!isBlocked(cause)) throw isUnreachable(cause) ? cause : error;
      onBlocked?.(cause);
      await pause(lockTimeoutMs + pauseMsAfter(failures));
    }
  }
}

const LOCK_NOT_AVAILABLE = "55P03";
const isBlocked = (error: unknown) => (error as { code?: string }).code === LOCK_NOT_AVAILABLE || isRetryable(error);

/** The lock is one of the session: it is held until the transaction is committed, so that the next one sees what it did. */
function underLock<T>(database: Queries, work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${sql.lit(ADVISORY_LOCK)})`.execute(connection);
    try {
      return await connection.transaction().execute(work);
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(ADVISORY_LOCK)})`.execute(connection);
    }
  });
}

async function applyPending(
  tx: Tx,
  { migrations, release, lockTimeoutMs }: Required<Pick<Migrating, "migrations" | "release" | "lockTimeoutMs">>,
): Promise<string[]> {
  const pending = pendingMigrations(migrations, await appliedMigrations(tx), release);
  if (pending.length === 0) return [];
  await lockTables(tx, pending, migrations, lockTimeoutMs);
  await sql`create table if not exists kysely_migration
    (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(tx);
  for (const name of pending) {
    try {
      await applyOne(tx, name, migrations, release);
    } catch (error) {
      throw new MigrationFailed(name, error);
    }
  }
  return pending;
}

/**
 * Takes all locks before the first step, in one time for all of them: with a time for each, whoever waits for the first table would
 * wait for as long as all others take. What is left of the time is for locks that nobody has declared.
 */
async function lockTables(tx: Tx, pending: readonly string[], migrations: Migrations, withinMs: number): Promise<void> {
  const startedAt = performance.now();
  const boundWaits = () => {
    const leftMs = Math.max(1, Math.ceil(withinMs - (performance.now() - startedAt)));
    return sql`set local lock_timeout = ${sql.lit(leftMs)}`.execute(tx);
  };
  await boundWaits();
  for (const name of pending) {
    const migration = migrations[name];
    for (const [table, mode] of Object.entries(isDeclared(migration) ? migration.locks : {}).sort()) {
      const { rows } = await sql`select where to_regclass(${table}) is not null`.execute(tx);
      if (rows.length > 0) await sql`lock table ${sql.table(table)} in ${sql.raw(mode)} mode`.execute(tx);
      await boundWaits();
    }
  }
}

async function applyOne(tx: Tx, name: string, migrations: Migrations, release: string): Promise<void> {
  const migration = migrations[name];
  if (!isDeclared(migration)) await migration?.up(tx);
  else for (const step of migration.steps) await step.execute(tx);
  await sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(tx);
  if (isDeclared(migration))
    await sql`update kysely_migration set oldest_release = ${migration.oldestRelease}, applied_by = ${release}
      where name = ${name}`.execute(tx);
}

/** The record of migrations; of a database from before it had columns for them, without what they declare. */
export async function appliedMigrations(db: Queries): Promise<readonly AppliedMigration[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (!found[0]?.exists) return [];
  const { rows } = await sql<AppliedMigration>`select * from kysely_migration order by name`.execute(db);
  return rows;
}

/** Each known migration with the time at which this database got it; null where it has not. */
export async function migrationStates(
  database: Queries,
): Promise<{ readonly name: string; readonly executed_at: string | null }[]> {
  const times = new Map((await appliedMigrations(database)).map(({ name, timestamp }) => [name, timestamp]));
  return Object.keys(MIGRATIONS)
    .sort()
    .map((name) => ({ name, executed_at: times.get(name) ?? null }));
}

/** Those that a later release has. */
export const unknownMigrations = (names: readonly string[]): string[] => names.filter((name) => !(name in MIGRATIONS));

/**
 * Brings an empty database, or one that is there already, to exactly these migrations. False where that is not possible: some
 * are not known, or the database has later ones.
 */
export async function migrateExactly(database: Queries, names: readonly string[]): Promise<boolean> {
  const wanted = new Set(names);
  const first = Object.entries(MIGRATIONS)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, wanted.size);
  const isPrefix = wanted.size > 0 && first.length === wanted.size && first.every(([name]) => wanted.has(name));
  const applied = await appliedMigrations(database);
  if (!isPrefix || applied.some(({ name }) => !wanted.has(name))) return false;
  await migrate(database, { migrations: Object.fromEntries(first) });
  return true;
}
