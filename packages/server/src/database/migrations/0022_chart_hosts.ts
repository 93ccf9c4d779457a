import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // The hosts that charts of a project serve, as its cluster reports them. Those of apps are in ingress_hosts.
  sql`create table chart_hosts (
    project_id uuid not null references projects on delete cascade,
    host text not null,
    cluster_id uuid not null,
    primary key (project_id, host)
  )`,
  sql`create index chart_hosts_by_host on chart_hosts (cluster_id, host)`,
];

export const chartHosts: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
