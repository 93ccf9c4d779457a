import type { Log } from "../outage.ts";
import type { Bus } from "./bus.ts";
import { Subscriptions, writeMessage } from "./subscriptions.ts";

/**
 * The bus of an installation with one process. It writes and parses JSON and delivers later, as Redis does, so that
 * code which works here works there.
 */
export function createMemoryBus(log: Log): Bus {
  const subscriptions = new Subscriptions(log);
  let closed = false;
  return {
    publish(topic, message) {
      const text = writeMessage(log, topic, message);
      if (text === null || closed) return;
      setImmediate(() => closed || subscriptions.deliver(topic, text));
    },
    subscribe(topic, handler) {
      const { remove } = subscriptions.add(topic, handler);
      return () => void remove();
    },
    isUp: () => !closed,
    async close() {
      closed = true;
      subscriptions.clear();
    },
  };
}
