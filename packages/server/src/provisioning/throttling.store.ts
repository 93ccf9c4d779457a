import { sql } from "kysely";
import { lockCluster } from "../clusters/cluster.store.ts";
import type { Queries } from "../database/transaction.ts";
import type { ProvisioningJob } from "./provisioning.ts";
import { type Moved, movedCluster, type RunHold, whileHeld } from "./provisioning-run.store.ts";

/** The job is pending again, and nobody has to do anything for it. Its queued job is put back by whoever holds it. */
export function waitForCloud(
  db: Queries,
  hold: RunHold,
  { id, cluster_id }: Pick<ProvisioningJob, "id" | "cluster_id">,
  { until, isForSnapshot = false }: { readonly until: Date; readonly isForSnapshot?: boolean },
  now: Date,
): Promise<Moved> {
  const waits = isForSnapshot
    ? { snapshot_wait_since: sql<Date>`coalesce(snapshot_wait_since, ${now})` }
    : { throttles: sql<number>`throttles + 1`, throttled_since: sql<Date>`coalesce(throttled_since, ${now})` };
  return whileHeld(db, hold, async (tx) => {
    const before = await lockCluster(tx, cluster_id);
    await tx
      .updateTable("provisioning_jobs")
      .set({ status: "pending", ...waits, retry_at: until, updated_at: now })
      .where("id", "=", id)
      .execute();
    return movedCluster(tx, before, now);
  });
}

/** As they are by now: a run that has come to its plan begins to count anew. */
export function readThrottles(
  db: Queries,
  { id }: Pick<ProvisioningJob, "id">,
): Promise<Pick<ProvisioningJob, "throttles" | "throttled_since"> | undefined> {
  return db
    .selectFrom("provisioning_jobs")
    .select(["throttles", "throttled_since"])
    .where("id", "=", id)
    .executeTakeFirst();
}
