import type { Tx } from "../database/transaction.ts";
import { refuseSuspended } from "../suspensions/suspension.ts";
import type { App } from "./app.ts";

/** Moves the pending deployment of an app along to its next generation. False where none is pending. */
export async function movePending(
  tx: Tx,
  { id, generation, updated_at }: Pick<App, "id" | "generation" | "updated_at">,
  deadline: Date | null,
): Promise<boolean> {
  const moved = await tx
    .updateTable("app_deployments")
    .set({ generation, deadline_at: deadline, updated_at })
    .where("app_id", "=", id)
    .where("status", "=", "pending")
    .returning("id")
    .execute();
  return moved.length > 0;
}

/** Throws the 409 where an app of the project is suspended. Requires the project to be locked. */
export async function refuseSuspendedApps(tx: Tx, projectId: string): Promise<void> {
  const found = await tx
    .selectFrom("apps")
    .select(["name", "suspended_at"])
    .where("project_id", "=", projectId)
    .where("suspended_at", "is not", null)
    .where("phase", "<>", "deleting")
    .orderBy("name")
    .limit(1)
    .executeTakeFirst();
  if (found) refuseSuspended(found, {});
}
