/** How many connections of a process each of its parts has. */
export interface ConnectionShares {
  /** Of the hub alone; 0 where it is in one line with the others, or there is none. */
  readonly hub: number;
  /** The same of the worker. */
  readonly worker: number;
  /** Of the job queue: claims, renewals of leases, outcomes. */
  readonly queue: number;
  readonly others: number;
}

const FEWEST_OF_A_WORKER = 2;
/** A renewal that waits for a lock of its job does not hold up those of others. */
const OF_THE_QUEUE = 2;
/** With fewer in all, the requests of users would have too few. */
const APART_FROM = 12;

/**
 * In one line with requests, a busy API would hold up deliveries to clusters, and the leases of jobs would run out; so they would in
 * one line with what jobs and upkeep read and delete. The API reads places over a connection beside its pool.
 */
export function connectionShares(poolSize: number, roles: readonly string[]): ConnectionShares {
  const has = (role: string) => roles.includes(role);
  const isApart = has("worker") && poolSize >= APART_FROM;
  const worker = isApart && roles.length > 1 ? Math.max(FEWEST_OF_A_WORKER, Math.floor(poolSize / 8)) : 0;
  const queue = isApart ? OF_THE_QUEUE : 0;
  const rest = poolSize - worker - queue;
  const hub = has("hub") ? Math.floor(rest * (has("api") ? 1 / 4 : 3 / 4)) : 0;
  return { hub, worker, queue, others: rest - hub - (has("api") ? 1 : 0) };
}
