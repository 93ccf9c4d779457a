import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";

/** Work of one kind that waits, and how long the first of it has waited. */
export interface Backlog {
  readonly kind: string;
  readonly count: number;
  readonly oldest_seconds: number;
}

/** Jobs that are due and that no worker has begun. */
export async function pendingJobs(db: Queries): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    select kind, count(*)::int as count, extract(epoch from now() - min(run_at))::float as oldest_seconds
    from jobs where status = 'pending' and run_at <= now() group by kind`.execute(db);
  return rows;
}

export interface ProvisioningCount {
  readonly action: string;
  readonly status: string;
  readonly count: number;
  /** Null where none of them is under way. */
  readonly oldest_seconds: number | null;
}

/** Finished jobs count for a day, so that a failure is seen and the number does not grow with the history. */
export async function provisioningJobs(db: Queries): Promise<ProvisioningCount[]> {
  const { rows } = await sql<ProvisioningCount>`
    select action, status, count(*)::int as count,
      extract(epoch from now() - min(created_at) filter (where finished_at is null))::float as oldest_seconds
    from provisioning_jobs where finished_at is null or finished_at > now() - interval '1 day'
    group by action, status`.execute(db);
  return rows;
}

/**
 * Resources that a connected cluster has not confirmed. Those of clusters that are away wait for their operator, which tells nothing about the
 * hub. The index of what is pending is read, so the statement costs as much as there is to do.
 */
export async function pendingDispatches(db: Queries): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    select kind, count(*)::int as count, extract(epoch from now() - min(desired.updated_at))::float as oldest_seconds
    from desired_resources desired join cluster_sessions sessions on sessions.cluster_id = desired.cluster_id
    where (desired.removed_at is not null or desired.acked_generation is distinct from desired.generation)
      and desired.acked_generation is distinct from desired.generation and sessions.lease_until > now()
    group by kind`.execute(db);
  return rows;
}
