import type { ClusterFacts, LinkSettings } from "@binnacle/contract";
import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import type { Fence } from "./ports.ts";

/**
 * A hub renews the lease of its sessions three times within this time. Leases are written and judged by the clock of the database:
 * a process whose own clock jumps would take the sessions of all others for dead.
 */
export const LEASE_MS = 30_000;
const LEASE = sql`now() + ${sql.lit(LEASE_MS)} * interval '1 millisecond'`;

/** How other processes reach a hub. */
export interface HubAddress {
  readonly id: string;
  readonly url: string;
}

export interface Arrival {
  readonly clusterId: string;
  readonly tokenVersion: number;
  readonly operatorVersion: string;
  readonly facts: ClusterFacts;
  readonly canUpgrade: boolean;
  readonly suspends: boolean;
  readonly detaches: boolean;
}

export type Admission =
  | { readonly refused: "deleted" | "revoked" }
  | {
      readonly refused: null;
      readonly epoch: number;
      readonly orgId: string;
      readonly clusterName: string;
      readonly driftPolicy: LinkSettings["drift_policy"];
      /** It was given up, and its operator is only to clean up. */
      readonly isAbandoned: boolean;
      /** The values before the admission. They tell whether the status of the cluster has changed. */
      readonly leaseBefore: Date | null;
      readonly firstConnectedBefore: Date | null;
    };

interface AdmissionRow {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly deletion_requested_at: Date | null;
  readonly abandoned_at: Date | null;
  readonly first_connected_at: Date | null;
  readonly drift_policy: string | null;
  readonly lease_until: Date | null;
  readonly epoch: number | null;
}

/** Registers a session of the cluster in place of any earlier one, or says why not. Waits while the cluster is locked. */
export async function admit(db: Queries, hub: HubAddress, arrival: Arrival, now: Date): Promise<Admission> {
  const admitted = await registerAll(db, hub, [arrival], now, { mayWait: true });
  return admitted.get(arrival.clusterId) ?? { refused: "deleted" };
}

/**
 * Registers sessions of many clusters, one of each. Clusters that are locked, or whose sessions are, or that are not there are missing from
 * the result: waiting for one while holding the others would hold up their changes too.
 */
export function admitTogether(
  db: Queries,
  hub: HubAddress,
  arrivals: readonly Arrival[],
  now: Date,
): Promise<ReadonlyMap<string, Admission>> {
  return registerAll(db, hub, arrivals, now, { mayWait: false });
}

/** Locks the sessions of clusters; those that are `locked` by others are left out, as by reports that are being stored. */
const freeSessions = (clusters: "seen" | "held") => sql`
    existing as materialized (
      select cluster_id, hub_id, epoch from cluster_sessions where cluster_id in (select id from ${sql.raw(clusters)})
    ), free as materialized (
      select cluster_id from cluster_sessions where cluster_id in (select id from ${sql.raw(clusters)})
      order by cluster_id for update skip locked
    ), locked as (
      select cluster_id, hub_id, epoch from existing where cluster_id not in (select cluster_id from free)
    )`;

/**
 * One statement. The rows of the clusters are locked before they are read, so that either a floor that is being raised is
 * seen here, or raising it finds the session. Both tables are locked in the order of ids, as by the renewal of leases.
 */
