import { MOST_ATTENTION_ITEMS, MOST_OTHERS_NAMED, POD_TROUBLES } from "@binnacle/contract";
import { type RawBuilder, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { isIn, type SeenPlaces } from "../access/visibility.store.ts";
import { soonUntil } from "../accounts/cli-token.ts";
import { keptTotal } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { type AppCounts, type Counted, FAILURES, type Found, OF_THE_CLUSTER, type StateCount } from "./overview.ts";

/** A rollout may wait for a moment for its image or a node before it counts as held up. */
const HELD_UP_AFTER_MS = 30_000;

/** The pods of a change cannot start or get ready. A phase may be older than the change, when several follow each other. */
const isHeldUp = (
  now: Date,
): RawBuilder<unknown> => sql`(phase = 'deploying' and phase_reason = any (${[...POD_TROUBLES]}::text[])
  and greatest(phase_since, deployed_at) <= ${new Date(now.getTime() - HELD_UP_AFTER_MS)})`;

/** Apps that are not simply running, for which there is an index. Nearly all are, so that those are what the others leave of a total. */
const IS_UNSETTLED = sql`(phase <> 'running' or drift_state in ('drifted', 'blocked_sync'))`;

/** The totals of apps are kept for each project. */
export async function countAppsByCluster(
  db: Queries,
  seen: SeenPlaces,
  now: Date,
): Promise<ReadonlyMap<string, AppCounts>> {
  const { rows } = await sql<AppCounts & { cluster_id: string }>`
    select cluster_id, apps, coalesce(failing, 0) as failing, coalesce(held_up, 0) as held_up from (
      select p.cluster_id, sum(kept.delta)::bigint as apps
      from projects p join row_counts kept on kept.relation = 'apps' and kept.scope = p.id
      where ${isIn(seen, "p", "id")} group by 1 having sum(kept.delta) > 0
    ) total left join (
      select cluster_id, count(*) filter (where phase in ('failed', 'invalid', 'degraded')) as failing,
        count(*) filter (where ${isHeldUp(now)}) as held_up
      from apps where ${isIn(seen, "apps")} and phase in ('failed', 'invalid', 'degraded', 'deploying') group by 1
    ) troubled using (cluster_id)
  `.execute(db);
  return new Map(rows.map(({ cluster_id, ...counts }) => [cluster_id, counts]));
}

export async function countContents(
  db: Queries,
  seen: SeenPlaces,
  now: Date,
): Promise<Pick<Counted, "projects" | "apps" | "addonInstances">> {
  const projects = await sql<StateCount>`
    select lifecycle as state, count(*) as count from projects p where ${isIn(seen, "p", "id")} group by 1
  `.execute(db);
  const apps = await countApps(db, seen, now);
  const addonInstances = await sql<StateCount>`
    select phase as state, count(*) as count from addon_instances x where ${isIn(seen, "x")} group by 1
  `.execute(db);
  return { projects: projects.rows, apps, addonInstances: addonInstances.rows };
}

async function countApps(db: Queries, seen: SeenPlaces, now: Date): Promise<Counted["apps"]> {
  const kept = keptTotal("apps", sql`scope in (select p.id from projects p where ${isIn(seen, "p", "id")})`);
  type Row = Counted["apps"][number] & { total: number };
  const { rows } = await sql<Row>`
    select kept.total, phases.state, coalesce(phases.count, 0) as count, coalesce(drifted, 0) as drifted,
      coalesce(blocked, 0) as blocked, coalesce(held_up, 0) as held_up
    from (select ${kept} as total) kept left join (
      select phase as state, count(*) as count, count(*) filter (where drift_state = 'drifted') as drifted,
        count(*) filter (where drift_state = 'blocked_sync') as blocked, count(*) filter (where ${isHeldUp(now)}) as held_up
      from apps where ${isIn(seen, "apps")} and ${IS_UNSETTLED} group by 1
    ) phases on true
  `.execute(db);
  const others = rows.filter(({ state }) => state !== null && state !== "running");
  const unsettled = rows.find(({ state }) => state === "running");
  const running = (rows[0]?.total ?? 0) - others.reduce((sum, { count }) => sum + count, 0);
  const { drifted = 0, blocked = 0 } = unsettled ?? {};
  return [...others, { state: "running", count: running, drifted, blocked, held_up: 0 }];
}

/** Whether the newest change of an app has failed, and whether one before it has run. */
const DEPLOYMENTS = sql`lateral (
  select bool_or(d.revision = x.revision and d.status = 'failed') as has_failed,
    bool_or(d.revision < x.revision and d.status = 'succeeded') as has_run
  from app_deployments d where d.app_id = x.id
) deployed`;

/** The failure of a change says more than the phase, and the phase more than the drift. */
const appsInTrouble = (seen: SeenPlaces, now: Date): RawBuilder<unknown> => sql`
  select 'app'::text as kind, x.id, x.name, x.namespace, x.project_id, x.cluster_id,
    case when x.phase in ('failed', 'invalid') then x.phase
      when deployed.has_failed and (x.phase = 'degraded' or x.is_held_up) then 'rollout_failed'
      when x.phase = 'degraded' then x.phase when x.is_held_up then 'held_up' else x.drift_state end as reason,
    case when x.is_in_trouble then x.phase_reason end as cause,
    case when x.is_in_trouble then x.phase_message else x.drift_summary end as message,
    case when x.is_held_up then greatest(x.phase_since, x.deployed_at) when x.is_in_trouble then x.phase_since
      else x.drift_detected_at end as since,
    coalesce(deployed.has_run, false) as "hasRun"
  from (
    select apps.*, ${isHeldUp(now)} as is_held_up,
      (phase in ('failed', 'invalid', 'degraded') or ${isHeldUp(now)}) as is_in_trouble
    from apps where ${isIn(seen, "apps")} and ${IS_UNSETTLED} and phase <> 'deleting'
  ) x, ${DEPLOYMENTS}
  where x.is_in_trouble or x.drift_state in ('drifted', 'blocked_sync')`;

const IS_FAILING = sql`x.phase in ('failed', 'degraded')`;

const addonsInTrouble = (seen: SeenPlaces): RawBuilder<unknown> => sql`
  select 'addon_instance', x.id, x.name, x.namespace, x.project_id, x.cluster_id,
    case when ${IS_FAILING} then x.phase else x.drift_state end, case when ${IS_FAILING} then x.phase_reason end,
    case when ${IS_FAILING} then x.phase_message else x.drift_summary end,
    case when ${IS_FAILING} then x.phase_since else x.drift_detected_at end, x.revision_number > 1
  from addon_instances x where ${isIn(seen, "x")} and x.phase <> 'deleting'
    and (${IS_FAILING} or x.drift_state in ('drifted', 'blocked_sync'))`;

/** A project is degraded, or its deletion does not get on. */
const projectsInTrouble = (seen: SeenPlaces): RawBuilder<unknown> => sql`
  select 'project', p.id, p.name, p.namespace, p.id, p.cluster_id,
    case when p.lifecycle_reason in ('cleanup_degraded', 'namespace_conflict') then p.lifecycle_reason else 'degraded' end,
    p.lifecycle_reason, p.lifecycle_message, p.updated_at, false
  from projects p where ${isIn(seen, "p", "id")}
    and (p.lifecycle = 'degraded' or p.lifecycle_reason = 'cleanup_degraded')`;

/** The message says which image, chart or setting is at fault, and what resolves it depends on whether an earlier revision has run. */
const FAULT = sql`case when t.kind <> 'project' and t.reason not in ('drifted', 'blocked_sync')
  and coalesce(t.cause <> all (${OF_THE_CLUSTER}::text[]), true) then jsonb_build_array(t."hasRun", t.message)::text end`;

/**
 * The contents of projects on clusters that are connected: nobody knows what has become of the others. Of those with the same cause a
 * few are read, with how many there are, so that one cause leaves room for others.
 */
export async function findTrouble(db: Queries, seen: SeenPlaces, now: Date): Promise<Counted["contents"]> {
  const { rows } = await sql<Found & { total: number }>`
    with trouble as (${appsInTrouble(seen, now)}
      union all ${addonsInTrouble(seen)}
      union all ${projectsInTrouble(seen)}
    ), found as (select t.*, ${FAULT} as fault from trouble t
    ), grouped as (
      select t.*, count(*) over () as total, count(*) over alike as alike,
        row_number() over (alike order by t.since nulls last, t.id) as place
      from found t join cluster_sessions s on s.cluster_id = t.cluster_id and s.lease_until > now()
      window alike as (partition by t.kind, t.reason, t.cause, t.cluster_id, t.fault)
    )
    select * from grouped where place <= ${MOST_OTHERS_NAMED + 1}
    order by reason = any (${FAILURES}::text[]) desc, min(since) over (partition by kind, reason, cause, cluster_id, fault) nulls last,
      place, id
    limit ${MOST_ATTENTION_ITEMS * (MOST_OTHERS_NAMED + 1)}
  `.execute(db);
  return { found: rows, total: rows[0]?.total ?? 0 };
}

/** The caller's own tokens for the organization, or for everything. No CLI token learns of others. */
export async function findExpiringTokens(db: Queries, caller: Caller, orgId: string, now: Date): Promise<Found[]> {
  if (caller.via !== "user") return [];
  const { rows } = await sql<Found>`
    select 'cli_token' as kind, t.id, t.name, null as namespace, t.project_id, null as cluster_id, 'expires_soon' as reason,
      null as cause, null as message, t.expires_at as since
    from cli_tokens t left join projects p on p.id = t.project_id
    where t.user_id = ${caller.id} and t.expires_at > ${now} and t.expires_at <= ${soonUntil(now)}
      and coalesce(t.org_id, p.org_id, ${orgId}::uuid) = ${orgId}::uuid
    order by t.expires_at
  `.execute(db);
  return rows;
}
