import { type SqlBool, sql } from "kysely";
import { insertRows } from "../database/insert.store.ts";
import { readBounded } from "../database/prepared.adapter.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import type { AuditRow } from "./audit.ts";

export async function appendAudit(db: Queries, rows: readonly AuditRow[]): Promise<void> {
  const values = rows.map((row) => ({ ...row, changes: JSON.stringify(row.changes) }));
  const [entry] = values;
  // Nearly every change leaves one entry.
  if (entry && values.length === 1) await insertRows(db, { audit_log: entry });
  else await db.insertInto("audit_log").values(values).execute();
}

export interface AuditFilter {
  /** The beginning of an action. */
  readonly action?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

function matching(db: Queries, orgId: string, filter: AuditFilter) {
  let query = db.selectFrom("audit_log").where("org_id", "=", orgId);
  if (filter.action) query = query.where(sql<SqlBool>`starts_with(action, ${filter.action})`);
  if (filter.actor_id !== undefined) query = query.where("actor_id", "=", filter.actor_id);
  if (filter.resource_type) query = query.where("resource_type", "=", filter.resource_type);
  if (filter.resource_id) query = query.where("resource_id", "=", filter.resource_id);
  if (filter.since !== undefined) query = query.where("at", ">=", new Date(filter.since));
  if (filter.until !== undefined) query = query.where("at", "<", new Date(filter.until));
  return query;
}

export function listAudit(
  db: Queries,
  orgId: string,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<AuditRow[]> {
  const entries = matching(db, orgId, filter).selectAll().orderBy("id", "desc").limit(page.limit).offset(page.offset);
  return readBounded(db, entries, ENOUGH_CHARACTERS);
}

/** The total of the whole log is kept; with a filter the entries are counted. */
export async function countAudit(db: Queries, orgId: string, filter: AuditFilter): Promise<number> {
  if (!Object.values(filter).some(Boolean)) return totalRows(db, "audit_log", orgId);
  const { total } = await matching(db, orgId, filter)
    .select((count) => count.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}
