import { sql } from "kysely";
import { ACCESS_TOPIC, type AccessChange } from "../access/access-change.ts";
import { type Bound, runTogether } from "../database/prepared.adapter.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { type Announcement, EVENTS_TOPIC, type Event, eventOf } from "./event.ts";
import {
  type Entry,
  type EventLog,
  type Head,
  KEPT,
  type Missed,
  NO_ORG,
  type Orgs,
  PAGE_ROWS,
  type Pruned,
} from "./event-log.ts";

const INSERT = `
  insert into event_log (topic, org_id, bytes, message)
  select topic, org_id, octet_length(message), message
  from unnest($1::text[], $2::uuid[], $3::text[]) with ordinality as given (topic, org_id, message, place) order by place`;

/** The statement that writes events, behind the changes of access that come with them. */
export function logStatements(events: readonly Event[], accessChanges: readonly AccessChange[] = []): Bound[] {
  const rows = [
    ...accessChanges.map((change) => ({ topic: ACCESS_TOPIC, org_id: null, message: change })),
    // One about an account is also for its user, who may no longer belong to the organization.
    ...events.map((event) => ({ topic: EVENTS_TOPIC, org_id: event.user_id ? null : event.org_id, message: event })),
  ];
  if (rows.length === 0) return [];
  const values = [
    rows.map((row) => row.topic),
    rows.map((row) => row.org_id),
    rows.map((row) => JSON.stringify(row.message)),
  ];
  return [{ text: INSERT, values }];
}

/** Requires the transaction of what the events tell, or a process that dies between the two loses them. */
export async function logEvents(db: Queries, events: readonly Event[]): Promise<void> {
  if (events.length > 0) await runTogether(db, logStatements(events));
}

/** Makes events of announcements and writes them. Whoever commits the transaction publishes them. */
export async function logAnnouncements(db: Queries, given: readonly Announcement[], now: Date): Promise<Event[]> {
  const events = given.map((announcement) => eventOf(announcement, newId(), now));
  await logEvents(db, events);
  return events;
}

export const eventLog = (db: Queries): EventLog => ({
  head: () => assignAllPositions(db),

  async readAfter(position) {
    const head = await assignPositions(db);
    const entries = await readEntries(db, position, head.position, null);
    const upTo = (entries.length === PAGE_ROWS ? entries.at(-1)?.position : undefined) ?? head.position;
    // Positions have no gaps, unless rows were deleted.
    const isWhole = entries.length === Math.max(0, upTo - position);
    return { head, entries, upTo, pruned: isWhole ? [] : await prunedAfter(db, position) };
  },

  async missedSince(position, upTo, orgs) {
    const { rows } = await sql<Missed>`
      select count(*)::int as entries, coalesce(sum(bytes), 0)::int as bytes, exists (
        select from event_log_pruned where position > ${position} and ${isIn(orgs)}
      ) as "isPruned"
      from (
        select bytes from event_log where position > ${position} and position <= ${upTo} and ${isIn(orgs)}
        limit ${KEPT.rowsOfOrg + 1}
      ) as missed
    `.execute(db);
    return rows[0] ?? { entries: 0, bytes: 0, isPruned: true };
  },

  readRange: (after, upTo, orgs) => readEntries(db, after, upTo, orgs),
});

const isIn = (orgs: Orgs) =>
  orgs === null ? sql`true` : sql`(org_id is null or org_id = any(${[...orgs, NO_ORG]}::uuid[]))`;

/** More than a process reads at once, so that a reader catches up with any number of writers. */
const ASSIGNED_AT_ONCE = 5_000;

interface HeadRow {
  readonly log_id: string;
  readonly position: number;
}

const headOf = (row: HeadRow | undefined): Head => {
  if (!row) throw new Error("The table event_log_head has no row.");
  return { logId: row.log_id, position: row.position };
};

/**
 * Positions are given one after the other under the lock of the head. They become visible in their order, so that whoever
 * has read one has read or can read all before it. A number that is taken while a change is made could become visible late.
 */
