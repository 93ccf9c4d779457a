import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries, type Tx } from "../database/transaction.ts";
import { publishEvents } from "../events/event.ts";
import { logAnnouncements } from "../events/event-log.store.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import type { ConnectionFacts, Fence, HubClusters } from "./ports.ts";
import { clearLapsed, releaseSessions } from "./session.store.ts";

export interface StatusPorts {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly clusters: Pick<HubClusters, "statusEvents">;
}

/** Announces that clusters are connected, except those that were before. */
export async function announceConnected(
  ports: StatusPorts,
  before: ReadonlyMap<string, ConnectionFacts>,
): Promise<void> {
  const now = ports.clock();
  const fresh = [...before].filter(([, { session_lease_until: until }]) => until === null || until <= now);
  if (fresh.length === 0) return;
  const { db, bus, clusters } = ports;
  const announcements = await clusters.statusEvents(db, new Map(fresh), now);
  publishEvents(bus, await logAnnouncements(db, announcements, now));
}

/**
 * Deletes sessions and announces that their clusters are disconnected, in one transaction: nobody else would announce it for a
 * process that is killed in between. Returns how many there were.
 */
export async function announceDisconnected(
  ports: StatusPorts,
  deleteSessions: (tx: Tx) => Promise<string[]>,
): Promise<number> {
  const { db, bus, clock, clusters } = ports;
  const { count, events } = await inTransaction(db, async (tx) => {
    const clusterIds = await deleteSessions(tx);
    // Both states are judged by one reading of the clock, or a lease that ends between two readings would be missed.
    const now = clock();
    const before = { session_lease_until: new Date(now.getTime() + 1) };
    const connected = new Map(clusterIds.map((id) => [id, before]));
    const announcements = connected.size === 0 ? [] : await clusters.statusEvents(tx, connected, now);
    return { count: clusterIds.length, events: await logAnnouncements(tx, announcements, now) };
  });
  publishEvents(bus, events);
  return count;
}

/** Few enough that their locks are held for milliseconds. */
const BATCH_ROWS = 200;

/**
 * Deletes the sessions whose hub was killed or has lost the database, and announces their clusters. The replica that
 * deletes a row announces it, so each is announced once however many replicas look.
 */
export async function announceLapsed(ports: StatusPorts): Promise<void> {
  for (let found = BATCH_ROWS; found === BATCH_ROWS; ) {
    found = await announceDisconnected(ports, (tx) => clearLapsed(tx, BATCH_ROWS));
  }
}

/** Sessions that end within this time are deleted together. */
const COALESCE_MS = 20;
/** After so many tries the lease has run out, and the row is deleted as lapsed. */
const MAX_TRIES = 5;

export interface SessionCleanup {
  release(fence: Fence): void;
  /** Resolves when all sessions have been deleted, or could not be. */
  stop(): Promise<void>;
}

/** Deletes the rows of ended sessions, unless a newer session is registered already, and announces their clusters. */
export function startSessionCleanup(
  ports: StatusPorts & { readonly log: Log },
  confirmationsStored: () => Promise<void>,
): SessionCleanup {
  const outage = watchOutage(ports.log, "deleting ended sessions");
  let ended: Fence[] = [];
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let failures = 0;

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = null;
      work = work.then(run);
    }, afterMs);
  }

  async function run(): Promise<void> {
    const batch = ended;
    ended = [];
    if (batch.length === 0) return;
    try {
      // The last confirmations of a session are stored only while it is registered.
      await confirmationsStored();
      await announceDisconnected(ports, (tx) => releaseSessions(tx, batch));
      failures = 0;
      outage.recovered();
    } catch (error) {
      outage.failed(error);
      failures += 1;
      if (failures > MAX_TRIES) return;
      ended = [...batch, ...ended];
      schedule(pauseMsAfter(failures));
    }
  }

  return {
    release(fence) {
      ended.push(fence);
      schedule(COALESCE_MS);
    },
    async stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await work;
      await run();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
