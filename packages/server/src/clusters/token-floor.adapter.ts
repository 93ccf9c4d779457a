import type { Enforcement } from "@binnacle/contract";
import type { Bus } from "../bus/bus.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";

const LONGEST_WAIT_MS = 2_000;

export interface FloorQuestion {
  ask(clusterId: string, floor: number): Promise<Enforcement>;
  /** Stops listening; an answer that is still awaited is `pending`. */
  drop(): void;
}

/**
 * Listens from now on, so that the news of the subscription has travelled by the time the question is asked. No answer
 * is `pending`: the floor is in the database already, and every later handshake is held against it.
 */
export function prepareFloorQuestion(bus: Bus, longestWaitMs = LONGEST_WAIT_MS): FloorQuestion {
  const id = newId();
  const { promise, resolve } = Promise.withResolvers<Enforcement>();
  const unsubscribe = bus.subscribe(FLOOR_HELD_TOPIC, (message) => {
    if ((message as { ask?: unknown }).ask === id) resolve("in_force");
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    ask(clusterId, floor) {
      bus.publish(FLOOR_RAISED_TOPIC, { ask: id, cluster_id: clusterId, floor });
      timer = setTimeout(() => resolve("pending"), longestWaitMs);
      return promise;
    },
    drop() {
      unsubscribe();
      clearTimeout(timer);
      resolve("pending");
    },
  };
}
