import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Null for what was done before: deployments keep no copy of the app that they have changed. */
export const changeSummaries: Migration = {
  async up(database: Kysely<unknown>) {
    await sql`alter table app_deployments add column summary text, add column changes jsonb`.execute(database);
    await sql`alter table audit_log add column summary text`.execute(database);
  },
};
