import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { announceMoved } from "./announcement.runner.ts";
import { settleWait, waitingJobs } from "./bootstrap-wait.store.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

/**
 * Brings the jobs that wait for machines and operators as far as these are. Any replica may run it at any time: a report calls it
 * for its cluster, and the worker for all, which also finds the operators that have connected and the deadlines.
 */
export async function settleWaiting(ports: Ports, minutes: number, clusterId: string | null = null): Promise<void> {
  const { db, bus, clock } = ports;
  for (const jobId of await waitingJobs(db, clusterId)) {
    const moved = await settleWait(db, jobId, minutes, clock());
    if (!moved) continue;
    announceMoved(ports, moved);
    bus.publish(PROVISIONING_TOPIC, { job_id: jobId });
  }
}