async function registerAll(
  db: Queries,
  hub: HubAddress,
  arrivals: readonly Arrival[],
  now: Date,
  { mayWait }: { readonly mayWait: boolean },
): Promise<ReadonlyMap<string, Admission>> {
  const { rows } = await sql<AdmissionRow>`
    with given as (
      select * from unnest(${arrivals.map(({ clusterId }) => clusterId)}::uuid[],
        ${arrivals.map(({ tokenVersion }) => tokenVersion)}::integer[],
        ${arrivals.map(({ operatorVersion }) => operatorVersion)}::text[],
        ${arrivals.map(({ facts }) => JSON.stringify(facts))}::jsonb[],
        ${arrivals.map(({ canUpgrade }) => canUpgrade)}::boolean[],
        ${arrivals.map(({ suspends }) => suspends)}::boolean[], ${arrivals.map(({ detaches }) => detaches)}::boolean[])
        as given (id, token_version, operator_version, facts, can_upgrade, suspends, detaches)
    ), seen as materialized (
      select id, org_id, name, token_floor, deletion_requested_at, abandoned_at, first_connected_at
      from clusters where id = any (${arrivals.map(({ clusterId }) => clusterId)}::uuid[])
      order by id for no key update ${mayWait ? sql`` : sql`skip locked`}
    ), ${mayWait ? sql`locked as (select null::uuid as cluster_id where false)` : freeSessions("seen")}, taken as (
      insert into cluster_sessions (cluster_id, hub_id, hub_url, epoch, token_version, lease_until, started_at)
      select id, ${hub.id}, ${hub.url}, nextval('session_epochs'), token_version, ${LEASE}, now()
      from seen join given using (id)
      where token_floor <= token_version and deletion_requested_at is null and id not in (select cluster_id from locked)
      order by id
      on conflict (cluster_id) do update set hub_id = excluded.hub_id, hub_url = excluded.hub_url, epoch = excluded.epoch,
        token_version = excluded.token_version, lease_until = excluded.lease_until, started_at = excluded.started_at
      returning cluster_id, epoch
    ), noted as (
      update clusters set first_connected_at = coalesce(first_connected_at, ${now}::timestamptz),
        last_heartbeat = ${now}::timestamptz, operator_version = given.operator_version, self_upgrade = given.can_upgrade,
        suspends = given.suspends, detaches = given.detaches,
        kubernetes_version = facts ->> 'kubernetes_version', node_count = (facts ->> 'node_count')::integer,
        capacity = facts -> 'capacity'
      from taken join given on given.id = taken.cluster_id
      where clusters.id = taken.cluster_id
    )
    select seen.id, seen.org_id, seen.name, seen.deletion_requested_at, seen.abandoned_at, seen.first_connected_at, taken.epoch,
      before.lease_until, orgs.settings ->> 'drift_policy' as drift_policy
    from seen
    join orgs on orgs.id = seen.org_id
    left join taken on taken.cluster_id = seen.id
    left join cluster_sessions before on before.cluster_id = seen.id
    where seen.id not in (select cluster_id from locked)
  `.execute(db);
  return new Map(rows.map((row) => [row.id, admissionOf(row)]));
}

function admissionOf(row: AdmissionRow): Admission {
  if (row.deletion_requested_at !== null) return { refused: "deleted" };
  if (row.epoch === null) return { refused: "revoked" };
  return {
    refused: null,
    epoch: row.epoch,
    orgId: row.org_id,
    clusterName: row.name,
    driftPolicy: driftPolicyOf(row.drift_policy),
    isAbandoned: row.abandoned_at !== null,
    leaseBefore: row.lease_until,
    firstConnectedBefore: row.first_connected_at,
  };
}

const driftPolicyOf = (setting: string | null): LinkSettings["drift_policy"] =>
  setting === "report" ? "report" : "heal";

export interface HeldSession {
  readonly clusterId: string;
  readonly epoch: number;
  readonly tokenVersion: number;
  /** Null where none has come since the last one was stored. */
  readonly heartbeatAt: Date | null;
}

/**
 * Renews the leases of all sessions of a hub and stores their heartbeats, in one statement. Sessions that are not `kept`
 * do not belong to this hub any more: superseded, revoked, or of a cluster that is gone. A row that was deleted as lapsed
 * while the database was unreachable is inserted again. Sessions and clusters that are locked are skipped: waiting for one while
 * holding the others would hold up all of them. Such a session is kept, and its lease is renewed the next time.
 */
export async function renewLeases(
  db: Queries,
  hub: HubAddress,
  held: readonly HeldSession[],
): Promise<{ readonly kept: ReadonlySet<string>; readonly revived: readonly string[] }> {
  const { rows } = await sql<{ cluster_id: string; is_new: boolean }>`
    with held as (
      select * from unnest(${held.map(({ clusterId }) => clusterId)}::uuid[], ${held.map(({ epoch }) => epoch)}::bigint[],
        ${held.map(({ tokenVersion }) => tokenVersion)}::integer[],
        ${held.map(({ heartbeatAt }) => heartbeatAt)}::timestamptz[]) as held (id, epoch, token_version, heartbeat_at)
    ), ${freeSessions("held")}, renewed as (
      insert into cluster_sessions (cluster_id, hub_id, hub_url, epoch, token_version, lease_until, started_at)
      select id, ${hub.id}, ${hub.url}, epoch, held.token_version, ${LEASE}, now()
      from held join clusters using (id)
      where clusters.token_floor <= held.token_version and deletion_requested_at is null and id not in (select cluster_id from locked)
      order by id
      on conflict (cluster_id) do update set lease_until = excluded.lease_until, token_version = excluded.token_version
        where cluster_sessions.hub_id = excluded.hub_id and cluster_sessions.epoch = excluded.epoch
      returning cluster_id, xmax = 0 as is_new
    ), noted as (
      update clusters set last_heartbeat = held.heartbeat_at
      from held
      where clusters.id = held.id and clusters.id = any (array(
        select id from clusters join held using (id)
        where held.heartbeat_at is not null and id in (select cluster_id from renewed)
        order by id for no key update of clusters skip locked
      ))
    )
    select cluster_id, is_new from renewed
    union all select cluster_id, false from locked join held on held.id = cluster_id
      where locked.hub_id = ${hub.id} and locked.epoch = held.epoch
  `.execute(db);
  return {
    kept: new Set(rows.map(({ cluster_id }) => cluster_id)),
    revived: rows.filter(({ is_new }) => is_new).map(({ cluster_id }) => cluster_id),
  };
}

