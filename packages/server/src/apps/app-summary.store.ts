import type { AppPhase, AppSort, DriftState } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { type ProjectFilter, visibleProjectIds } from "../access/visible.store.ts";
import { surroundingsOf } from "../clusters/freshness.store.ts";
import { readBounded } from "../database/prepared.adapter.ts";
import { keptTotal } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import type { SummarizedApp } from "./app-summary.ts";

export interface SummaryFilter extends ProjectFilter {
  readonly phase?: readonly AppPhase[] | undefined;
  readonly drift?: DriftState | undefined;
  readonly search?: string | undefined;
}

/** The worst first. */
const BY_PHASE: readonly AppPhase[] = [
  "failed",
  "invalid",
  "degraded",
  "pending",
  "deploying",
  "deleting",
  "paused",
  "running",
];

interface Order {
  /** The first key; the name and the id of the app decide between equals. */
  readonly key: RawBuilder<unknown>;
  readonly join?: RawBuilder<unknown>;
  readonly by: RawBuilder<unknown>;
}

const BY_KEY = sql`key, name, id`;

const ORDERS: Readonly<Record<AppSort, Order>> = {
  name: { key: sql`null`, by: sql`name, id` },
  "-name": { key: sql`null`, by: sql`name desc, id desc` },
  phase: { key: sql`array_position(${BY_PHASE}::text[], a.phase)`, by: BY_KEY },
  project: { key: sql`p.name`, join: sql`join projects p on p.id = a.project_id`, by: BY_KEY },
  cluster: { key: sql`c.name`, join: sql`join clusters c on c.id = a.cluster_id`, by: BY_KEY },
  deployed_at: { key: sql`a.deployed_at`, by: sql`key, id` },
  "-deployed_at": { key: sql`a.deployed_at`, by: sql`key desc, id desc` },
};

const COLUMNS =
  sql.raw(`a.id, a.org_id, a.cluster_id, a.project_id, a.namespace, a.name, a.listed_components, a.replicas_before_pause,
  a.generation, a.revision, a.phase, a.phase_since, a.phase_reason, a.phase_message, a.observed_generation, a.drift_state,
  a.reported_at, a.updated_at, a.component_statuses`);

/**
 * Reads a page of the apps that the caller sees, and how many there are. Apps are filtered by narrow columns, and only those of
 * the page are read whole. Without a filter of their own their total is the sum of the kept totals of their projects.
 */
export async function listSummaryRows(
  db: Queries,
  caller: Caller,
  { phase, drift, search, ...place }: SummaryFilter,
  sort: AppSort,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: SummarizedApp[]; total: number }> {
  const seen = await visibleProjectIds(db, caller, place);
  const { key, join = sql``, by } = ORDERS[sort];
  const own = [
    ...(phase === undefined ? [] : [sql<SqlBool>`a.phase = any (${phase}::text[])`]),
    ...(drift === undefined ? [] : [sql<SqlBool>`a.drift_state = ${drift}`]),
    ...(search ? [sql<SqlBool>`strpos(a.search_text, lower(${search})) > 0`] : []),
  ];
  const conditions = [sql<SqlBool>`a.project_id = any (${seen}::uuid[])`, ...own];
  const total = own.length > 0 ? sql`(select count(*) from matching)` : keptTotal("apps", seen);
  const summaries = sql<SummarizedApp & { total: number; id: string | null }>`
    with matching as (
      select a.id, a.name, ${key} as key from apps a ${join} where ${sql.join(conditions, sql` and `)}
    ), page as (
      select row_number() over (order by ${by}) as place, id from (
        select * from matching order by ${by} limit ${page.limit} offset ${page.offset}
      ) first
    )
    select counted.total, shown.* from (select ${total} as total) counted left join lateral (
      select page.place, ${COLUMNS}, p.name as project_name, c.name as cluster_name, ${sql.raw(surroundingsOf("a"))},
        d.id as deployment_id, d.operation as deployment_operation, d.status as deployment_status,
        d.created_at as deployment_created_at, coalesce(u.name, d.created_by) as deployment_created_by
      from page join apps a on a.id = page.id join projects p on p.id = a.project_id join clusters c on c.id = a.cluster_id
        left join app_deployments d on d.app_id = a.id and d.revision = a.revision
        left join users u on u.email = d.created_by
    ) shown on true order by shown.place
  `;
  const rows = await readBounded(db, { compile: () => summaries.compile(db) }, ENOUGH_CHARACTERS);
  return { rows: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}
