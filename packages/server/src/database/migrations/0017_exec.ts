import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const exec: Migration = {
  async up(database: Kysely<unknown>) {
    // Null follows the default, which is on.
    await sql`alter table cluster_settings add column exec_enabled boolean`.execute(database);
  },
};
