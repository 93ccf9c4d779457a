import { APP_PHASES, type AppPhase, type AppSort, type DriftState } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { isIn, type ProjectFilter, type SeenPlaces, seenPlaces } from "../access/visibility.store.ts";
import { surroundingsOf } from "../database/columns.ts";
import { readBounded } from "../database/prepared.adapter.ts";
import { keptTotal } from "../database/row-count.store.ts";
import { contains } from "../database/text-search.store.ts";
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

const ORDERS: Readonly<Record<Exclude<AppSort, "phase">, Order>> = {
  name: { key: sql`null`, by: sql`name, id` },
  "-name": { key: sql`null`, by: sql`name desc, id desc` },
  project: { key: sql`p.name`, join: sql`join projects p on p.id = a.project_id`, by: BY_KEY },
  cluster: { key: sql`c.name`, join: sql`join clusters c on c.id = a.cluster_id`, by: BY_KEY },
  deployed_at: { key: sql`a.deployed_at`, by: sql`key, id` },
  "-deployed_at": { key: sql`a.deployed_at`, by: sql`key desc, id desc` },
};

type Window = { readonly limit: number; readonly offset: number };
type Phases = readonly AppPhase[] | undefined;

const all = (conditions: readonly RawBuilder<SqlBool>[]) => sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
/** Phases are written out, so that PostgreSQL knows which index has them. */
const inPhases = (phases: readonly AppPhase[]) =>
  sql<SqlBool>`a.phase in (${sql.join(phases.map((phase) => sql.lit(phase)))})`;

/** The apps of a page in their order, `id` with `place`. */
function pageOf(conditions: readonly RawBuilder<SqlBool>[], phases: Phases, sort: AppSort, { limit, offset }: Window) {
  const within = sql`limit ${limit} offset ${offset}`;
  if (sort === "phase") {
    // Each phase gives its own first apps: in one query all apps of all phases would be sorted.
    const each = BY_PHASE.filter((phase) => phases?.includes(phase) ?? true).map(
      (phase) => sql`(select a.id, a.name, ${sql.lit(BY_PHASE.indexOf(phase))}::int as key from apps a
        where ${all([...conditions, inPhases([phase])])} order by a.name, a.id limit ${limit + offset})`,
    );
    return sql`select row_number() over (order by ${BY_KEY}) as place, id from (
      select * from (${sql.join(each, sql` union all `)}) phases order by ${BY_KEY} ${within}) first`;
  }
  const { key, join = sql``, by } = ORDERS[sort];
  const where = all([...conditions, ...(phases ? [inPhases(phases)] : [])]);
  return sql`select row_number() over (order by ${by}) as place, id from (
    select a.id, a.name, ${key} as key from apps a ${join} where ${where} order by ${by} ${within}) first`;
}

/** The scopes of the kept totals of apps, which are projects. */
const scopesOf = (seen: SeenPlaces) =>
  "org" in seen
    ? sql`scope in (select id from projects where org_id = ${seen.org})`
    : "projects" in seen
      ? sql`scope = any (${seen.projects}::uuid[])`
      : sql`true`;

/**
 * How many apps match. Nearly all apps are running, so these are what the others leave of the kept total: counting them would read
 * every app.
 */
function totalOf(seen: SeenPlaces, own: readonly RawBuilder<SqlBool>[], phases: Phases) {
  const kept = keptTotal("apps", scopesOf(seen));
  const count = (conditions: readonly RawBuilder<SqlBool>[]) =>
    sql`(select count(*) from apps a where ${all([isIn(seen, "a"), ...conditions])})`;
  if (own.length > 0) return count([...own, ...(phases ? [inPhases(phases)] : [])]);
  if (!phases) return kept;
  if (!phases.includes("running")) return count([inPhases(phases)]);
  const others = APP_PHASES.filter((phase) => !phases.includes(phase));
  return others.length > 0 ? sql`${kept} - ${count([inPhases(others)])}` : kept;
}

const COLUMNS =
  sql.raw(`a.id, a.org_id, a.cluster_id, a.project_id, a.namespace, a.name, a.listed_components, a.replicas_before_pause, a.suspended_at,
  a.generation, a.revision, a.phase, a.phase_since, a.phase_reason, a.phase_message, a.observed_generation, a.drift_state,
  a.reported_at, a.updated_at, a.component_statuses`);

/**
 * Reads a page of the apps that the caller sees, and how many there are. Apps are filtered by narrow columns, and only those of
 * the page are read whole.
 */
export async function listSummaryRows(
  db: Queries,
  caller: Caller,
  { phase, drift, search, ...place }: SummaryFilter,
  sort: AppSort,
  window: Window,
): Promise<{ rows: SummarizedApp[]; total: number }> {
  const seen = await seenPlaces(db, caller, place);
  const own = [
    ...(drift === undefined ? [] : [sql<SqlBool>`a.drift_state = ${sql.lit(drift)}`]),
    ...(search ? [contains("a.search_text", search)] : []),
  ];
  type Row = SummarizedApp & { total: number; id: string | null };
  const summaries = sql<Row>`
    with page as (${pageOf([isIn(seen, "a"), ...own], phase, sort, window)})
    select counted.total, shown.* from (select ${totalOf(seen, own, phase)} as total) counted left join lateral (
      select page.place, ${COLUMNS}, p.name as project_name, c.name as cluster_name, ${sql.raw(surroundingsOf("a"))},
        d.id as deployment_id, d.operation as deployment_operation, d.status as deployment_status,
        d.created_at as deployment_created_at, coalesce(u.name, d.created_by) as deployment_created_by
      from page join apps a on a.id = page.id join projects p on p.id = a.project_id join clusters c on c.id = a.cluster_id
        left join app_deployments d on d.app_id = a.id and d.revision = a.revision
        left join users u on u.email = d.created_by
    ) shown on true order by shown.place
  `;
  const rows = await readBounded<Row>(db, summaries.compile(db), ENOUGH_CHARACTERS);
  return { rows: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}
