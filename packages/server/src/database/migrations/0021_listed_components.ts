import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const STATEMENTS = [
  // What a list shows of the components, without texts of any length. It is text, which an older server writes back as it is.
  sql`create function listed_components_of(components jsonb) returns text
    language sql immutable parallel safe as $$
      select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'name', c -> 'name', 'type', c -> 'type', 'depends_on', c -> 'depends_on', 'export_refs', c -> 'export_refs',
        'workload_spec', (
          select jsonb_build_object(
            'kind', w -> 'kind', 'image', w -> 'image', 'replicas', w -> 'replicas', 'ports', w -> 'ports',
            'resources', w -> 'resources', 'volumes', w -> 'volumes', 'ingress', w -> 'ingress',
            'autoscale', w -> 'autoscale', 'schedule', w -> 'schedule',
            'env', (
              select jsonb_agg(v order by place)
              from jsonb_array_elements(w -> 'env') with ordinality as variable (v, place) where v ? 'export_ref'
            ),
            'files', (
              select jsonb_agg(jsonb_build_object(
                'path', f -> 'path', 'secret', f -> 'secret', 'size_bytes', octet_length(f ->> 'content'),
                'digest', 'sha256:' || encode(sha256(convert_to(f ->> 'content', 'UTF8')), 'hex')
              ) order by place)
              from jsonb_array_elements(w -> 'files') with ordinality as file (f, place)
            ),
            'init_containers', (
              select jsonb_agg(jsonb_build_object('name', i -> 'name', 'image', i -> 'image') order by place)
              from jsonb_array_elements(w -> 'init_containers') with ordinality as container (i, place)
            ),
            'sidecars', (
              select jsonb_agg(jsonb_build_object('name', i -> 'name', 'image', i -> 'image') order by place)
              from jsonb_array_elements(w -> 'sidecars') with ordinality as container (i, place)
            )
          ) from (select c -> 'workload_spec' as w) workload where w is not null
        ),
        'addon_spec', (
          select jsonb_build_object(
            'instance', a -> 'instance', 'definition_id', a -> 'definition_id', 'chart_version', a -> 'chart_version'
          ) from (select c -> 'addon_spec' as a) addon where a is not null
        ),
        'chart_spec', (
          select jsonb_build_object('repo', h -> 'repo', 'name', h -> 'name', 'version', h -> 'version')
          from (select c -> 'chart_spec' as h) chart where h is not null
        )
      )) order by place), '[]')::text
      from jsonb_array_elements(components) with ordinality as component (c, place)
    $$`,
  sql`alter table apps add column listed_components text not null default '[]'`,
  sql`update apps set listed_components = listed_components_of(components)`,
  sql`create or replace function describe_app() returns trigger language plpgsql as $$
    begin
      new.search_text := app_search_text(new.name, new.namespace, new.components);
      new.listed_components := listed_components_of(new.components);
      if tg_op = 'INSERT' or new.revision is distinct from old.revision then
        new.deployed_at := new.updated_at;
      end if;
      return new;
    end $$`,
];

/** Lists carry no contents. They are taken out when an app is written, not whenever it is listed. */
export const listedComponents: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
