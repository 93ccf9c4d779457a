import type { Queries } from "../database/transaction.ts";
import type { TaskJob } from "./task.ts";

export function findTaskJob(db: Queries, id: string): Promise<TaskJob | undefined> {
  return db
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
    .where("id", "=", id)
    .executeTakeFirst();
}
