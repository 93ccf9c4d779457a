import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  /** Credentials of private chart repositories. The address has one spelling, so that one is stored for each. */
  sql`create table chart_repositories (
    id uuid primary key,
    org_id uuid not null constraint chart_repositories_org references orgs on delete cascade,
    name text not null,
    url text not null,
    username text not null,
    sealed_password text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint chart_repositories_name_taken unique (org_id, name),
    constraint chart_repositories_url_taken unique (org_id, url)
  )`,
];

export const chartRepositories: Migration = {
  async up(db: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(db);
  },
};
