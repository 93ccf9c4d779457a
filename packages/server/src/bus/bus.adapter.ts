import { Redis, type RedisOptions } from "ioredis";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { type Bus, DROPPED_TOPIC, MOST_WAITING_BYTES, Subscriptions, writeMessage } from "./bus.ts";

/**
 * The bus of a process that has its database to itself, and so cannot be one of several. It serializes messages and delivers
 * them later, as the others do, so that code behaves the same on all.
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
    onMissed: (handler) => subscriptions.onMissed(handler),
    connected: Promise.resolve(),
    isUp: () => !closed,
    async close() {
      closed = true;
      subscriptions.clear();
    },
  };
}

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
  const connected = Promise.withResolvers<void>();
  let unconfirmedBytes = 0;
  let hasDropped = false;
  let hasListened = false;
  const hasRoom = () => unconfirmedBytes < MOST_WAITING_BYTES;
  const isUp = () => hasRoom() && connections.every(({ status }) => status === "ready");
  const noteUp = () => {
    if (!isUp()) return;
    outage.recovered();
    if (hasListened) connected.resolve();
    if (!hasDropped) return;
    hasDropped = false;
    send(DROPPED_TOPIC, "{}");
  };

  /** A lost connection subscribes to every topic when it is back, so failures are ignored. */
  const listen = async (topics: readonly string[]) => {
    if (topics.length === 0 || subscriber.status !== "ready") return;
    await subscriber.subscribe(...topics.map((topic) => CHANNEL_PREFIX + topic)).catch(outage.failed);
  };

  function send(topic: string, text: string): void {
    const bytes = text.length + MESSAGE_BYTES;
    unconfirmedBytes += bytes;
    const confirmed = () => {
      unconfirmedBytes -= bytes;
    };
    const failed = (error: unknown) => {
      hasDropped = true;
      outage.failed(error);
    };
    publisher
      .publish(CHANNEL_PREFIX + topic, text)
      .finally(confirmed)
      .then(noteUp, failed);
  }

  for (const connection of connections) {
    connection.on("error", outage.failed);
    // A cleanly closed connection is an outage too, although it reports no error.
    connection.on("reconnecting", () => outage.failed(new Error("The connection was lost.")));
    connection.on("ready", noteUp);
  }
  const listenAgain = async () => {
    await listen(subscriptions.topics);
    // What was published before the subscriptions were in place is lost.
    subscriptions.missed();
    hasListened = true;
    noteUp();
  };
  subscriber.on("ready", () => void listenAgain());
  subscriber.on("message", (channel, text) => subscriptions.deliver(channel.slice(CHANNEL_PREFIX.length), text));

  return {
    publish(topic, message) {
      const text = writeMessage(log, topic, message);
      if (text === null) return;
      if (publisher.status === "ready" && hasRoom()) return send(topic, text);
      hasDropped = true;
      if (publisher.status === "ready")
        outage.failed(new Error("Redis does not take messages as fast as they are sent. Further ones are dropped."));
    },
    subscribe(topic, handler) {
      const { first, remove } = subscriptions.add(topic, handler);
      if (first) void listen([topic]);
      return () => {
        if (!remove().last || subscriber.status !== "ready") return;
        subscriber.unsubscribe(CHANNEL_PREFIX + topic).catch(outage.failed);
      };
    },
    onMissed: (handler) => subscriptions.onMissed(handler),
    connected: connected.promise,
    isUp,
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
