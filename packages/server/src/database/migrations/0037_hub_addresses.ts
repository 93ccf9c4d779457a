import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Where other processes reach the hub of a session. Hubs of the version before leave it empty. */
const STATEMENTS = [sql`alter table cluster_sessions add column hub_url text`];

export const hubAddresses: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
