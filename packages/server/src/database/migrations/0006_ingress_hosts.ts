import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  /*
   * The hosts that each app may be serving on its cluster. All apps with one host are of one project; whoever adds a host
   * holds the row of the cluster while looking, because a wildcard stands in the way of other hosts than itself and no
   * unique constraint says that. Cluster and project are those of the app.
   */
  sql`create table ingress_hosts (
    app_id uuid not null references apps on delete cascade,
    host text not null,
    cluster_id uuid not null,
    project_id uuid not null,
    primary key (app_id, host)
  )`,
  sql`create index ingress_hosts_by_host on ingress_hosts (cluster_id, host)`,
  // Projects that share a host already keep it; neither can use it in another app until the other has let go.
  sql`insert into ingress_hosts (app_id, host, cluster_id, project_id)
    select distinct a.id, component #>> '{workload_spec,ingress,host}', a.cluster_id, a.project_id
    from apps a, jsonb_array_elements(a.components) as component
    where component #>> '{workload_spec,ingress,host}' is not null`,
];

export const ingressHosts: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
