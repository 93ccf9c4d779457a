import { sql } from "kysely";
import { keepPartitions, mixedPartitions } from "../database/partitions.store.ts";
import { METRIC_SAMPLES } from "../database/partitions.ts";
import { keptUntil } from "../database/retention.store.ts";
import { foldRowCounts } from "../database/row-count.store.ts";
import type { Tables } from "../database/tables.ts";
import type { Queries } from "../database/transaction.ts";
import { type Log, watchOutage } from "../outage.ts";
import { createSleeper, type Sleeper } from "./worker.runner.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

interface Retention {
  readonly table: string;
  /** The indexed time after which a row is obsolete; null while the row is needed. */
  readonly column: string;
  readonly keptMs: number;
}

const RETENTIONS: readonly (Retention & { readonly table: keyof Tables })[] = [
  { table: "sessions", column: "expires_at", keptMs: DAY_MS },
  // A client that still polls learns for an hour that its login has expired.
  { table: "device_logins", column: "expires_at", keptMs: HOUR_MS },
  // The owner can see for a week why a program is refused.
  { table: "cli_tokens", column: "expires_at", keptMs: 7 * DAY_MS },
  { table: "login_tallies", column: "updated_at", keptMs: HOUR_MS },
  // One hour longer than keys are honoured, to allow for different clocks.
  { table: "idempotency_keys", column: "created_at", keptMs: 25 * HOUR_MS },
  { table: "jobs", column: "finished_at", keptMs: 30 * DAY_MS },
  { table: "operator_upgrades", column: "finished_at", keptMs: 90 * DAY_MS },
  // A job ends within a day, so these are of jobs that have ended.
  { table: "provisioning_log_lines", column: "at", keptMs: 90 * DAY_MS },
];

const SAMPLES_KEPT_MS = DAY_MS;

/** Small enough that a batch holds its locks for milliseconds only. */
const BATCH_ROWS = 1_000;

export interface UpkeepOptions {
  readonly db: Queries;
  readonly log: Log;
  readonly everyMs?: number;
  /** Further work of each round. */
  readonly chores?: readonly Chore[];
}

/** A chore may run on any number of replicas at once. */
export interface Chore {
  readonly name: string;
  /** It may take minutes, so it has a loop of its own and ends soon after the signal. */
  readonly isLong?: boolean;
  run(stop: AbortSignal): Promise<void>;
}

export interface Upkeep {
  /** Stops after the current batch, or in the middle of a long chore. */
  stop(): Promise<void>;
}

/**
 * Deletes obsolete rows, at the start and then periodically. What may take long has a loop of its own. All replicas may do so at once, because rows that another
 * one has locked are skipped. What is old is so by the clock of the database.
 */
export function startUpkeep({ db, log, everyMs = 10_000, chores = [] }: UpkeepOptions): Upkeep {
  const stopping = new AbortController();
  const sleepers: Sleeper[] = [];
  const chore = ({ name, run }: Chore) => ({
    outage: watchOutage(log, `upkeep of ${name}`),
    run: () => run(stopping.signal),
  });
  const samples: Chore = { name: "metric_samples", isLong: true, run: (stop) => keepSamples(db, stop) };
  const steps = [
    { name: "row counts", run: () => foldRowCounts(db) },
    ...RETENTIONS.map((retention) => ({
      name: retention.table,
      run: () => deleteOld(db, retention, stopping.signal),
    })),
    ...chores.filter(({ isLong }) => !isLong),
  ];

  async function work(each: readonly ReturnType<typeof chore>[]): Promise<void> {
    const sleeper = createSleeper();
    sleepers.push(sleeper);
    while (!stopping.signal.aborted) {
      for (const { run, outage } of each) {
        if (stopping.signal.aborted) return;
        // A failed step does not prevent the others.
        await run().then(outage.recovered, outage.failed);
      }
      await sleeper.rest(everyMs);
    }
  }

  const long = [samples, ...chores.filter(({ isLong }) => isLong)];
  const working = Promise.all([work(steps.map(chore)), ...long.map((one) => work([chore(one)]))]);
  return {
    async stop() {
      stopping.abort();
      for (const sleeper of sleepers) sleeper.end();
      await working;
    },
  };
}

/** Hours whose samples are all old go at once. Those in no partition of an hour, because they were there before, go one by one. */
async function keepSamples(db: Queries, stop: AbortSignal): Promise<void> {
  for (const table of await mixedPartitions(db, METRIC_SAMPLES))
    await deleteOld(db, { table, column: "at", keptMs: SAMPLES_KEPT_MS }, stop);
  await keepPartitions(db, METRIC_SAMPLES, SAMPLES_KEPT_MS, stop);
}

async function deleteOld(db: Queries, { table, column, keptMs }: Retention, stop: AbortSignal): Promise<void> {
  for (let deleted = BATCH_ROWS; deleted === BATCH_ROWS && !stop.aborted; ) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${keptUntil(keptMs)}
        order by ${sql.ref(column)} limit ${BATCH_ROWS} for update skip locked
      ))
    `.execute(db);
    deleted = Number(numAffectedRows);
  }
}
