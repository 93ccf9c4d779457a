import { type RawBuilder, sql } from "kysely";
import type { Queries } from "./transaction.ts";

/**
 * The tables whose row counts are maintained by triggers, because counting rows at each read would grow with the table.
 */
type CountedRelation =
  | "users"
  | "orgs"
  | "memberships"
  | "audit_log"
  | "clusters"
  | "projects"
  | "apps"
  | "addon_instances";

export const WHOLE_RELATION = "00000000-0000-0000-0000-000000000000";

export async function totalRows(
  db: Queries,
  relation: CountedRelation,
  scope: string = WHOLE_RELATION,
): Promise<number> {
  const row = await db
    .selectFrom("row_counts")
    .select(sql<number>`coalesce(sum(delta), 0)::bigint`.as("total"))
    .where("relation", "=", relation)
    .where("scope", "=", scope)
    .executeTakeFirstOrThrow();
  return row.total;
}

/** The kept totals of several scopes together, as an expression. */
export const keptTotal = (relation: CountedRelation, scopes: readonly string[]): RawBuilder<number> =>
  sql`(select coalesce(sum(delta), 0)::bigint from row_counts where relation = ${relation} and scope = any (${scopes}::uuid[]))`;

/** Folds the deltas of each total. A reader sees all of it or none; rows that another worker has locked are skipped. */
export async function foldRowCounts(db: Queries): Promise<void> {
  await sql`
    with taken as (
      delete from row_counts where ctid = any (array(select ctid from row_counts for update skip locked))
      returning relation, scope, delta
    )
    insert into row_counts (relation, scope, delta)
    select relation, scope, sum(delta) from taken group by relation, scope having sum(delta) <> 0
  `.execute(db);
}
