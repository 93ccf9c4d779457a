import { setTimeout as pause } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { COMMAND_NAME } from "./connection.adapter.ts";
import {
  defaultPartition,
  firstRange,
  isFarEnough,
  missingRanges,
  obsoletePartitions,
  type PartitionedTable,
  partitionsOfManyPeriods,
  type Range,
  rangeNamed,
} from "./partitions.ts";
import { keptUntil } from "./retention.store.ts";
import { WHOLE_RELATION } from "./row-count.store.ts";
import { untilStopped } from "./stopped-statement.store.ts";
import { isRetryable, type Queries, type Tx } from "./transaction.ts";

/** Whoever needs the table waits behind a change of its partitions that waits for it. */
const LOCK_TIMEOUT_MS = 200;
const LOCK_ATTEMPTS = 3;
const PAUSE_MS = 1_000;

/** Any number will do that nothing else in the database uses. */
const LOCKS = { audit_log: "3853314791062309120", metric_samples: "3853314791062309121" };

const NEVER = new AbortController().signal;

/**
 * Makes the partitions of the periods to come, and drops those whose rows are all older than they are kept; null keeps all. The time is
 * that of the database: a worker whose clock is ahead would drop rows that are not old. One replica does so at a time. What is in use is
 * done in a later round: rows without a partition of their period are in the default one meanwhile. One partition that fails does not
 * keep the others from being made and dropped.
 */
export async function keepPartitions(
  db: Queries,
  table: PartitionedTable,
  keptMs: number | null,
  stop: AbortSignal = NEVER,
): Promise<void> {
  try {
    const now = await databaseTime(db);
    if ((await isWhole(db, table)) && !(await separateRowsSoFar(db, table, now, stop))) return;
    const added = await changeEach(db, table, missingRanges(table, await partitionsOf(db, table), now), addPartition);
    const dropped = keptMs === null ? [] : await dropObsolete(db, table, now, keptMs);
    for (const failure of [...added, ...dropped]) throw failure;
  } catch (error) {
    if (!isInUse(error) && !stop.aborted) throw error;
  }
}

const databaseTime = async (db: Queries): Promise<Date> => {
  const { rows } = await sql<{ now: Date }>`select now()`.execute(db);
  return (rows[0] as { now: Date }).now;
};

async function dropObsolete(db: Queries, table: PartitionedTable, now: Date, keptMs: number): Promise<unknown[]> {
  const before = new Date(now.getTime() - keptMs);
  const obsolete = obsoletePartitions(table, await partitionsOf(db, table), before);
  return changeEach(db, table, obsolete, (tx, _, partition) => dropPartition(tx, table, partition, keptMs));
}

/** One transaction each. Returns the failures; a table that is in use is not tried again and again. */
async function changeEach<T>(
  db: Queries,
  table: PartitionedTable,
  each: readonly T[],
  change: (tx: Tx, table: PartitionedTable, one: T) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const one of each)
    await inTurn(db, table, (tx) => change(tx, table, one)).catch((error: unknown) => {
      if (isInUse(error)) throw error;
      failures.push(error);
    });
  return failures;
}

/** The partitions whose rows are of no one period. */
export const mixedPartitions = async (db: Queries, table: PartitionedTable): Promise<string[]> =>
  partitionsOfManyPeriods(table, await partitionsOf(db, table));

