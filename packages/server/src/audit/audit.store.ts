import type { Queries } from "../database/transaction.ts";
import type { AuditRow } from "./audit.ts";

export async function appendAudit(db: Queries, rows: readonly AuditRow[]): Promise<void> {
  const values = rows.map((row) => ({ ...row, changes: JSON.stringify(row.changes) }));
  await db.insertInto("audit_log").values(values).execute();
}

export function listAudit(db: Queries, orgId: string, page: { limit: number; offset: number }): Promise<AuditRow[]> {
  return db
    .selectFrom("audit_log")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}
