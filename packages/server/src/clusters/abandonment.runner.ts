import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { activityOf, EVENTS_TOPIC } from "../events/event.ts";
import { FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import { endCleanedUp } from "./abandonment.store.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Ends the records of abandoned clusters that have cleaned up, and the sessions of their operators. */
export async function endAbandoned({ db, bus, clock }: Ports): Promise<void> {
  for (const { id, token_version, audit } of await endCleanedUp(db, clock())) {
    bus.publish(FLOOR_RAISED_TOPIC, { ask: newId(), cluster_id: id, floor: token_version + 1, deleted: true });
    bus.publish(EVENTS_TOPIC, activityOf(audit, null));
  }
}
