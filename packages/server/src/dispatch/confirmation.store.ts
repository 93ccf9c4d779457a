import { setTimeout as pause } from "node:timers/promises";
import type { Queries } from "../database/transaction.ts";
import type { DispatchedResource } from "./dispatch.ts";

type Resource = Pick<DispatchedResource, "kind" | "resourceId">;

/** Short enough for a caller who waits, and one statement by primary key each time. */
const LOOK_EVERY_MS = 100;

/**
 * Waits until the cluster has stored the newest generation of a resource. The answer is read from the database, so that a
 * lost hint or session costs time and nothing else. False where the cluster has not confirmed it in time.
 */
export async function confirmedWithin(
  db: Queries,
  clusterId: string,
  resource: Resource,
  withinMs: number,
): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await isConfirmed(db, clusterId, resource))) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) return false;
    await pause(Math.min(LOOK_EVERY_MS, leftMs));
  }
  return true;
}

/** A row that is gone belonged to a removal that the cluster has completed. */
async function isConfirmed(db: Queries, clusterId: string, { kind, resourceId }: Resource): Promise<boolean> {
  const row = await db
    .selectFrom("desired_resources")
    .select(["generation", "acked_generation"])
    .where("cluster_id", "=", clusterId)
    .where("kind", "=", kind)
    .where("resource_id", "=", resourceId)
    .executeTakeFirst();
  return row === undefined || row.acked_generation === row.generation;
}
