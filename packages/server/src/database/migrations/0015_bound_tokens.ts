import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // A token that is bound to a place is deleted with it.
  sql`alter table cli_tokens
    add column org_id uuid references orgs on delete cascade,
    add column project_id uuid references projects on delete cascade,
    add column last_used_address text,
    add column expiry_announced_at timestamptz,
    add constraint cli_tokens_one_place check (num_nonnulls(org_id, project_id) <= 1)`,
  sql`create index cli_tokens_by_org on cli_tokens (org_id) where org_id is not null`,
  sql`create index cli_tokens_by_project on cli_tokens (project_id) where project_id is not null`,
  sql`create index cli_tokens_unannounced on cli_tokens (expires_at) where expiry_announced_at is null`,

  // Whoever begins a device login has no credential, so the place may not exist. The approval checks it.
  sql`alter table device_logins
    add column org_id uuid,
    add column project_id uuid,
    add constraint device_logins_one_place check (num_nonnulls(org_id, project_id) <= 1)`,

  sql`alter table sessions add column client_name text`,
];

export const boundTokens: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