/** Deletes the sessions that are still registered, in the order in which others lock them, and returns their clusters. */
export async function releaseSessions(db: Queries, fences: readonly Fence[]): Promise<string[]> {
  const { rows } = await sql<{ cluster_id: string }>`
    delete from cluster_sessions where cluster_id = any (array(
      select session.cluster_id from cluster_sessions session
      join unnest(${fences.map(({ clusterId }) => clusterId)}::uuid[], ${fences.map(({ hubId }) => hubId)}::text[],
        ${fences.map(({ epoch }) => epoch)}::bigint[]) as given (cluster_id, hub_id, epoch)
        on session.cluster_id = given.cluster_id and session.hub_id = given.hub_id and session.epoch = given.epoch
      order by session.cluster_id for update of session
    ))
    returning cluster_id
  `.execute(db);
  return rows.map(({ cluster_id }) => cluster_id);
}

/** Deletes a batch of sessions whose lease has run out, and returns their clusters. */
export async function clearLapsed(db: Queries, limit: number): Promise<string[]> {
  const { rows } = await sql<{ cluster_id: string }>`
    delete from cluster_sessions where cluster_id = any (array(
      select cluster_id from cluster_sessions where lease_until <= now()
      order by cluster_id limit ${limit} for update skip locked
    ))
    returning cluster_id
  `.execute(db);
  return rows.map(({ cluster_id }) => cluster_id);
}

export interface ReportedFacts {
  readonly fence: Fence;
  readonly facts: ClusterFacts;
}

/** Stores the facts of many clusters at once, and returns those that were stored. A cluster that is locked is skipped. */
export async function storeFacts(db: Queries, given: readonly ReportedFacts[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    with given as (
      select * from unnest(${given.map(({ fence }) => fence.clusterId)}::uuid[],
        ${given.map(({ fence }) => fence.hubId)}::text[], ${given.map(({ fence }) => fence.epoch)}::bigint[],
        ${given.map(({ facts }) => JSON.stringify(facts))}::jsonb[]) as given (cluster_id, hub_id, epoch, facts)
    ), free as (
      select clusters.id, facts from clusters
      join given on given.cluster_id = clusters.id
      join cluster_sessions session on session.cluster_id = clusters.id and session.hub_id = given.hub_id
        and session.epoch = given.epoch
      order by clusters.id for no key update of clusters skip locked
    )
    update clusters set kubernetes_version = facts ->> 'kubernetes_version',
      node_count = (facts ->> 'node_count')::integer, capacity = facts -> 'capacity'
    from free where clusters.id = free.id
    returning clusters.id
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** The drift policies by organization. */
export async function driftPolicies(
  db: Queries,
  orgIds: readonly string[],
): Promise<ReadonlyMap<string, LinkSettings["drift_policy"]>> {
  const { rows } = await sql<{ id: string; drift_policy: string | null }>`
    select id, settings ->> 'drift_policy' as drift_policy from orgs where id = any (${orgIds}::uuid[])
  `.execute(db);
  return new Map(rows.map(({ id, drift_policy }) => [id, driftPolicyOf(drift_policy)]));
}

/** The hub that holds the session of a cluster, or null. A hub of the version before has no address. */
export async function findHub(db: Queries, clusterId: string): Promise<HubAddress | null> {
  const session = await db
    .selectFrom("cluster_sessions")
    .select(["hub_id", "hub_url"])
    .where("cluster_id", "=", clusterId)
    .where("lease_until", ">", sql<Date>`now()`)
    .executeTakeFirst();
  return session ? { id: session.hub_id, url: session.hub_url ?? "" } : null;
}

export async function findRevision(db: Queries, clusterId: string): Promise<number> {
  const clusters = db.selectFrom("clusters").select("revision").where("id", "=", clusterId);
  return (await clusters.executeTakeFirstOrThrow()).revision;
}