async function partitionsOf(db: Queries, { name }: PartitionedTable): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${name}::regclass and not inhdetachpending order by 1`.execute(db);
  return rows.map((row) => row.name);
}

/** Whether all rows are in the default partition, as the migration has left them. */
const isWhole = async (db: Queries, table: PartitionedTable): Promise<boolean> =>
  (await partitionsOf(db, table)).every((name) => name === defaultPartition(table));

const LOCK_NOT_AVAILABLE = "55P03";
const isInUse = (error: unknown) => (error as { code?: string }).code === LOCK_NOT_AVAILABLE || isRetryable(error);

/** One transaction, unless another replica is at it; null then. A scan of a large partition takes longer than statements of servers may. */
async function inTurn<T>(db: Queries, { name }: PartitionedTable, work: (tx: Tx) => Promise<T>): Promise<T | null> {
  return db.transaction().execute(async (tx) => {
    const lock = sql.lit(LOCKS[name]);
    const { rows } = await sql<{ is_mine: boolean }>`
      select pg_try_advisory_xact_lock(${lock}::bigint) as is_mine`.execute(tx);
    if (!rows[0]?.is_mine) return null;
    await sql`set local statement_timeout = 0`.execute(tx);
    await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
    return work(tx);
  });
}

/** So many bytes are read in some milliseconds, under a lock. */
const FEW_BYTES = 32 * 1024 * 1024;

/**
 * The rows from before the table had partitions are in the default one, which PostgreSQL reads under its lock for every partition that
 * is added. So they become a partition of their own, until some time after now. Where they are many, a constraint first proves that all
 * of them are of before then, while servers read and write; nothing is read under the lock. False where it is not done yet.
 */
async function separateRowsSoFar(db: Queries, table: PartitionedTable, now: Date, stop: AbortSignal): Promise<boolean> {
  const begun = await inTurn(db, table, async (tx) => {
    if (!(await isWhole(tx, table))) return null;
    const range = await boundLeft(tx, table, now);
    if (range || !(await isSmall(tx, table))) return { range: range ?? (await boundDefault(tx, table, now)) };
    // Nobody ever sees a constraint that is not proved, because it is made and proved in the same transaction.
    await lockPatiently(tx, table);
    await separate(tx, table, await boundDefault(tx, table, now, table.leadMs));
    return { range: null };
  });
  if (!begun?.range) return begun !== null;
  const { range } = begun;
  try {
    const isDone =
      (await inTurn(db, table, (tx) => prove(db, tx, table, range, stop))) &&
      (await inTurn(db, table, async (tx) => {
        if (!(await isWhole(tx, table))) return false;
        await separate(tx, table, range, (work) => untilStopped(db, tx, stop, work));
        return true;
      }));
    return isDone === true;
  } catch (error) {
    // Who knows when the next worker of this release begins: the release before would go on with a constraint that it does not know.
    if (stop.aborted) await inTurn(db, table, (tx) => dropUnproved(tx, table, range));
    throw error;
  }
}

/** The rows until the end of the range become its partition. Where they are proved to be there, this takes milliseconds. */
async function separate(
  tx: Tx,
  table: PartitionedTable,
  range: Range,
  scan: (work: () => Promise<unknown>) => Promise<unknown> = (work) => work(),
): Promise<void> {
  const [current, next] = [defaultPartition(table), `${table.name}_next`];
  await sql`create table ${sql.table(next)} (like ${sql.table(table.name)} including all)`.execute(tx);
  await moveRows(tx, table, next, { start: range.end, end: null });
  await scan(() => validate(tx, table, range));
  await lockPatiently(tx, table);
  await sql`alter table ${sql.table(table.name)} detach partition ${sql.table(current)}`.execute(tx);
  await sql`alter table ${sql.table(current)} rename to ${sql.table(range.partition)}`.execute(tx);
  await attach(tx, table, range);
  await sql`alter table ${sql.table(next)} rename to ${sql.table(current)}`.execute(tx);
  await sql`alter table ${sql.table(table.name)} attach partition ${sql.table(current)} default`.execute(tx);
  await requireNoBackup(tx, table);
}

/**
 * A backup of release 0.1.0 copies the default partition by its name, long after it has begun. Under another name its rows would be missing
 * in that backup, and nothing would tell.
 */
async function requireNoBackup(tx: Tx, { name }: PartitionedTable): Promise<void> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and application_name = ${COMMAND_NAME}`.execute(tx);
  if (rows.length > 0) throw Object.assign(new Error(`${name} is being backed up`), { code: LOCK_NOT_AVAILABLE });
}

async function isSmall(tx: Tx, table: PartitionedTable): Promise<boolean> {
  const { rows } = await sql<{ is_small: boolean }>`
    select pg_table_size(${defaultPartition(table)}::regclass) <= ${FEW_BYTES}::bigint as is_small`.execute(tx);
  return rows[0]?.is_small === true;
}

/**
 * Validates the constraint and commits, so that no failure afterwards loses the scan. Where there are rows of after the end, that waits for
 * the transaction that moves them.
 */
async function prove(db: Queries, tx: Tx, table: PartitionedTable, range: Range, stop: AbortSignal): Promise<boolean> {
  if (!(await isWhole(tx, table))) return false;
  const { rows: later } = await sql`select from ${sql.table(defaultPartition(table))}
    where ${sql.ref(table.column)} >= ${literalAt(table, range.end)} limit 1`.execute(tx);
  if (later.length === 0) await untilStopped(db, tx, stop, () => validate(tx, table, range));
  return true;
}

const validate = (tx: Tx, table: PartitionedTable, { partition }: Range) =>
  sql`alter table ${sql.table(defaultPartition(table))} validate constraint ${sql.ref(partition)}`.execute(tx);

async function dropUnproved(tx: Tx, table: PartitionedTable, { partition }: Range): Promise<void> {
  const { rows } = await sql`select from pg_constraint
    where conrelid = ${defaultPartition(table)}::regclass and conname = ${partition} and not convalidated`.execute(tx);
  if (rows.length > 0)
    await sql`alter table ${sql.table(defaultPartition(table))} drop constraint ${sql.ref(partition)}`.execute(tx);
}

