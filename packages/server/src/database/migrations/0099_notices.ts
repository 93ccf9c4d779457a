import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const notices: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      alter table desired_resources drop constraint desired_resources_kind_check,
        add constraint desired_resources_kind_check
          check (kind in ('project', 'app', 'addon_instance', 'registry_secrets', 'notice'))
    `.execute(db);
  },
};
