import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { EVENTS_TOPIC } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
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
  await announce(ports, new Map(fresh), now);
}

/** Announces that clusters are disconnected. Their sessions have been deleted already. */
export function announceDisconnected(ports: StatusPorts, clusterIds: readonly string[]): Promise<void> {
  const now = ports.clock();
  const before = { session_lease_until: new Date(now.getTime() + 1) };
  return announce(ports, new Map(clusterIds.map((id) => [id, before])), now);
}

async function announce(
  { bus, clusters }: StatusPorts,
  before: ReadonlyMap<string, Partial<ConnectionFacts>>,
  /** Both states are judged by one reading of the clock, or a lease that ends between two readings would be missed. */
  now: Date,
): Promise<void> {
  if (before.size === 0) return;
  for (const announcement of await clusters.statusEvents(before, now)) {
    bus.publish(EVENTS_TOPIC, { id: newId(), time: now.toISOString(), ...announcement });
  }
}

/** Few enough that their locks are held for milliseconds. */
const BATCH_ROWS = 200;

/**
 * Deletes the sessions whose hub was killed or has lost the database, and announces their clusters. The replica that
 * deletes a row announces it, so each is announced once however many replicas look.
 */
export async function announceLapsed(ports: StatusPorts): Promise<void> {
  for (let found = BATCH_ROWS; found === BATCH_ROWS; ) {
    const clusterIds = await clearLapsed(ports.db, ports.clock(), BATCH_ROWS);
    await announceDisconnected(ports, clusterIds);
    found = clusterIds.length;
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
      await announceDisconnected(ports, await releaseSessions(ports.db, batch));
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
