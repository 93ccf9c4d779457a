import { MOST_ATTENTION_ITEMS, MOST_OTHERS_NAMED, POD_TROUBLES } from "@binnacle/contract";
import { type RawBuilder, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { soonUntil } from "../accounts/cli-token.ts";
import type { Queries } from "../database/transaction.ts";
import { type AppCounts, type Counted, FAILURES, type Found, type StateCount } from "./overview.ts";

/** A rollout may wait for a moment for its image or a node before it counts as held up. */
const HELD_UP_AFTER_MS = 30_000;

/** The pods of a change cannot start or get ready. A phase may be older than the change, when several follow each other. */
const isHeldUp = (
  now: Date,
): RawBuilder<unknown> => sql`(phase = 'deploying' and phase_reason = any (${[...POD_TROUBLES]}::text[])
  and greatest(phase_since, deployed_at) <= ${new Date(now.getTime() - HELD_UP_AFTER_MS)})`;

/** `seen` are the projects that the caller sees. */
export async function countAppsByCluster(
  db: Queries,
  seen: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, AppCounts>> {
  const { rows } = await sql<AppCounts & { cluster_id: string }>`
    select cluster_id, count(*) as apps, count(*) filter (where phase in ('failed', 'invalid', 'degraded')) as failing,
      count(*) filter (where ${isHeldUp(now)}) as held_up
    from apps where project_id = any (${seen}::uuid[]) group by cluster_id
  `.execute(db);
  return new Map(rows.map(({ cluster_id, ...counts }) => [cluster_id, counts]));
}

export async function countContents(
  db: Queries,
  seen: readonly string[],
  now: Date,
): Promise<Pick<Counted, "projects" | "apps" | "addonInstances">> {
  const [projects, apps, addonInstances] = await Promise.all([
    sql<StateCount>`
      select lifecycle as state, count(*) as count from projects where id = any (${seen}::uuid[]) group by 1
    `.execute(db),
    sql<Counted["apps"][number]>`
      select phase as state, count(*) as count, count(*) filter (where drift_state = 'drifted') as drifted,
        count(*) filter (where drift_state = 'blocked_sync') as blocked, count(*) filter (where ${isHeldUp(now)}) as held_up
      from apps where project_id = any (${seen}::uuid[]) group by 1
    `.execute(db),
    sql<StateCount>`
      select phase as state, count(*) as count from addon_instances where project_id = any (${seen}::uuid[]) group by 1
    `.execute(db),
  ]);
  return { projects: projects.rows, apps: apps.rows, addonInstances: addonInstances.rows };
}

/** Whether the newest change of an app has failed, and whether one before it has run. */
const DEPLOYMENTS = sql`lateral (
  select bool_or(d.revision = x.revision and d.status = 'failed') as has_failed,
    bool_or(d.revision < x.revision and d.status = 'succeeded') as has_run
  from app_deployments d where d.app_id = x.id
) deployed`;

/** The failure of a change says more than the phase, and the phase more than the drift. */
const appsInTrouble = (seen: readonly string[], now: Date): RawBuilder<unknown> => sql`
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
    from apps where project_id = any (${seen}::uuid[]) and phase <> 'deleting'
  ) x, ${DEPLOYMENTS}
  where x.is_in_trouble or x.drift_state in ('drifted', 'blocked_sync')`;

const IS_FAILING = sql`x.phase in ('failed', 'degraded')`;

const addonsInTrouble = (seen: readonly string[]): RawBuilder<unknown> => sql`
  select 'addon_instance', x.id, x.name, x.namespace, x.project_id, x.cluster_id,
    case when ${IS_FAILING} then x.phase else x.drift_state end, case when ${IS_FAILING} then x.phase_reason end,
    case when ${IS_FAILING} then x.phase_message else x.drift_summary end,
    case when ${IS_FAILING} then x.phase_since else x.drift_detected_at end, false
  from addon_instances x where x.project_id = any (${seen}::uuid[]) and x.phase <> 'deleting'
    and (${IS_FAILING} or x.drift_state in ('drifted', 'blocked_sync'))`;

/** A project is degraded, or its deletion does not get on. */
const projectsInTrouble = (seen: readonly string[]): RawBuilder<unknown> => sql`
  select 'project', p.id, p.name, p.namespace, p.id, p.cluster_id,
    case when p.lifecycle_reason in ('cleanup_degraded', 'namespace_conflict') then p.lifecycle_reason else 'degraded' end,
    p.lifecycle_reason, p.lifecycle_message, p.updated_at, false
  from projects p where p.id = any (${seen}::uuid[])
    and (p.lifecycle = 'degraded' or p.lifecycle_reason = 'cleanup_degraded')`;

/**
 * The contents of projects on clusters that are connected: nobody knows what has become of the others. Of those with the same cause a
 * few are read, with how many there are, so that one cause leaves room for others.
 */
export async function findTrouble(db: Queries, seen: readonly string[], now: Date): Promise<Counted["contents"]> {
  const { rows } = await sql<Found & { total: number }>`
    with found as (${appsInTrouble(seen, now)}
      union all ${addonsInTrouble(seen)}
      union all ${projectsInTrouble(seen)}
    ), grouped as (
      select t.*, count(*) over () as total, count(*) over alike as alike,
        row_number() over (alike order by t.since nulls last, t.id) as place
      from found t join cluster_sessions s on s.cluster_id = t.cluster_id and s.lease_until > ${now}
      window alike as (partition by t.kind, t.reason, t.cause, t.cluster_id)
    )
    select * from grouped where place <= ${MOST_OTHERS_NAMED + 1}
    order by reason = any (${FAILURES}::text[]) desc, min(since) over (partition by kind, reason, cause, cluster_id) nulls last,
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
