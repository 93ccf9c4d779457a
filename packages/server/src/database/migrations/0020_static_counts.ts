import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** A statement that is put together from text is parsed and planned at every insert; these are planned once for each connection. */
const COUNT_ROWS = sql`
  create or replace function count_rows() returns trigger language plpgsql as $$
    declare
      whole constant uuid := '00000000-0000-0000-0000-000000000000';
      sign constant int := case tg_op when 'INSERT' then 1 else -1 end;
    begin
      if tg_nargs = 0 then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, whole, sign * count(*) from changed having count(*) > 0;
      elsif tg_argv[0] = 'org_id' then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, coalesce(org_id, whole), sign * count(*) from changed group by 2;
      elsif tg_argv[0] = 'cluster_id' then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, coalesce(cluster_id, whole), sign * count(*) from changed group by 2;
      elsif tg_argv[0] = 'project_id' then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, coalesce(project_id, whole), sign * count(*) from changed group by 2;
      else
        raise exception 'count_rows() has no statement for the column %', tg_argv[0];
      end if;
      return null;
    end $$`;

export const staticCounts: Migration = {
  async up(database: Kysely<unknown>) {
    await COUNT_ROWS.execute(database);
  },
};