async function assignPositions(db: Queries): Promise<Head> {
  const { rows } = await sql<HeadRow & { readonly has_new: boolean }>`
    select log_id, position, exists (select from event_log where position is null) as has_new from event_log_head
  `.execute(db);
  if (!rows[0]?.has_new) return headOf(rows[0]);
  return inTransaction(db, async (tx) => {
    // A statement of its own: the next one has to see what another process has committed while this one waited.
    await sql`select from event_log_head for update`.execute(tx);
    const assigned = await sql<HeadRow>`
      with fresh as (
        select recorded, row_number() over (order by recorded) as place from event_log where position is null
        order by recorded limit ${ASSIGNED_AT_ONCE}
      ), placed as (
        update event_log l set position = h.position + fresh.place from fresh, event_log_head h
        where l.recorded = fresh.recorded returning 1
      )
      update event_log_head set position = position + (select count(*) from placed) returning log_id, position
    `.execute(tx);
    return headOf(assigned.rows[0]);
  });
}

async function assignAllPositions(db: Queries): Promise<Head> {
  for (let last = await assignPositions(db); ; ) {
    const head = await assignPositions(db);
    if (head.position === last.position) return head;
    last = head;
  }
}

async function readEntries(db: Queries, after: number, upTo: number, orgs: Orgs): Promise<Entry[]> {
  if (upTo <= after) return [];
  const { rows } = await sql<Entry>`
    select position, topic, message from event_log
    where position > ${after} and position <= ${upTo} and ${isIn(orgs)} order by position limit ${PAGE_ROWS}
  `.execute(db);
  return rows;
}

async function prunedAfter(db: Queries, position: number): Promise<Pruned[]> {
  const { rows } = await sql<Pruned>`
    select org_id as "orgId", position from event_log_pruned where position > ${position}
  `.execute(db);
  return rows;
}

/** Rows that one statement deletes: few enough that their locks are held for milliseconds. */
const BATCH_ROWS = 2_000;

/** Deletes what is no longer kept. Any number of replicas may do so at once. */
export async function pruneEventLog(db: Queries): Promise<void> {
  await assignAllPositions(db);
  while ((await pruneOld(db)) === BATCH_ROWS);
  const { rows } = await sql<{ org_id: string | null }>`
    select org_id from event_log where position is not null group by org_id
    having count(*) > ${KEPT.rowsOfOrg} or sum(bytes) > ${KEPT.bytesOfOrg}
  `.execute(db);
  for (const { org_id } of rows) await pruneOrg(db, org_id);
}

/** Notes in the same statement up to where an organization's rows are gone: a stream before that has to read anew. */
const deleteAndNote = (chosen: ReturnType<typeof sql>) => sql<{ gone: number }>`
  with chosen as (${chosen}), gone as (
    delete from event_log l using chosen where l.recorded = chosen.recorded returning l.org_id, l.position
  ), noted as (
    insert into event_log_pruned as pruned (org_id, position)
    select coalesce(org_id, ${NO_ORG}::uuid), max(position) from gone group by 1 order by 1
    on conflict (org_id) do update set position = greatest(pruned.position, excluded.position)
  )
  select count(*)::int as gone from gone`;

/** By the database's clock on both sides, so that clocks of processes which differ do not matter. */
async function pruneOld(db: Queries): Promise<number> {
  const oldest = sql`
    select recorded from (
      select recorded, created_at from event_log where position is not null order by position limit ${BATCH_ROWS}
    ) as oldest where created_at < clock_timestamp() - make_interval(mins => ${KEPT.minutes})`;
  const { rows } = await deleteAndNote(oldest).execute(db);
  return rows[0]?.gone ?? 0;
}

async function pruneOrg(db: Queries, orgId: string | null): Promise<void> {
  const beyond = sql`
    select recorded from (
      select recorded, row_number() over newest as row, sum(bytes) over newest as total
      from event_log where org_id is not distinct from ${orgId}::uuid and position is not null
      window newest as (order by position desc)
    ) as counted where row > ${KEPT.rowsOfOrg} or total > ${KEPT.bytesOfOrg}`;
  await deleteAndNote(beyond).execute(db);
}
