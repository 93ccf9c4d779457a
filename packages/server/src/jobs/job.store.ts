import { sql } from "kysely";
import { isRetryable, isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import type { Failure, Job } from "./job.ts";

/**
 * All times in `jobs` come from the database. The clocks of replicas differ: one that is ahead by more than a lease
 * would take each job from its holder. `now()` is the start of the transaction, so a lease never seems older than it
 * is. Tests change the times of the rows instead.
 */

export interface NewJob {
  readonly id?: string;
  readonly kind: string;
  /** Jobs of one lane run one at a time, in the order of their `runAt`. */
  readonly lane?: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The handler of the kind decides where this is left out. */
  readonly maxAttempts?: number;
  /** The job is due at once where this is left out. */
  readonly runAt?: Date;
  /** The job is due after this time; by the clock of the database, as all times of jobs. */
  readonly delayMs?: number;
  readonly createdBy?: string;
  /** The organization that the job is for, without which it counts for its creator. */
  readonly tenantId?: string;
}

/** The holder of a claimed job. Writes of any other holder change nothing. */
export interface Hold {
  readonly id: string;
  readonly fence: number;
  readonly workerId: string;
}

export interface Claim {
  readonly workerId: string;
  /** The kinds to claim, each with the attempts of jobs that were enqueued without a number. */
  readonly maxAttemptsByKind: Readonly<Record<string, number>>;
  readonly leaseMs: number;
  readonly limit: number;
}

const CLAIM_TRIES = 5;
const WORKER_DIED = "The worker that ran the job stopped without a word, and no attempt is left.";

/** In the transaction of the caller, the job exists exactly if the transaction commits. */
export async function enqueue(db: Queries, job: NewJob): Promise<string> {
  const id = job.id ?? newId();
  const now = sql<Date>`now()`;
  await db
    .insertInto("jobs")
    .values({
      id,
      kind: job.kind,
      lane: job.lane ?? null,
      payload: JSON.stringify(job.payload),
      status: "pending",
      max_attempts: job.maxAttempts ?? null,
      run_at: job.runAt ?? sql<Date>`now() + ${job.delayMs ?? 0} * interval '1 millisecond'`,
      created_by: job.createdBy ?? null,
      tenant_id: job.tenantId ?? job.createdBy ?? sql<string>`default`,
      created_at: now,
      updated_at: now,
    })
    .execute();
  return id;
}

/** Claims due jobs and jobs whose lease has expired, in the order in which they must run. */
export async function claim(db: Queries, wanted: Claim): Promise<Job[]> {
  await failAbandoned(db);
  for (let attempt = 1; ; attempt++) {
    try {
      return await claimOnce(db, wanted);
    } catch (error) {
      // Another worker started a job of the same lane after the snapshot; a new snapshot shows it.
      const lostRace = isUniqueViolation(error, "jobs_one_running_per_lane") || isRetryable(error);
      if (!lostRace || attempt === CLAIM_TRIES) throw error;
    }
  }
}

/** Further jobs of a tenant than are wanted, of which other workers may have locked the first. */
const SPARE = 50;

/**
 * Tenants are served in turn: the next job is one of whom the fewest jobs run. So a tenant with a hundred jobs of minutes holds up
 * nobody for longer than one of them. Each tenant's first jobs are read from an index, however many there are.
 *
 * A lane waits for its first job even if only other workers know its kind, as during a rollout; otherwise the order
 * would be lost.
 */
async function claimOnce(db: Queries, { workerId, maxAttemptsByKind, leaseMs, limit }: Claim): Promise<Job[]> {
  const kinds = Object.keys(maxAttemptsByKind);
  const { rows } = await sql<Job>`
    with recursive tenants as (
      (select tenant_id from jobs where status = 'pending' order by tenant_id limit 1)
      union all
      select (select tenant_id from jobs where status = 'pending' and tenant_id > tenants.tenant_id order by tenant_id limit 1)
      from tenants where tenants.tenant_id is not null
    ), held as (
      select tenant_id, count(*) as jobs from jobs where status = 'running' and kind = any(${kinds}) group by tenant_id
    ), ranked as (
      select first.id, coalesce(held.jobs, 0) + row_number() over (partition by tenant_id order by first.run_at, first.id) as turn
      from tenants left join held using (tenant_id), lateral (
        select id, run_at from jobs
        where status = 'pending' and run_at <= now() and kind = any(${kinds}) and jobs.tenant_id = tenants.tenant_id
          and (lane is null or not exists (
            select from jobs as holder where holder.lane = jobs.lane and holder.status = 'running'
          ) and not exists (
            select from jobs as earlier where earlier.lane = jobs.lane and earlier.status = 'pending'
              and (earlier.run_at, earlier.id) < (jobs.run_at, jobs.id)
          ))
        order by run_at, id limit ${limit + SPARE}
      ) first
    ), abandoned as (
      select id from jobs
      where status = 'running' and lease_until <= now() and attempts < max_attempts and kind = any(${kinds})
      order by lease_until, id limit ${limit}
      for update skip locked
    ), due as (
      select jobs.id from ranked join jobs using (id) where jobs.status = 'pending' and jobs.run_at <= now()
      order by ranked.turn, jobs.run_at, jobs.id limit ${limit} - (select count(*) from abandoned)
      for update of jobs skip locked
    ), claimed as (
      update jobs set
        status = 'running',
        attempts = attempts + 1,
        max_attempts = coalesce(max_attempts, (${JSON.stringify(maxAttemptsByKind)}::jsonb ->> kind)::integer),
        fence = fence + 1,
        worker_id = ${workerId},
        lease_until = now() + ${leaseMs} * interval '1 millisecond',
        started_at = coalesce(started_at, now()),
        updated_at = now()
      where id in (select id from abandoned union all select id from due)
      returning *
    )
    select id, kind, lane, payload, attempts, max_attempts as "maxAttempts", fence,
      created_by as "createdBy", created_at as "createdAt"
    from claimed order by run_at, id
  `.execute(db);
  return rows;
}

/** How long it is until a job of these kinds is due, or a lease ends; null where none waits. Negative where it was before. */
export async function nextDueMs(db: Queries, kinds: readonly string[]): Promise<number | null> {
  const { rows } = await sql<{ due_ms: number | null }>`
    select extract(epoch from least(
      (select run_at from jobs where status = 'pending' and kind = any (${kinds}) order by run_at limit 1),
      (select lease_until from jobs where status = 'running' order by lease_until limit 1)
    ) - now())::float8 * 1000 as due_ms
  `.execute(db);
  return rows[0]?.due_ms ?? null;
}

/** Fails abandoned jobs of any kind: it needs no handler, and their lanes wait for it. */
async function failAbandoned(db: Queries): Promise<void> {
  await sql`
    update jobs set
      status = 'failed', error_message = ${WORKER_DIED}, lease_until = null, finished_at = now(), updated_at = now()
    where id in (
      select id from jobs
      where status = 'running' and lease_until <= now() and attempts >= max_attempts
      for update skip locked
    )
  `.execute(db);
}

/** Returns true while the job is still held. An expired lease is renewed if nobody has claimed the job. */
export async function renew(db: Queries, hold: Hold, leaseMs: number): Promise<boolean> {
  return changed(held(db, hold).set({ lease_until: sql<Date>`now() + ${leaseMs} * interval '1 millisecond'` }));
}

export async function succeed(db: Queries, hold: Hold, resultJson: string | null): Promise<boolean> {
  return changed(
    held(db, hold).set({
      status: "succeeded",
      result: resultJson,
      error_message: null,
      lease_until: null,
      finished_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    }),
  );
}

export async function fail(db: Queries, hold: Hold, failure: Failure): Promise<boolean> {
  const end =
    failure.status === "failed"
      ? { finished_at: sql<Date>`now()` }
      : {
          run_at: sql<Date>`now() + ${failure.retryInMs} * interval '1 millisecond'`,
          ...(failure.isFree ? { attempts: sql<number>`attempts - 1` } : {}),
        };
  return changed(
    held(db, hold).set({
      status: failure.status,
      error_message: failure.errorMessage,
      lease_until: null,
      updated_at: sql<Date>`now()`,
      ...end,
    }),
  );
}

/** Releases the job as if it had not been claimed. It keeps its `run_at`, and so its position in the lane. */
export async function release(db: Queries, hold: Hold): Promise<boolean> {
  return changed(
    held(db, hold).set({
      status: "pending",
      attempts: sql<number>`attempts - 1`,
      worker_id: null,
      lease_until: null,
      updated_at: sql<Date>`now()`,
    }),
  );
}

/**
 * Locks the job until the end of the transaction and returns whether it is still held with the fence. What a handler
 * writes in that transaction is written only while no other worker has claimed the job.
 */
export async function lockHeld(tx: Tx, { id, fence }: Pick<Hold, "id" | "fence">): Promise<boolean> {
  const row = await tx
    .selectFrom("jobs")
    .select("id")
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("status", "=", "running")
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

const held = (db: Queries, { id, fence, workerId }: Hold) =>
  db
    .updateTable("jobs")
    .where("id", "=", id)
    .where("fence", "=", fence)
    .where("worker_id", "=", workerId)
    .where("status", "=", "running");

async function changed(update: { executeTakeFirst(): Promise<{ numUpdatedRows: bigint }> }): Promise<boolean> {
  return (await update.executeTakeFirst()).numUpdatedRows > 0n;
}
