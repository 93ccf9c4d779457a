import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What was changed on a cluster and set back; a constant default rewrites no rows. */
export const driftRepairs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ["apps", "addon_instances"]) {
      await sql`alter table ${sql.table(table)} add column drift_repairs jsonb not null default '[]'`.execute(db);
    }
  },
};
