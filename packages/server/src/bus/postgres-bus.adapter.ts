import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { newId } from "../id.adapter.ts";
import { type Log, pauseMsAfter, watchOutage } from "../outage.ts";
import { type Bus, DROPPED_TOPIC, Subscriptions, writeMessage } from "./bus.ts";
import { lineOf, PayloadReader, payloadsOf } from "./notification.ts";
import { Outbox } from "./outbox.ts";

const CHANNEL = "binnacle";
/** A lone message is sent at once. Those that follow it within this time are sent together, in one transaction. */
const GATHERED_MS = 20;
const CHECKS: Checks = { everyMs: 5_000, answerWithinMs: 5_000 };
const CLOSE_WITHIN_MS = 1_000;

interface Checks {
  /** How often the connection is tried by a notification to this process itself. */
  readonly everyMs: number;
  readonly answerWithinMs: number;
}

const TOO_MANY = "PostgreSQL does not take messages as fast as they are sent. Further ones are dropped.";
const NOTHING_DELIVERED =
  "PostgreSQL did not deliver a notification in time. If it is reached through a transaction pooler, set " +
  "BINNACLE_DIRECT_DATABASE_URL to its own address.";

/**
 * Sends hints by notifications of PostgreSQL, over one connection that does nothing else. They are never sent within the
 * transaction of a change: the commit of a transaction with a notification waits for all others of the whole server.
 *
 * Handlers of this process are called directly, so that they depend neither on the connection nor on its delay.
 */
export function connectPostgresBus(config: pg.ClientConfig, log: Log, checks = CHECKS): Bus {
  const id = newId();
  const subscriptions = new Subscriptions(log);
  const outage = watchOutage(log, "the bus over PostgreSQL");
  const connected = Promise.withResolvers<void>();
  const closing = new AbortController();
  const outbox = new Outbox();
  let hasDropped = false;
  let current: Listener | null = null;
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> = Promise.resolve();
  const deliver = (topic: string, text: string) => closing.signal.aborted || subscriptions.deliver(topic, text);

  function dropped(error: unknown): void {
    hasDropped = true;
    outage.failed(error);
  }

  function enqueue(line: string): void {
    if (current === null) hasDropped = true;
    else if (!outbox.hasRoom) dropped(new Error(TOO_MANY));
    else {
      outbox.add(line);
      timer ??= setTimeout(send, 0);
    }
  }

  function send(): void {
    const batch = outbox.takeBatch();
    if (current === null || batch.length === 0) {
      timer = null;
      return;
    }
    const sent = current.notify(payloadsOf(id, batch)).then(() => true, dropped);
    sending = Promise.all([sent, pause(GATHERED_MS)]).then(([isSent]) => {
      timer = null;
      if (isSent) noteUp();
      if (!outbox.isEmpty) timer ??= setTimeout(send, 0);
    });
  }

  function noteUp(): void {
    if (current === null || !outbox.hasRoom) return;
    outage.recovered();
    if (hasDropped) enqueue(lineOf({ topic: DROPPED_TOPIC, text: "{}" }));
    hasDropped = false;
  }

  function listens(listener: Listener): void {
    current = listener;
    noteUp();
    connected.resolve();
    // What others have sent before this connection listened is lost.
    subscriptions.missed();
  }

  function lost(): void {
    current = null;
    hasDropped ||= !outbox.isEmpty;
    outbox.clear();
  }

  const listening = { id, checks, signal: closing.signal, deliver, onError: outage.failed };
  const running = keepListening(config, listening, listens, lost);

  return {
    publish(topic, message) {
      const text = writeMessage(log, topic, message);
      if (text === null || closing.signal.aborted) return;
      setImmediate(deliver, topic, text);
      enqueue(lineOf({ topic, text }));
    },
    subscribe: (topic, handler) => subscriptions.add(topic, handler).remove,
    onMissed: (handler) => subscriptions.onMissed(handler),
    connected: connected.promise,
    isUp: () => current !== null && outbox.hasRoom,
    async close() {
      closing.abort();
      subscriptions.clear();
      await sending;
      if (timer !== null) clearTimeout(timer);
      send();
      await sending;
      current?.end();
      await running;
    },
  };
}

/** Replaces a connection that is lost, until the signal. Resolves when the last one has ended. */
async function keepListening(
  config: pg.ClientConfig,
  listening: Listening,
  onUp: (listener: Listener) => void,
  onLost: () => void,
): Promise<void> {
  const { signal, onError } = listening;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const listener = await openListener(config, listening);
      failures = 0;
      onUp(listener);
      if (signal.aborted) listener.end();
      await listener.ended;
      onLost();
      if (!signal.aborted) onError(new Error("The connection was lost."));
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    await pause(pauseMsAfter(failures), undefined, { signal }).catch(() => undefined);
  }
}

interface Listener {
  notify(payloads: readonly string[]): Promise<unknown>;
  /** Sends what is under way and closes the connection, whether or not the other end answers. */
  end(): void;
  readonly ended: Promise<unknown>;
}

interface Listening {
  readonly id: string;
  readonly checks: Checks;
  /** Ends an attempt to connect. */
  readonly signal: AbortSignal;
  deliver(topic: string, text: string): void;
  onError(error: unknown): void;
}

/** Resolves with a connection over which a notification has come back. */
async function openListener(config: pg.ClientConfig, listening: Listening): Promise<Listener> {
  const { id, checks, signal, deliver, onError } = listening;
  const client = new pg.Client({ ...config, application_name: "binnacle bus" });
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  const cut = () => client.connection.stream.destroy();
  let last: Promise<unknown> = Promise.resolve();
  function notify(payloads: readonly string[]): Promise<unknown> {
    const text = "select pg_notify($1, payload) from unnest($2::text[]) as payload";
    const sent = last.then(() => client.query(text, [CHANNEL, payloads]));
    last = sent.catch(() => undefined);
    return sent;
  }
  const reader = new PayloadReader();
  const returned = Promise.withResolvers<void>();
  let isAwaited = false;
  let deadline: NodeJS.Timeout | undefined;

  client.on("error", onError);
  client.on("notification", ({ payload = "" }) => {
    const { sender, lines } = reader.read(payload);
    if (sender !== id) for (const { topic, text } of lines) deliver(topic, text);
    else {
      isAwaited = false;
      returned.resolve();
    }
  });
  function check(): void {
    isAwaited = true;
    notify([id]).catch(onError);
    deadline = setTimeout(() => {
      if (!isAwaited) return;
      onError(new Error(NOTHING_DELIVERED));
      cut();
    }, checks.answerWithinMs);
  }

  signal.addEventListener("abort", cut, { once: true });
  try {
    await client.connect();
    // Commits of notifications exclude each other, so they must not wait for the disk. A crash loses hints and nothing else.
    await client.query(`set synchronous_commit = off; listen ${CHANNEL}`);
    check();
    await Promise.race([returned.promise, ended.then(() => Promise.reject(new Error("The connection was lost.")))]);
  } catch (error) {
    clearTimeout(deadline);
    cut();
    throw error;
  } finally {
    signal.removeEventListener("abort", cut);
  }
  const checking = setInterval(check, checks.everyMs);
  void ended.then(() => {
    clearInterval(checking);
    clearTimeout(deadline);
  });
  return {
    notify,
    ended,
    end() {
      setTimeout(cut, CLOSE_WITHIN_MS).unref();
      void client.end();
    },
  };
}
