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

/** The kept totals of the scopes that a condition on `scope` leaves, added up, as an expression. */
export const keptTotal = (relation: CountedRelation, scopes: RawBuilder<unknown>): RawBuilder<number> =>
  sql`(select coalesce(sum(delta), 0)::bigint from row_counts where relation = ${relation} and ${scopes})`;

/** Totals that are folded in one statement, which holds their locks. */
const TOTALS_AT_ONCE = 1_000;

/** Any number will do that nothing else in the database uses. */
const FOLDING_LOCK = sql.lit("3853314791062309108");

/**
 * Folds the deltas of those totals that have some, on one replica at a time: the others would read all totals for nothing. A reader
 * sees all of a total or none. A total without new deltas is left alone: rewriting all of them would write megabytes at each round of
 * an idle installation.
 */
export async function foldRowCounts(db: Queries, atOnce = TOTALS_AT_ONCE): Promise<void> {
  for (let folded = atOnce; folded === atOnce; ) {
    const { rows } = await sql<{ folded: number }>`
      with turn as materialized (select pg_try_advisory_xact_lock(${FOLDING_LOCK}::bigint) as is_mine), many as (
        select relation, scope from row_counts where (select is_mine from turn) group by relation, scope having count(*) > 1 or sum(delta) = 0 limit ${atOnce}
      ), taken as (
        delete from row_counts where ctid = any (array(
          select row_counts.ctid from many join row_counts using (relation, scope) for update of row_counts skip locked
        ))
        returning relation, scope, delta
      ), kept as (
        insert into row_counts (relation, scope, delta)
        select relation, scope, sum(delta) from taken group by relation, scope having sum(delta) <> 0
      )
      select count(distinct (relation, scope))::int as folded from taken
    `.execute(db);
    folded = rows[0]?.folded ?? 0;
  }
}
