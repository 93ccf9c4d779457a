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

/** The operator has confirmed the absence. */
export async function forgetDesired(tx: Tx, { clusterId, kind, resourceId }: DesiredResource): Promise<void> {
  await tx
    .deleteFrom("desired_resources")
    .where("cluster_id", "=", clusterId)
    .where("kind", "=", kind)
    .where("resource_id", "=", resourceId)
    .execute();
}

async function write(tx: Tx, { clusterId, kind, resourceId, key }: DesiredResource, now: Date, removedAt: Date | null) {
  const { revision } = await tx
    .updateTable("clusters")
    .set({ revision: sql`revision + 1` })
    .where("id", "=", clusterId)
    .returning("revision")
    .executeTakeFirstOrThrow();
  const { generation } = await tx
    .insertInto("desired_resources")
    .values({
      cluster_id: clusterId,
      kind,
      resource_id: resourceId,
      key,
      generation: 1,
      revision,
      removed_at: removedAt,
      updated_at: now,
    })
    .onConflict((on) =>
      on.columns(["cluster_id", "kind", "resource_id"]).doUpdateSet({
        generation: sql`desired_resources.generation + 1`,
        revision,
        removed_at: removedAt,
        updated_at: now,
      }),
    )
    .returning("generation")
    .executeTakeFirstOrThrow();
  return { generation, revision };
}
