import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Providers have fields of their own beside the sealed secret. The former column stays for servers of the version before, which
 * read it while an upgrade is under way.
 */
const STATEMENTS = [
  sql`alter table cloud_credentials add column settings jsonb not null default '{}'`,
  sql`update cloud_credentials set settings = jsonb_build_object('access_key_id', access_key_id) where access_key_id is not null`,
];

export const credentialSettings: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
