import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";

export const OVERDUE_MESSAGE = "The app was not running in time.";

/** Deployments that had to be done by a time and are not. Rows that another replica works on are left to it. */
export async function failOverdueDeployments(db: Queries, now: Date): Promise<void> {
  await sql`
    update app_deployments set status = 'failed', message = ${OVERDUE_MESSAGE}, finished_at = ${now}, updated_at = ${now}
    where id = any (array(
      select id from app_deployments where status = 'pending' and deadline_at <= ${now}
      order by deadline_at limit 1000 for update skip locked
    ))
  `.execute(db);
}
