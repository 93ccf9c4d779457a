import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { clustersById } from "../clusters/cluster.store.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { statusAnnouncement } from "../clusters/status.ts";
import type { Queries } from "../database/transaction.ts";
import { EVENTS_TOPIC } from "../events/event.ts";
import { newId } from "../id.ts";
import { clearLapsed } from "./session.store.ts";

export interface StatusPorts {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

type Before = Pick<Cluster, "session_lease_until" | "first_connected_at">;

/** Tells the subscribers of events, unless the cluster has been in that state before. */
export async function announceConnected(ports: StatusPorts, clusterId: string, before: Before): Promise<void> {
  const isConnectedAlready = before.session_lease_until !== null && before.session_lease_until > ports.clock();
  if (!isConnectedAlready) await announce(ports, [clusterId], (after) => ({ ...after, ...before }));
}

/** Their sessions are off the record already. */
export function announceDisconnected(ports: StatusPorts, clusterIds: readonly string[]): Promise<void> {
  return announce(ports, clusterIds, (after, now) => ({
    ...after,
    session_lease_until: new Date(now.getTime() + 1),
  }));
}

async function announce(
  { db, bus, clock }: StatusPorts,
  clusterIds: readonly string[],
  /** By the one clock reading that both states are told by: a lease that ends between two would not have been. */
  beforeOf: (after: Cluster, now: Date) => Cluster,
): Promise<void> {
  if (clusterIds.length === 0) return;
  const now = clock();
  for (const cluster of await clustersById(db, clusterIds)) {
    const announcement = statusAnnouncement(beforeOf(cluster, now), cluster, now);
    if (announcement) bus.publish(EVENTS_TOPIC, { id: newId(), time: now.toISOString(), ...announcement });
  }
}

/** Few enough that their locks are held for milliseconds. */
const BATCH_ROWS = 200;

/**
 * Announces the clusters whose hub has stopped vouching for them: killed, or cut off from the database. Whichever
 * replica clears a row away announces it, so each is announced once, however many replicas look.
 */
export async function announceLapsed(ports: StatusPorts): Promise<void> {
  for (let found = BATCH_ROWS; found === BATCH_ROWS; ) {
    const clusterIds = await clearLapsed(ports.db, ports.clock(), BATCH_ROWS);
    await announceDisconnected(ports, clusterIds);
    found = clusterIds.length;
  }
}
