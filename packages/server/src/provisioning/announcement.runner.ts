import type { Bus } from "../bus/bus.ts";
import { publishEvents } from "../events/event.ts";
import { FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";
import type { Moved } from "./provisioning-run.store.ts";

interface Ports {
  readonly bus: Bus;
}

/** Tells what a change of a job has made of its cluster. */
export function announceMoved({ bus }: Ports, { before, after, events }: Moved): void {
  if (after === null) {
    // The raised floor revokes every token, so that the hub ends the session.
    const floor = before.token_version + 1;
    bus.publish(FLOOR_RAISED_TOPIC, { ask: newId(), cluster_id: before.id, floor, deleted: true });
  }
  publishEvents(bus, events);
}