/** From now on the default partition takes no row of after the range. */
async function boundDefault(tx: Tx, table: PartitionedTable, now: Date, leadMs = table.provedLeadMs): Promise<Range> {
  const range = firstRange(table, now, leadMs);
  await sql`alter table ${sql.table(defaultPartition(table))} add constraint ${sql.ref(range.partition)}
    check (${sql.ref(table.column)} < ${literalAt(table, range.end)}) not valid`.execute(tx);
  return range;
}

/** The range of a constraint that was left by a worker that did not finish. One that is near is dropped. */
async function boundLeft(tx: Tx, table: PartitionedTable, now: Date): Promise<Range | null> {
  const { rows } = await sql<{ name: string }>`
    select conname as name from pg_constraint
    where conrelid = ${defaultPartition(table)}::regclass and starts_with(conname, ${`${table.name}_before_`})`.execute(
    tx,
  );
  for (const { name } of rows) {
    const range = rangeNamed(table, name);
    if (range && isFarEnough(table, range, now)) return range;
    await sql`alter table ${sql.table(defaultPartition(table))} drop constraint ${sql.ref(name)}`.execute(tx);
  }
  return null;
}

const literalAt = (table: PartitionedTable, time: Date): RawBuilder<unknown> => sql.lit(table.valueAt(time));

/** Takes rows of a range from the default partition, past the triggers of the table: its totals stay the same. */
async function moveRows(
  tx: Tx,
  table: PartitionedTable,
  to: string,
  { start, end }: { readonly start: Date | null; readonly end: Date | null },
): Promise<void> {
  const column = sql.ref(table.column);
  const from = start ? sql`${column} >= ${literalAt(table, start)}` : sql`true`;
  const until = end ? sql`${column} < ${literalAt(table, end)}` : sql`true`;
  // The trigger that keeps recent samples lets them go for the rest of this transaction.
  await sql`set local binnacle.moving = 'on'`.execute(tx);
  await sql`with moved as (delete from ${sql.table(defaultPartition(table))} where ${from} and ${until} returning *)
    insert into ${sql.table(to)} select * from moved`.execute(tx);
}

/** Some attempts, because the scan before would be lost with the first. Between them those who waited get their turn. */
async function lockPatiently(tx: Tx, { name }: PartitionedTable): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sql`savepoint unlocked`.execute(tx);
      await sql`lock table ${sql.table(name)} in access exclusive mode`.execute(tx);
      return;
    } catch (error) {
      if (attempt === LOCK_ATTEMPTS || (error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      await sql`rollback to unlocked`.execute(tx);
      await pause(PAUSE_MS);
    }
  }
}

const attach = (tx: Tx, table: PartitionedTable, { partition, start, end }: Range) =>
  sql`alter table ${sql.table(table.name)} attach partition ${sql.table(partition)}
    for values from (${start ? literalAt(table, start) : sql`minvalue`}) to (${literalAt(table, end)})`.execute(tx);

/** Rows that have come before their partition, because no worker ran for long, move into it. */
async function addPartition(tx: Tx, table: PartitionedTable, range: Range): Promise<void> {
  const found = await partitionsOf(tx, table);
  if (found.includes(range.partition)) return;
  await sql`create table ${sql.table(range.partition)} (like ${sql.table(table.name)} including all)`.execute(tx);
  await moveRows(tx, table, range.partition, range);
  await attach(tx, table, range);
}

/**
 * The rows are counted before the lock that others notice. What still writes to the partition, as a process whose clock is far behind,
 * waits, and what it has written is not old: its partition stays until it is. Files are removed after the locks are released, however
 * large they are.
 */
async function dropPartition(tx: Tx, table: PartitionedTable, partition: string, keptMs: number): Promise<void> {
  if (!(await partitionsOf(tx, table)).includes(partition)) return;
  await sql`lock table ${sql.table(partition)} in share mode`.execute(tx);
  if (!(await isOld(tx, table, partition, keptMs))) return;
  if (table.countedBy)
    await sql`insert into row_counts (relation, scope, delta)
      select ${table.name}, coalesce(${sql.ref(table.countedBy)}, ${WHOLE_RELATION}::uuid), -count(*)
      from ${sql.table(partition)} group by 2`.execute(tx);
  await lockPatiently(tx, table);
  await sql`drop table ${sql.table(partition)}`.execute(tx);
}

/** Whether the range and each row in it are old by the clock of the database. Ids say when a process thought that it was. */
async function isOld(tx: Tx, table: PartitionedTable, partition: string, keptMs: number): Promise<boolean> {
  const end = rangeNamed(table, partition)?.end;
  const before = keptUntil(keptMs);
  const { rows } = await sql<{ is_old: boolean }>`select ${end ?? null}::timestamptz <= ${before}
    and not exists (select from ${sql.table(partition)} where at >= ${before}) as is_old`.execute(tx);
  return rows[0]?.is_old === true;
}
