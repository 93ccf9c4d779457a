import { MOST_ATTENTION_ITEMS } from "@binnacle/contract";
import { type RawBuilder, sql } from "kysely";
import type { Caller } from "../access/caller.ts";
import { soonUntil } from "../accounts/cli-token.ts";
import type { Queries } from "../database/transaction.ts";
import { type AppCounts, type Counted, FAILURES, type Found, type StateCount } from "./overview.ts";

/** `seen` are the projects that the caller sees. */
export async function countAppsByCluster(
  db: Queries,
  seen: readonly string[],
): Promise<ReadonlyMap<string, AppCounts>> {
  const { rows } = await sql<AppCounts & { cluster_id: string }>`
    select cluster_id, count(*) as apps, count(*) filter (where phase in ('failed', 'invalid', 'degraded')) as failing
    from apps where project_id = any (${seen}::uuid[]) group by cluster_id
  `.execute(db);
  return new Map(rows.map(({ cluster_id, apps, failing }) => [cluster_id, { apps, failing }]));
}

export async function countContents(
  db: Queries,
  seen: readonly string[],
): Promise<Pick<Counted, "projects" | "apps" | "addonInstances">> {
  const [projects, apps, addonInstances] = await Promise.all([
    sql<StateCount>`
      select lifecycle as state, count(*) as count from projects where id = any (${seen}::uuid[]) group by 1
    `.execute(db),
    sql<StateCount & { drifted: number; blocked: number }>`
      select phase as state, count(*) as count, count(*) filter (where drift_state = 'drifted') as drifted,
        count(*) filter (where drift_state = 'blocked_sync') as blocked
      from apps where project_id = any (${seen}::uuid[]) group by 1
    `.execute(db),
    sql<StateCount>`
      select phase as state, count(*) as count from addon_instances where project_id = any (${seen}::uuid[]) group by 1
    `.execute(db),
  ]);
  return { projects: projects.rows, apps: apps.rows, addonInstances: addonInstances.rows };
}

/** The phase says more than the drift of an object. */
const TROUBLE = sql`case when x.phase in ('failed', 'invalid', 'degraded') then x.phase else x.drift_state end`;

const inTrouble = (kind: "app" | "addon_instance", table: "apps" | "addon_instances", seen: readonly string[]) => sql`
  select ${kind}::text as kind, x.id, x.name, x.namespace, x.project_id, x.cluster_id, ${TROUBLE} as reason,
    case when x.phase in ('failed', 'invalid', 'degraded') then x.phase_message else x.drift_summary end as message,
    case when x.phase in ('failed', 'invalid', 'degraded') then x.phase_since else x.drift_detected_at end as since
  from ${sql.table(table)} x where x.project_id = any (${seen}::uuid[]) and x.phase <> 'deleting'
    and (x.phase in ('failed', 'invalid', 'degraded') or x.drift_state in ('drifted', 'blocked_sync'))`;

/** A project is degraded, or its deletion does not get on. */
const projectsInTrouble = (seen: readonly string[]): RawBuilder<unknown> => sql`
  select 'project', p.id, p.name, p.namespace, p.id, p.cluster_id,
    case when p.lifecycle_reason in ('cleanup_degraded', 'namespace_conflict') then p.lifecycle_reason else 'degraded' end,
    p.lifecycle_message, p.updated_at
  from projects p where p.id = any (${seen}::uuid[])
    and (p.lifecycle = 'degraded' or p.lifecycle_reason = 'cleanup_degraded')`;

/** The contents of projects on clusters that are connected: nobody knows what has become of the others. */
export async function findTrouble(db: Queries, seen: readonly string[], now: Date): Promise<Counted["contents"]> {
  const { rows } = await sql<Found & { total: number }>`
    select t.*, count(*) over () as total from (
      ${inTrouble("app", "apps", seen)}
      union all ${inTrouble("addon_instance", "addon_instances", seen)}
      union all ${projectsInTrouble(seen)}
    ) t join cluster_sessions s on s.cluster_id = t.cluster_id and s.lease_until > ${now}
    order by t.reason = any (${FAILURES}::text[]) desc, t.since nulls last, t.id limit ${MOST_ATTENTION_ITEMS}
  `.execute(db);
  return { found: rows, total: rows[0]?.total ?? 0 };
}

/** The caller's own tokens for the organization, or for everything. No CLI token learns of others. */
export async function findExpiringTokens(db: Queries, caller: Caller, orgId: string, now: Date): Promise<Found[]> {
  if (caller.via !== "user") return [];
  const { rows } = await sql<Found>`
    select 'cli_token' as kind, t.id, t.name, null as namespace, t.project_id, null as cluster_id, 'expires_soon' as reason,
      null as message, t.expires_at as since
    from cli_tokens t left join projects p on p.id = t.project_id
    where t.user_id = ${caller.id} and t.expires_at > ${now} and t.expires_at <= ${soonUntil(now)}
      and coalesce(t.org_id, p.org_id, ${orgId}::uuid) = ${orgId}::uuid
    order by t.expires_at
  `.execute(db);
  return rows;
}
