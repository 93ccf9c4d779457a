import { type RawBuilder, sql } from "kysely";
import { readBounded } from "../database/prepared.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import type { HeldSecrets } from "./secrets-overview.ts";

interface Window {
  readonly limit: number;
  readonly offset: number;
}

/**
 * The components of apps and the addon instances of a project that have secrets. Each component is found by its first key in the
 * index, because an app may have twenty thousand keys.
 */
const holders = (projectId: string): RawBuilder<unknown> => sql`
  select 'component'::text as kind, app.id, app.name as owner, first.component collate "C" as holder
  from apps app cross join lateral (
    with recursive found as (
      (select component from app_secrets where app_id = app.id order by component limit 1)
      union all
      select (select component from app_secrets where app_id = app.id and component > found.component order by component limit 1)
      from found where found.component is not null
    )
    select component from found where component is not null
  ) first
  where app.project_id = ${projectId}
  union all
  select 'addon', instance.id, instance.name, instance.name collate "C"
  from addon_instances instance
  where instance.project_id = ${projectId} and exists (select from addon_secrets where addon_instance_id = instance.id)`;

interface Holders {
  readonly held: readonly HeldSecrets[];
  /** Of all pages. */
  readonly total: number;
}

/**
 * Reads the keys of a page only, and those of a holder with its row. The holders are found and counted in one pass, because that takes
 * PostgreSQL longer than the keys of a page.
 */
export async function listHolders(db: Queries, projectId: string, { limit, offset }: Window): Promise<Holders> {
  const order = sql`kind desc, id desc, holder`;
  const page = sql<HeldSecrets & { total: number }>`
    select page.*, stored.keys, stored.updated_at from (
      select each.*, (count(*) over ())::integer as total from (${holders(projectId)}) each order by ${order} limit ${limit} offset ${offset}
    ) page cross join lateral (
      select json_agg(key order by key collate "C") as keys, max(updated_at) as updated_at from (
        select key, updated_at from app_secrets
          where page.kind = 'component' and app_id = page.id and component = page.holder collate "default"
        union all
        select path, updated_at from addon_secrets where page.kind = 'addon' and addon_instance_id = page.id
      ) keys
    ) stored order by ${order}
  `;
  const held = await readBounded<HeldSecrets & { total: number }>(db, page.compile(db), ENOUGH_CHARACTERS);
  // No row behind the last one says how many there are.
  return { held, total: held[0]?.total ?? (offset === 0 ? 0 : await countHolders(db, projectId)) };
}

async function countHolders(db: Queries, projectId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from (${holders(projectId)}) each
  `.execute(db);
  return rows[0]?.total ?? 0;
}
