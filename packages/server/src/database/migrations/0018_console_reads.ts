import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // The images are deep in the components. Reading them for every app at each search would take longer than the search.
  sql`create function app_search_text(name text, namespace text, components jsonb) returns text
    language sql immutable parallel safe as $$
      select lower(concat_ws(E'\n', name, namespace, (
        select string_agg(image #>> '{}', E'\n') from (
          select jsonb_path_query(components, '$[*].workload_spec.image') as image
          union all select jsonb_path_query(components, '$[*].workload_spec.init_containers[*].image')
          union all select jsonb_path_query(components, '$[*].workload_spec.sidecars[*].image')
        ) images
      )))
    $$`,
  sql`alter table apps
    add column search_text text not null default '',
    add column deployed_at timestamptz`,
  sql`update apps set search_text = app_search_text(name, namespace, components), deployed_at = coalesce(
    (select d.created_at from app_deployments d where d.app_id = apps.id and d.revision = apps.revision), apps.updated_at)`,
  // An operation writes the app and its deployment at the same time, and raises the revision. Reports set neither column.
  sql`create function describe_app() returns trigger language plpgsql as $$
    begin
      new.search_text := app_search_text(new.name, new.namespace, new.components);
      if tg_op = 'INSERT' or new.revision is distinct from old.revision then
        new.deployed_at := new.updated_at;
      end if;
      return new;
    end $$`,
  sql`create trigger describe_app before insert or update of components, revision on apps
    for each row execute function describe_app()`,
  sql`create index apps_by_name on apps (name, id)`,
  sql`create index apps_by_deployment on apps (deployed_at, id)`,
  sql`create index audit_log_by_actor on audit_log (org_id, actor_id, id desc) where actor_id is not null`,
  sql`create index audit_log_by_resource on audit_log (org_id, resource_id, id desc) where resource_id is not null`,
  sql`create index audit_log_by_time on audit_log (org_id, at)`,
];

export const consoleReads: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
