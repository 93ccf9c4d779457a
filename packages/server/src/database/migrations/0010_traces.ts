import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const traces: Migration = {
  async up(database: Kysely<unknown>) {
    // The trace of the change that is pending, so that a hub in another process continues it. Null where nobody traces.
    await sql`alter table desired_resources add column traceparent text`.execute(database);
  },
};
