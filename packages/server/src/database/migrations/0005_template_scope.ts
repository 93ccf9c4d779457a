import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/*
 * A template of scope project or cluster belongs to one project or cluster, by id. It used to belong to every project of
 * its organization that had its namespace.
 */
const STATEMENTS = [
  sql`alter table stack_templates
    add column project_id uuid constraint stack_templates_project references projects on delete cascade,
    add column cluster_id uuid constraint stack_templates_cluster references clusters on delete cascade`,
  // Several projects may have the namespace: then nothing says which one was meant, and only administrators see it.
  sql`update stack_templates t set project_id = (
    select (array_agg(p.id))[1] from projects p where p.org_id = t.org_id and p.namespace = t.namespace having count(*) = 1
  ) where t.scope = 'project'`,
  sql`update stack_templates t set cluster_id = (
    select (array_agg(p.cluster_id))[1] from projects p where p.org_id = t.org_id and p.namespace = t.namespace having count(*) = 1
  ) where t.scope = 'cluster'`,
  sql`alter table stack_templates add constraint stack_templates_place check (
    (scope = 'project' or project_id is null) and (scope = 'cluster' or cluster_id is null)
  )`,
  sql`create index stack_templates_by_project on stack_templates (project_id) where project_id is not null`,
  sql`create index stack_templates_by_cluster on stack_templates (cluster_id) where cluster_id is not null`,
  sql`create index projects_by_namespace on projects (namespace)`,
];

export const templateScope: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
