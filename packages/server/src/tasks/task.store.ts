import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import { jobKindOf, type TaskJob } from "./task.ts";

export function findTaskJob(db: Queries, id: string): Promise<TaskJob | undefined> {
  return (
    db
      .selectFrom("jobs")
      .select([
        "id",
        "kind",
        "status",
        "attempts",
        "result",
        "error_message",
        "created_by",
        "created_at",
        "updated_at",
        "started_at",
        "finished_at",
      ])
      // A task about a cluster belongs to the organization of the cluster.
      .select(
        sql<string | null>`case when kind = ${jobKindOf("resync_cluster")}
        then (select org_id from clusters where id = (payload->>'cluster_id')::uuid) end`.as("org_id"),
      )
      .where("id", "=", id)
      .executeTakeFirst()
  );
}
