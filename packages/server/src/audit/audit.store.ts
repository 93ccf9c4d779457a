import { MOST_COUNTED, MOST_EXPORTED_ENTRIES } from "@binnacle/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { insertOf } from "../database/insert.store.ts";
import { keepPartitions, mixedPartitions } from "../database/partitions.store.ts";
import { AUDIT_LOG, smallestId } from "../database/partitions.ts";
import { type Bound, readBounded, runTogether } from "../database/prepared.adapter.ts";
import { keptUntil } from "../database/retention.store.ts";
import { totalRows } from "../database/row-count.store.ts";
import type { Queries } from "../database/transaction.ts";
import { ENOUGH_CHARACTERS } from "../http/pagination.ts";
import type { AuditRow } from "./audit.ts";

/** The statements that write the entries, for a change that sends them with others. */
export const auditStatements = (rows: readonly AuditRow[]): Bound[] =>
  rows.map((row) => insertOf({ audit_log: { ...row, changes: JSON.stringify(row.changes) } }));

export async function appendAudit(db: Queries, rows: readonly AuditRow[]): Promise<void> {
  await runTogether(db, auditStatements(rows));
}

const DAY_MS = 86_400_000;

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
  // PostgreSQL finds the beginning in the index of actions if it is a pattern.
  if (filter.action) query = query.where("action", "like", `${filter.action.replace(/[\\%_]/g, "\\$&")}%`);
  if (filter.actor_id !== undefined) query = query.where("actor_id", "=", filter.actor_id);
  if (filter.resource_type) query = query.where("resource_type", "=", filter.resource_type);
  if (filter.resource_id) query = query.where("resource_id", "=", filter.resource_id);
  if (filter.since !== undefined) query = query.where("at", ">=", new Date(filter.since));
  if (filter.until !== undefined) query = query.where("at", "<", new Date(filter.until));
  return query;
}

interface Window {
  readonly limit: number;
  readonly offset: number;
  /** The id of the entry before the first. */
  readonly behind: string | null;
}

/**
 * Newest first, by the time: so PostgreSQL reads an organization's entries from any time on from the index of times. The ids of a
 * process whose clock is wrong are in another order.
 */
export function auditEntries(db: Queries, orgId: string, filter: AuditFilter, { limit, offset, behind }: Window) {
  const ordered = matching(db, orgId, filter).selectAll().orderBy("at", "desc").orderBy("id", "desc").limit(limit);
  if (behind === null) return ordered.offset(offset);
  const last = sql`from audit_log last where last.id = ${behind}::uuid`;
  return ordered
    .where("at", "<=", sql<Date>`(select last.at ${last})`)
    .where(sql<SqlBool>`(at, id) < (select last.at, last.id ${last})`);
}

export const listAudit = (
  db: Queries,
  ...asked: [orgId: string, filter: AuditFilter, window: Window]
): Promise<AuditRow[]> => readBounded(db, auditEntries(db, ...asked).compile(), ENOUGH_CHARACTERS);

export interface ExportRange extends Pick<AuditFilter, "since" | "until"> {
  /** The id of the entry before the first. */
  readonly cursor?: string | undefined;
}

/**
 * Oldest first, by the ids. A range of times is one of ids, so that other months are not looked into; a day is left for clocks that
 * were set while an entry was made. Entries whose ids are not older than `settled` may not all be there yet.
 */
function exported(db: Queries, orgId: string, { cursor, ...times }: ExportRange, settled: Date) {
  const since = times.since === undefined ? undefined : new Date(Date.parse(times.since) - DAY_MS);
  const until = times.until === undefined ? undefined : new Date(Date.parse(times.until) + DAY_MS);
  const end = until && until < settled ? until : settled;
  let query = matching(db, orgId, times).where("id", "<", smallestId(end));
  if (cursor !== undefined) query = query.where("id", ">", cursor);
  if (since !== undefined) query = query.where("id", ">=", smallestId(since));
  return query.orderBy("id");
}

/** The next entries, and whether more follow them. */
export async function exportAudit(
  db: Queries,
  orgId: string,
  range: ExportRange,
  settled: Date,
): Promise<{ readonly rows: AuditRow[]; readonly isEnd: boolean }> {
  const asked = exported(db, orgId, range, settled).selectAll().limit(MOST_EXPORTED_ENTRIES);
  const rows = await readBounded<AuditRow>(db, asked.compile(), ENOUGH_CHARACTERS);
  const last = rows.at(-1);
  const next =
    last &&
    exported(db, orgId, { ...range, cursor: last.id }, settled)
      .select("id")
      .limit(1);
  return { rows, isEnd: !next || (await next.execute()).length === 0 };
}

/** The total of the whole log is kept; with a filter the entries are counted, one beyond the most that are told. */
export async function countAudit(db: Queries, orgId: string, filter: AuditFilter): Promise<number> {
  if (!Object.values(filter).some(Boolean)) return totalRows(db, "audit_log", orgId);
  const found = matching(db, orgId, filter)
    .select(sql`1`.as("found"))
    .limit(MOST_COUNTED + 1);
  const { total } = await db
    .selectFrom(found.as("found"))
    .select((count) => count.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return total;
}

/** Few enough that a batch holds its locks for milliseconds only. */
const DELETED_AT_ONCE = 1_000;
/** A log with millions of old entries, as after the setting was changed, is deleted over some rounds. */
const BATCHES_AT_ONCE = 20;

/** Months whose entries are all older go at once; without a number of days all are kept. */
export async function keepAuditLog(db: Queries, retentionDays: number, stop?: AbortSignal): Promise<void> {
  await deleteOldAudit(db, retentionDays);
  await keepPartitions(db, AUDIT_LOG, retentionDays === 0 ? null : retentionDays * DAY_MS, stop);
}

/**
 * Deletes older entries of all organizations that are in no partition of a month: those from before there were any. They are found by
 * their ids. One whose process had a clock that was ahead is deleted later, and none too early.
 */
export async function deleteOldAudit(db: Queries, retentionDays: number): Promise<void> {
  if (retentionDays === 0) return;
  for (const partition of await mixedPartitions(db, AUDIT_LOG)) await deleteFrom(db, partition, retentionDays * DAY_MS);
}

/** The entries are deleted through the table, whose triggers keep the totals. */
async function deleteFrom(db: Queries, partition: string, keptMs: number): Promise<void> {
  const before = keptUntil(keptMs);
  for (let batch = 1, deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE && batch <= BATCHES_AT_ONCE; batch += 1) {
    const { numAffectedRows = 0n } = await sql`
      delete from audit_log where id = any (array(
        select id from ${sql.table(partition)} where id < ${smallestIdAt(before)} and at < ${before} order by id limit ${DELETED_AT_ONCE}
        for update skip locked
      ))`.execute(db);
    deleted = Number(numAffectedRows);
  }
}

/** The same as `smallestId`, of a time that the statement says. */
const smallestIdAt = (at: RawBuilder<Date>) =>
  sql`rpad(lpad(to_hex(greatest(0, floor(extract(epoch from ${at}) * 1000))::bigint), 12, '0'), 32, '0')::uuid`;
