import { Redis, type RedisOptions } from "ioredis";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { type Bus, Subscriptions, writeMessage } from "./bus.ts";

/**
 * The bus of an installation with one process. It serializes messages and delivers them later, as Redis does, so that
 * code behaves the same on both.
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

/** What Redis has not confirmed. A Redis that is connected and takes nothing would fill the memory otherwise. */
const MOST_UNCONFIRMED_BYTES = 16 * 1024 * 1024;
/** What a message takes in addition to its text, as measured. */
const MESSAGE_BYTES = 1536;

/** Redis does not separate channels by database, so the prefix avoids clashes with other programs. */
const CHANNEL_PREFIX = "binnacle:";

/**
 * Sends hints through Redis, which may be unreachable at any time. Callers never notice; the log reports it once per
 * outage, and messages are dropped in the meantime. There are two connections, because a subscribing one can do nothing
 * else.
 */
export function connectRedisBus(url: string, log: Log): Bus {
  const subscriptions = new Subscriptions(log);
  const outage = watchOutage(log, "the Redis of the bus");
  const publisher = open(url);
  const subscriber = open(url);
  const connections = [publisher, subscriber];
  let unconfirmedBytes = 0;
  const hasRoom = () => unconfirmedBytes < MOST_UNCONFIRMED_BYTES;
  const noteUp = () => {
    if (hasRoom() && connections.every(({ status }) => status === "ready")) outage.recovered();
  };

  /** A lost connection subscribes to every topic when it is back, so failures are ignored. */
  const listen = (topics: readonly string[]) => {
    if (topics.length === 0 || subscriber.status !== "ready") return;
    subscriber.subscribe(...topics.map((topic) => CHANNEL_PREFIX + topic)).catch(outage.failed);
  };

  for (const connection of connections) {
    connection.on("error", outage.failed);
    // A cleanly closed connection is an outage too, although it reports no error.
    connection.on("reconnecting", () => outage.failed(new Error("The connection was lost.")));
    connection.on("ready", noteUp);
  }
  subscriber.on("ready", () => listen(subscriptions.topics));
  subscriber.on("message", (channel, text) => subscriptions.deliver(channel.slice(CHANNEL_PREFIX.length), text));

  return {
    publish(topic, message) {
      const text = writeMessage(log, topic, message);
      if (text === null || publisher.status !== "ready") return;
      if (!hasRoom()) {
        outage.failed(new Error("Redis does not take messages as fast as they are sent. Further ones are dropped."));
        return;
      }
      const bytes = text.length + MESSAGE_BYTES;
      unconfirmedBytes += bytes;
      const confirmed = () => {
        unconfirmedBytes -= bytes;
      };
      publisher
        .publish(CHANNEL_PREFIX + topic, text)
        .finally(confirmed)
        .then(noteUp, outage.failed);
    },
    subscribe(topic, handler) {
      const { first, remove } = subscriptions.add(topic, handler);
      if (first) listen([topic]);
      return () => {
        if (!remove().last || subscriber.status !== "ready") return;
        subscriber.unsubscribe(CHANNEL_PREFIX + topic).catch(outage.failed);
      };
    },
    isUp: () => hasRoom() && connections.every(({ status }) => status === "ready"),
    async close() {
      subscriptions.clear();
      await Promise.all(connections.map(shut));
    },
  };
}

export function open(url: string, options: Pick<RedisOptions, "commandTimeout"> = {}): Redis {
  return new Redis(url, {
    // Messages are dropped instead of filling the memory during an outage.
    enableOfflineQueue: false,
    // The `ready` handler subscribes to the current topics.
    autoResubscribe: false,
    connectTimeout: 5_000,
    // Detects a peer that vanished silently. A subscriber only listens and would otherwise wait forever.
    keepAlive: 10_000,
    maxRetriesPerRequest: 1,
    retryStrategy: (failures) => pauseMsAfter(failures),
    ...options,
  });
}

/** Between two attempts there is no socket, and so no `end` event to wait for. */
export async function shut(connection: Redis): Promise<void> {
  const connected = ["connecting", "connect", "ready"].includes(connection.status);
  const ended = new Promise<void>((resolve) => connection.once("end", resolve));
  connection.disconnect();
  if (connected) await ended;
}
