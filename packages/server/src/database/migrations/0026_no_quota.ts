import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Projects have no quota any more, and the clusters of those that had one are told. The column stays empty: servers of the
 * older version, which run until the upgrade is done, still write it when they create a project.
 */
const STATEMENTS = [
  sql`update clusters set revision = revision + 1 where id in (
    select desired.cluster_id from desired_resources desired join projects on projects.id = desired.resource_id
    where desired.kind = 'project' and desired.removed_at is null and projects.quota is not null)`,
  sql`update desired_resources desired set generation = desired.generation + 1, revision = clusters.revision
    from clusters, projects
    where clusters.id = desired.cluster_id and desired.kind = 'project' and desired.removed_at is null
      and projects.id = desired.resource_id and projects.quota is not null`,
  sql`update projects set quota = null where quota is not null`,
];

export const noQuota: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
