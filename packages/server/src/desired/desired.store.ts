import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import type { DesiredResource, Raised } from "./desired.ts";

/**
 * Says, in the transaction that changes a resource, that its cluster is to be told: the resource's generation and the
 * cluster's revision go up together. The cluster's row is locked from here to the commit, so call it last: everything
 * that is locked before it is locked in one order.
 */
export function raiseDesired(tx: Tx, resource: DesiredResource, now: Date): Promise<Raised> {
  return write(tx, resource, now, null);
}

/** Leaves a tombstone: the cluster is told until the operator has confirmed that the resource is gone. */
export function retireDesired(tx: Tx, resource: DesiredResource, now: Date): Promise<Raised> {
  return write(tx, resource, now, now);
}

type ResourceOfCluster = Omit<DesiredResource, "clusterId">;

/**
 * Raises many at one revision of their cluster. They are looked up once its row is locked: what another transaction is
 * making meanwhile waits for the lock, and is raised by that one.
 */
export async function raiseEachDesired(
  tx: Tx,
  clusterId: string,
  lookUp: () => Promise<readonly ResourceOfCluster[]>,
  now: Date,
): Promise<void> {
  const revision = await nextRevision(tx, clusterId);
  await upsert(tx, { clusterId, revision, now, removedAt: null }, await lookUp());
}

/** Leaves a tombstone of each, at one revision of their cluster. */
export async function retireEachDesired(
  tx: Tx,
  clusterId: string,
  resources: readonly ResourceOfCluster[],
  now: Date,
): Promise<void> {
  const revision = await nextRevision(tx, clusterId);
  await upsert(tx, { clusterId, revision, now, removedAt: now }, resources);
}

async function write(tx: Tx, { clusterId, ...resource }: DesiredResource, now: Date, removedAt: Date | null) {
  const revision = await nextRevision(tx, clusterId);
  const [generation = 1] = await upsert(tx, { clusterId, revision, now, removedAt }, [resource]);
  return { generation, revision };
}

async function nextRevision(tx: Tx, clusterId: string): Promise<number> {
  const { revision } = await tx
    .updateTable("clusters")
    .set({ revision: sql`revision + 1` })
    .where("id", "=", clusterId)
    .returning("revision")
    .executeTakeFirstOrThrow();
  return revision;
}

interface Writing {
  readonly clusterId: string;
  readonly revision: number;
  readonly now: Date;
  readonly removedAt: Date | null;
}

/** One statement, however many there are; the generations they have now, in no order. */
async function upsert(
  tx: Tx,
  { clusterId, revision, now, removedAt }: Writing,
  resources: readonly ResourceOfCluster[],
): Promise<number[]> {
  const kinds = resources.map(({ kind }) => kind);
  const ids = resources.map(({ resourceId }) => resourceId);
  const keys = resources.map(({ key }) => key);
  const { rows } = await sql<{ generation: number }>`
    insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, removed_at, updated_at)
    select ${clusterId}::uuid, kind, resource_id, key, 1, ${revision}::bigint, ${removedAt}::timestamptz, ${now}::timestamptz
    from unnest(${kinds}::text[], ${ids}::uuid[], ${keys}::text[]) as given (kind, resource_id, key)
    on conflict (cluster_id, kind, resource_id) do update
      set generation = desired_resources.generation + 1, revision = excluded.revision,
        removed_at = excluded.removed_at, updated_at = excluded.updated_at
    returning generation
  `.execute(tx);
  return rows.map(({ generation }) => generation);
}
