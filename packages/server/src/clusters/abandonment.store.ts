import { type Selectable, sql } from "kysely";
import { appendAudit } from "../audit/audit.store.ts";
import { type AuditRow, auditRow } from "../audit/audit.ts";
import type { ClusterTable } from "../database/fleet-tables.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { deletionOf } from "../dispatch/kind.ts";
import { activityOf, type Event } from "../events/event.ts";
import { logAnnouncements, logEvents } from "../events/event-log.store.ts";
import { newId } from "../id.adapter.ts";
import { listActiveProjects, markContentsDeleting } from "../projects/project.store.ts";
import { CLUSTER_ABANDONED, CLUSTER_DETACHED, type Project, projectAnnouncement } from "../projects/project.ts";

/** Locks what is on a cluster before the cluster itself is locked: projects before their contents, as everywhere. */
export async function lockContents(tx: Tx, clusterId: string): Promise<void> {
  for (const table of ["projects", "apps", "addon_instances"] as const) {
    await tx.selectFrom(table).select("id").where("cluster_id", "=", clusterId).orderBy("id").forUpdate().execute();
  }
}

/**
 * Marks a cluster and what is on it as given up. Requires the cluster to be locked, so that nothing is added meanwhile.
 * Returns all of its projects, and what its operator must remove and was not asked to remove before.
 */
export async function markAbandoned(tx: Tx, clusterId: string, now: Date, { isDetached = false } = {}) {
  await tx
    .updateTable("clusters")
    .set({ abandoned_at: now, ...(isDetached ? { detach_requested_at: now } : {}), updated_at: now })
    .where("id", "=", clusterId)
    .where("abandoned_at", "is", null)
    .execute();
  const active = await listActiveProjects(tx, clusterId);
  const projects: Project[] = await tx
    .updateTable("projects")
    .set({ ...(isDetached ? CLUSTER_DETACHED : CLUSTER_ABANDONED), updated_at: now })
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "<>", "cleanup_degraded")
    .returningAll()
    .execute();
  return { active, projects, ...(await markContentsDeleting(tx, "cluster_id", clusterId, now)) };
}

export interface CountedContents {
  readonly namespaces: readonly string[];
  readonly apps: number;
  readonly addon_instances: number;
}

export async function countContents(tx: Tx, clusterId: string): Promise<CountedContents> {
  const { rows } = await sql<CountedContents>`
    select array(select namespace from projects where cluster_id = ${clusterId} order by namespace) as namespaces,
      (select count(*) from apps where cluster_id = ${clusterId}) as apps,
      (select count(*) from addon_instances where cluster_id = ${clusterId}) as addon_instances
  `.execute(tx);
  return rows[0] ?? { namespaces: [], apps: 0, addon_instances: 0 };
}

/** Deletes the projects of an abandoned cluster with their contents, before the cluster itself. Others prevent its deletion. */
export function deleteAbandonedProjects(tx: Tx, clusterId: string): Promise<Project[]> {
  return tx
    .deleteFrom("projects")
    .where("cluster_id", "=", clusterId)
    .where("lifecycle", "=", "cleanup_degraded")
    .returningAll()
    .execute();
}

/** Small enough that the locks are held for milliseconds only. */
const BATCH_ROWS = 100;

export interface EndedCluster {
  readonly id: string;
  readonly token_version: number;
  readonly audit: AuditRow;
  /** It is in the event log already. */
  readonly event: Event;
}

/**
 * Ends the records of abandoned clusters whose operator has come back and has removed everything. One that was made by
 * Binnacle stays until its infrastructure is destroyed.
 */
