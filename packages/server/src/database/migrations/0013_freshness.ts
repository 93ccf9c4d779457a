import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // A deployment without a deadline would be pending for ever where the cluster never becomes ready with it.
  sql`update app_deployments set deadline_at = created_at + interval '15 minutes'
    where status = 'pending' and deadline_at is null`,
  // The secrets that the operation set or removed, each as component/key. A whole component stands as component/.
  sql`alter table app_deployments add column changed_secrets text[] not null default '{}'`,

  // The time of the last report that changed the record. Null before the first report.
  sql`alter table apps add column reported_at timestamptz`,
  sql`alter table addon_instances add column reported_at timestamptz`,
  sql`alter table projects add column reported_at timestamptz`,
  sql`update apps set reported_at = updated_at where observed_generation is not null`,
  sql`update addon_instances set reported_at = updated_at where observed_generation is not null`,
  sql`update projects set reported_at = updated_at where lifecycle = 'ready'`,
];

export const freshness: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
