import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const appNames: Migration = {
  async up(database: Kysely<unknown>) {
    // Apps whose names begin alike are found without reading all apps of the project, whatever the database's collation.
    await sql`create index apps_name_prefix on apps (project_id, name collate "C")`.execute(database);
  },
};