export function endCleanedUp(db: Queries, now: Date): Promise<EndedCluster[]> {
  return inTransaction(db, async (tx) => {
    const found = await tx
      .selectFrom("clusters")
      .select(["id", "org_id", "name", "token_version"])
      .where("abandoned_at", "is not", null)
      // Nothing but the word of its operator ends one that is being detached.
      .where("detach_requested_at", "is", null)
      .where("credential_id", "is", null)
      .whereRef("last_heartbeat", ">", "abandoned_at")
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("projects").select("projects.id").whereRef("projects.cluster_id", "=", "clusters.id"))),
      )
      .limit(BATCH_ROWS)
      .forUpdate()
      .skipLocked()
      .execute();
    return endRecords(tx, found, { confirmed_by_cluster: true }, now);
  });
}

type Ending = Pick<Selectable<ClusterTable>, "id" | "org_id" | "name" | "token_version">;

/** Ends the records of clusters without projects, with an audit entry of the system. */
async function endRecords(
  tx: Tx,
  found: readonly Ending[],
  changes: Readonly<Record<string, unknown>>,
  now: Date,
): Promise<EndedCluster[]> {
  const ended = found.map(({ id, org_id, name, token_version }) => {
    const resource = { type: "cluster", id, name };
    const record = { action: "cluster.delete", resource, orgId: org_id, changes };
    const system = { actor: { id: null, email: null, via: "system" as const }, sourceAddress: null, requestId: null };
    const audit = auditRow(record, system, newId(), now);
    return { id, token_version, audit, event: activityOf(audit, null) };
  });
  if (ended.length === 0) return [];
  await logEvents(
    tx,
    ended.map(({ event }) => event),
  );
  await appendAudit(
    tx,
    ended.map(({ audit }) => audit),
  );
  await tx
    .deleteFrom("clusters")
    .where(
      "id",
      "in",
      ended.map(({ id }) => id),
    )
    .execute();
  return ended;
}

/**
 * Takes clusters that are being detached and whose operator is connected, those first that were not asked for longest, so that none waits for
 * operators that never let go. Another replica does not ask them before `everyMs` are over.
 */
export async function takeDetaching(
  db: Queries,
  { atOnce, everyMs }: { readonly atOnce: number; readonly everyMs: number },
): Promise<readonly { readonly id: string }[]> {
  const { rows } = await sql<{ readonly id: string }>`
    update clusters set detach_asked_at = now() where id = any (array(
      select c.id from clusters c join cluster_sessions session on session.cluster_id = c.id
      where c.detach_requested_at is not null and session.lease_until > now()
        and (c.detach_asked_at is null or c.detach_asked_at <= now() - ${everyMs}::double precision * interval '1 millisecond')
      order by c.detach_asked_at nulls first, c.detach_requested_at, c.id
      limit ${atOnce} for no key update of c skip locked
    )) returning id
  `.execute(db);
  return rows;
}

export async function saveDetachMessage(db: Queries, id: string, message: string, now: Date): Promise<void> {
  await db
    .updateTable("clusters")
    .set({ detach_message: message, updated_at: now })
    .where("id", "=", id)
    .where("detach_message", "is distinct from", message)
    .execute();
}

const NO_CONNECTION = { last_heartbeat: null, session_lease_until: null };

/** Ends the record of a cluster that its operator has let go of, with those of its projects. */
export function endDetached(db: Queries, id: string, now: Date) {
  return inTransaction(db, async (tx) => {
    await lockContents(tx, id);
    const found = await tx
      .selectFrom("clusters")
      .select(["id", "org_id", "name", "token_version"])
      .where("id", "=", id)
      .where("detach_requested_at", "is not", null)
      .forUpdate()
      .execute();
    if (found.length === 0) return { ended: [], events: [] };
    const projects = await deleteAbandonedProjects(tx, id);
    const namespaces = projects.map(({ namespace }) => namespace).sort();
    const ended = await endRecords(tx, found, { detached: true, namespaces, confirmed_by_cluster: true }, now);
    const gone = projects.map((project) => deletionOf(projectAnnouncement(project, NO_CONNECTION, now)));
    return { ended, events: await logAnnouncements(tx, gone, now) };
  });
}
