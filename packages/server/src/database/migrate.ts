import { type Migration, Migrator } from "kysely/migration";
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
import type { Queries } from "./transaction.ts";

/** Migrations in order. A released migration is never edited. */
const MIGRATIONS: Record<string, Migration> = {
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
};

/** Applies all migrations. Replicas that start together wait for each other. */
export async function migrate(database: Queries): Promise<string[]> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => MIGRATIONS } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.map(({ migrationName }) => migrationName);
}
