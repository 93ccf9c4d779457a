import { Redis } from "ioredis";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { type Bus, Subscriptions, writeMessage } from "./bus.ts";

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

/** Pub/sub knows no databases: without a prefix another program on the same Redis could meet our topics. */
const CHANNEL_PREFIX = "binnacle:";

/**
 * Hints through Redis, which may be away at the start, later, or for good: the callers never notice, the log hears
 * of it once per outage, and what is published meanwhile is dropped. Two connections, because one that subscribes can do
 * nothing else.
 */
export function connectRedisBus(url: string, log: Log): Bus {
  const subscriptions = new Subscriptions(log);
  const outage = watchOutage(log, "the Redis of the bus");
  const publisher = open(url);
  const subscriber = open(url);
  const connections = [publisher, subscriber];

  /** While the connection is away there is nothing to do: it asks for every topic when it is back. */
  const listen = (topics: readonly string[]) => {
    if (topics.length === 0 || subscriber.status !== "ready") return;
    subscriber.subscribe(...topics.map((topic) => CHANNEL_PREFIX + topic)).catch(outage.failed);
  };

  for (const connection of connections) {
    connection.on("error", outage.failed);
    // A connection that is cut cleanly is an outage too, though it reports no error.
    connection.on("reconnecting", () => outage.failed(new Error("The connection was lost.")));
    connection.on("ready", () => {
      if (connections.every(({ status }) => status === "ready")) outage.recovered();
    });
  }
  subscriber.on("ready", () => listen(subscriptions.topics));
  subscriber.on("message", (channel, text) => subscriptions.deliver(channel.slice(CHANNEL_PREFIX.length), text));

  return {
    publish(topic, message) {
      const text = writeMessage(log, topic, message);
      if (text === null || publisher.status !== "ready") return;
      publisher.publish(CHANNEL_PREFIX + topic, text).catch(outage.failed);
    },
    subscribe(topic, handler) {
      const { first, remove } = subscriptions.add(topic, handler);
      if (first) listen([topic]);
      return () => {
        if (!remove().last || subscriber.status !== "ready") return;
        subscriber.unsubscribe(CHANNEL_PREFIX + topic).catch(outage.failed);
      };
    },
    isUp: () => connections.every(({ status }) => status === "ready"),
    async close() {
      subscriptions.clear();
      await Promise.all(connections.map(shut));
    },
  };
}

function open(url: string): Redis {
  return new Redis(url, {
    // What cannot be sent now is dropped instead of piling up in memory during an outage.
    enableOfflineQueue: false,
    // Done on `ready`, from the handlers that are wanted then.
    autoResubscribe: false,
    connectTimeout: 5_000,
    // Finds a peer that vanished without a word; a subscriber, which only listens, would otherwise wait for ever.
    keepAlive: 10_000,
    maxRetriesPerRequest: 1,
    retryStrategy: (failures) => pauseMsAfter(failures),
  });
}

/** Between two tries there is no socket that could end, and no `end` to wait for. */
async function shut(connection: Redis): Promise<void> {
  const connected = ["connecting", "connect", "ready"].includes(connection.status);
  const ended = new Promise<void>((resolve) => connection.once("end", resolve));
  connection.disconnect();
  if (connected) await ended;
}
