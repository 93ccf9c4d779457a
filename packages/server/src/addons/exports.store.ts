import { type RawBuilder, sql } from "kysely";
import { readBounded } from "../database/prepared.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import type { CatalogExports, FoundExport } from "./exports.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/**
 * The exports of the instances of a project: those that the catalog declares, and the reported ones of definitions that it no longer
 * has. Instances that are being deleted have none.
 */
const exported = (projectId: string, catalog: CatalogExports): RawBuilder<unknown> => sql`
  select instance.id, instance.name, kept.key, kept.description, kept.secret
  from addon_instances instance join declared kept on kept.definition_id = instance.definition_id
  where instance.project_id = ${projectId} and instance.phase <> 'deleting'
  union all
  select instance.id, instance.name, reported.key, null, null
  from addon_instances instance, jsonb_object_keys(instance.exports) reported (key)
  where instance.project_id = ${projectId} and instance.phase <> 'deleting'
    and instance.definition_id <> all (${catalog.definitions}::uuid[])`;

const withDeclared = ({ declared }: CatalogExports): RawBuilder<unknown> => sql`
  declared as (
    select * from jsonb_to_recordset(${JSON.stringify(declared)}::jsonb)
      as each (definition_id uuid, key text, description text, secret boolean)
  )`;

/** What the cluster has reported is read with its row only, because an instance may have reported much. */
export function listExports(
  db: Queries,
  projectId: string,
  catalog: CatalogExports,
  { limit, offset }: Window,
): Promise<FoundExport[]> {
  const exports = sql<FoundExport>`
    with ${withDeclared(catalog)}
    select page.*, (select jsonb_typeof(exports -> page.key) from addon_instances where id = page.id) as reported from (
      select * from (${exported(projectId, catalog)}) each order by id desc, key collate "C" limit ${limit} offset ${offset}
    ) page
  `;
  return readBounded<FoundExport>(db, exports.compile(db), ENOUGH_CHARACTERS);
}

export async function countExports(db: Queries, projectId: string, catalog: CatalogExports): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    with ${withDeclared(catalog)} select count(*)::integer as total from (${exported(projectId, catalog)}) each
  `.execute(db);
  return rows[0]?.total ?? 0;
}
