import type { LeftObject } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { publishEvents } from "../events/event.ts";
import { Fault } from "../fault.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { createSleeper } from "../jobs/worker.runner.ts";
import { type Log, watchOutage } from "../outage.ts";
import { type EndedCluster, endCleanedUp, endDetached, saveDetachMessage, takeDetaching } from "./abandonment.store.ts";
import { detachMessage } from "./abandonment.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Ends the records of abandoned clusters that have cleaned up, and the sessions of their operators. */
export async function endAbandoned({ db, bus, clock }: Ports): Promise<void> {
  endSessions(bus, await endCleanedUp(db, clock()));
}

function endSessions(bus: Bus, ended: readonly EndedCluster[]): void {
  for (const { id, token_version, event } of ended) {
    bus.publish(FLOOR_RAISED_TOPIC, { ask: newId(), cluster_id: id, floor: token_version + 1, deleted: true });
    publishEvents(bus, [event]);
  }
}

interface DetachPorts extends Ports {
  readonly operators: Pick<OperatorRequests, "detach">;
  readonly log: Log;
}

/** An operator that is silent takes seconds, and a tenant may have many of them. */
const ASKED_AT_ONCE = 20;
const ASKED_EVERY_MS = 10_000;

interface Asking {
  readonly atOnce?: number;
  readonly everyMs?: number;
}

/**
 * Asks operators of clusters that are being detached to let go, and ends the records of those that have. One that does not answer is
 * asked again the next time, so nothing depends on this process or on the operator's. Returns whether there may be more to be asked.
 */
export async function endDetaching(
  { db, bus, clock, operators, log }: DetachPorts,
  { atOnce = ASKED_AT_ONCE, everyMs = ASKED_EVERY_MS }: Asking = {},
): Promise<boolean> {
  const asked = await takeDetaching(db, { atOnce, everyMs });
  const results = await Promise.allSettled(asked.map(({ id }) => ask(id)));
  const failed = results.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
  if (failed) throw failed.reason;
  return asked.length === atOnce;

  async function ask(id: string): Promise<void> {
    const left = await leftOn(id);
    if (left === null) return;
    if (left.length > 0) return saveDetachMessage(db, id, detachMessage(left), clock());
    const { ended, events } = await endDetached(db, id, clock());
    endSessions(bus, ended);
    publishEvents(bus, events);
  }

  /** Null where it cannot be known now. */
  async function leftOn(id: string): Promise<readonly LeftObject[] | null> {
    try {
      return await operators.detach(id);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(
        { cluster_id: id, why: error.message },
        "the operator of a cluster that is being detached has not answered",
      );
      return null;
    }
  }
}

/** Does so until it is stopped, in a loop of its own: operators decide how long a round takes, and no chore of the upkeep waits for them. */
export function startDetaching(ports: DetachPorts, asking: Asking = {}): { stop(): Promise<void> } {
  const outage = watchOutage(ports.log, "detaching clusters");
  const sleeper = createSleeper();
  let isStopping = false;
  async function work(): Promise<void> {
    while (!isStopping) {
      let isMore = false;
      try {
        isMore = await endDetaching(ports, asking);
        outage.recovered();
      } catch (error) {
        outage.failed(error);
      }
      if (!isMore) await sleeper.rest(asking.everyMs ?? ASKED_EVERY_MS);
    }
  }
  const working = work();
  return {
    async stop() {
      isStopping = true;
      sleeper.end();
      await working;
    },
  };
}
