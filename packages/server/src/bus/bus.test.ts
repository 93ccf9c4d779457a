import { Pipe } from "@binnacle/world/pipe";
import { Redis } from "ioredis";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";
import { connectRedisBus, createMemoryBus } from "./bus.adapter.ts";
import type { Bus } from "./bus.ts";
import { connectPostgresBus } from "./postgres-bus.adapter.ts";

const REDIS_URL = process.env["REDIS_URL"] ?? "";
if (!REDIS_URL)
  process.stderr.write("\n!!! SKIPPED: the bus on Redis is not tested, because REDIS_URL is not set. !!!\n\n");

const SOON = { timeout: 10_000, interval: 20 };
const listeningLog = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() });

let log = listeningLog();
const opened: Bus[] = [];
beforeEach(() => {
  log = listeningLog();
});
afterEach(() => Promise.all(opened.splice(0).map((bus) => bus.close())));

function redisBus(url = REDIS_URL): Bus {
  const bus = connectRedisBus(url, log);
  opened.push(bus);
  return bus;
}

function postgresBus(connectionString = inject("postgresUrl"), checks?: Parameters<typeof connectPostgresBus>[2]): Bus {
  const bus = connectPostgresBus({ connectionString, connectionTimeoutMillis: 5_000 }, log, checks);
  opened.push(bus);
  return bus;
}

/** The buses that cross processes: how each is opened, and how a stranger sends a broken message over it. */
const SHARED = [
  {
    name: "Redis",
    isThere: REDIS_URL !== "",
    address: () => REDIS_URL,
    port: 6379,
    open: redisBus,
    async sendRaw(topic: string, texts: readonly string[]) {
      const stranger = new Redis(REDIS_URL);
      for (const text of texts) await stranger.publish(`binnacle:${topic}`, text);
      stranger.disconnect();
    },
  },
  {
    name: "PostgreSQL",
    isThere: true,
    address: () => inject("postgresUrl"),
    port: 5432,
    open: (url?: string) => postgresBus(url),
    async sendRaw(topic: string, texts: readonly string[]) {
      const stranger = new pg.Client({ connectionString: inject("postgresUrl") });
      await stranger.connect();
      for (const text of texts)
        await stranger.query("select pg_notify('binnacle', $1)", [`stranger\n${topic} ${text}`]);
      await stranger.end();
    },
  },
];

/**
 * Publishes until it is seen to arrive: the news of a subscription takes its time, and a hint may get lost. Copies may
 * still be on their way afterwards.
 */
async function meet(from: Bus, topic: string, received: { mock: { calls: unknown[][] } }): Promise<object> {
  const greeting = { greeting: newId() };
  await vi.waitFor(() => {
    from.publish(topic, greeting);
    expect(received.mock.calls).toContainEqual([greeting]);
  }, SOON);
  return greeting;
}

/** The tests that every bus must pass; `connectTwo` returns the ends of two replicas. */
function keepsTheContract(connectTwo: () => readonly [Bus, Bus]) {
  let here: Bus;
  let there: Bus;
  let topic: string;
  beforeEach(() => {
    [here, there] = connectTwo();
    topic = newId();
  });

  test("[BU1] a message reaches every subscriber of its topic, in this process and in others, as JSON carries it", async () => {
    const handlers = [vi.fn(), vi.fn(), vi.fn()] as const;
    here.subscribe(topic, handlers[0]);
    there.subscribe(topic, handlers[1]);
    there.subscribe(topic, handlers[2]);
    for (const handler of handlers) await meet(here, topic, handler);
    here.publish(topic, { list: [1, { deep: "ü" }], at: new Date(0), none: undefined });
    for (const handler of handlers) {
      await vi.waitFor(
        () => expect(handler).toHaveBeenCalledWith({ list: [1, { deep: "ü" }], at: "1970-01-01T00:00:00.000Z" }),
        SOON,
      );
    }
  });

  test("[BU2] a message does not reach the subscribers of other topics", async () => {
    const [mine, others] = [vi.fn(), vi.fn()];
    there.subscribe(`${topic}.other`, others);
    await meet(here, `${topic}.other`, others);
    there.subscribe(topic, mine);
    const greeting = await meet(here, topic, mine);
    expect(others).not.toHaveBeenCalledWith(greeting);
  });

  test("[BU3] an unsubscribed handler receives nothing more, and the other subscribers of the topic still do", async () => {
    const [leaving, staying] = [vi.fn(), vi.fn()];
    const leave = there.subscribe(topic, leaving);
    const stop = there.subscribe(topic, staying);
    await meet(here, topic, leaving);
    leave();
    leave();
    const greeting = await meet(here, topic, staying);
    expect(leaving).not.toHaveBeenCalledWith(greeting);
    stop();
    const again = vi.fn();
    there.subscribe(topic, again);
    await meet(here, topic, again);
  });

  test("[BU4] a handler that throws is logged and disturbs neither the publisher nor the other handlers", async () => {
    const handler = vi.fn();
    there.subscribe(topic, () => {
      throw new Error("clumsy");
    });
    there.subscribe(topic, handler);
    await meet(here, topic, handler);
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ topic }), expect.any(String));
  });

  test("[BU5] a message that JSON cannot carry is dropped and logged; publishing does not throw", async () => {
    const handler = vi.fn();
    there.subscribe(topic, handler);
    const endless: { self?: object } = {};
    endless.self = endless;
    here.publish(topic, endless);
    here.publish(topic, { big: 1n });
    expect(log.error).toHaveBeenCalledTimes(2);
    await meet(here, topic, handler);
  });

  test("[BU6] handlers are called after publishing has returned", async () => {
    const handler = vi.fn();
    here.subscribe(topic, handler);
    await meet(here, topic, handler);
    here.publish(topic, { late: true });
    expect(handler).not.toHaveBeenCalledWith({ late: true });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledWith({ late: true }), SOON);
  });

  test("[BU7] a closed bus delivers nothing, and publishing and subscribing on it do no harm", async () => {
    const handler = vi.fn();
    const leave = here.subscribe(topic, handler);
    await meet(here, topic, handler);
    await here.close();
    handler.mockClear();
    here.publish(topic, {});
    here.subscribe(topic, handler);
    leave();
    await here.close();
    await new Promise(setImmediate);
    expect(handler).not.toHaveBeenCalled();
  });
}

describe("bus in memory", () => {
  keepsTheContract(() => {
    const bus = createMemoryBus(log);
    opened.push(bus);
    return [bus, bus];
  });
});

describe.each(SHARED.filter(({ isThere }) => isThere))("bus on $name", ({ name, open, sendRaw, address, port }) => {
  keepsTheContract(() => [open(), open()]);

  test("[BU8] a message that is not a JSON object is dropped with a line in the log", async () => {
    const topic = newId();
    const handler = vi.fn();
    const bus = open();
    bus.subscribe(topic, handler);
    await meet(open(), topic, handler);
    await sendRaw(topic, ["{", "", "42", "null", '"text"']);
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(5), SOON);
    await meet(bus, topic, handler);
    for (const [message] of handler.mock.calls) expect(message).toEqual({ greeting: expect.any(String) });
  });

  test("[BU1533] messages of every size arrive whole and in their order, from several processes at once", async () => {
    const topic = newId();
    const received: { from: number; at: number; filler: string }[] = [];
    const [reader, ...writers] = [open(), open(), open()] as const;
    const greeted = vi.fn();
    reader.subscribe(topic, greeted);
    for (const writer of writers) await meet(writer, topic, greeted);
    reader.subscribe(topic, (message) => "filler" in (message as object) && received.push(message as never));
    const sizes = [0, 10, 2_000, 7_800, 8_000, 30_000, 200_000];
    const fillerOf = (at: number) => 'x\n"😀'.repeat((sizes[at % sizes.length] ?? 0) / 5);
    for (let at = 0; at < 50; at += 1) {
      for (const [from, writer] of writers.entries()) writer.publish(topic, { from, at, filler: fillerOf(at) });
    }
    await vi.waitFor(() => expect(received).toHaveLength(100), SOON);
    for (const from of writers.keys()) {
      const ofOne = received.filter((message) => message.from === from);
      expect(ofOne.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, at) => at));
      for (const { at, filler } of ofOne) expect(filler === fillerOf(at)).toBe(true);
    }
  });

  describe("that is away", () => {
    let pipe: Pipe;
    let through: string;
    beforeEach(async () => {
      ({ pipe, url: through } = await Pipe.toServer(address(), port));
    });
    afterEach(() => pipe.close());

    test("[BU9] a bus that is unreachable at the start disturbs nobody, and is used once it is reachable", async () => {
      await pipe.close();
      const bus = open(through);
      const topic = newId();
      const handler = vi.fn();
      bus.subscribe(topic, handler);
      bus.publish(topic, {});
      await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(1), SOON);
      expect(bus.isUp()).toBe(false);
      await pipe.open();
      await bus.connected;
      await meet(open(), topic, handler);
      expect(bus.isUp()).toBe(true);
    });

    test("[BU10] after an outage every topic is received again, also those subscribed to during the outage", async () => {
      const bus = open(through);
      const [before, during] = [newId(), newId()];
      const [first, second] = [vi.fn(), vi.fn()];
      bus.subscribe(before, first);
      await meet(bus, before, first);
      await pipe.close();
      bus.subscribe(during, second);
      bus.publish(before, {});
      await pipe.open();
      await meet(open(), before, first);
      await meet(open(), during, second);
    });

    test("[BU11] an outage is logged once when it begins and once when it ends", async () => {
      const bus = open(through);
      await bus.connected;
      for (const outage of [1, 2]) {
        expect(log.info).toHaveBeenCalledTimes(outage - 1);
        const tries = vi.spyOn(Math, "random");
        await pipe.close();
        // Each try to connect draws its pause.
        await vi.waitFor(() => expect(tries.mock.calls.length).toBeGreaterThan(3), SOON);
        tries.mockRestore();
        await pipe.open();
        await vi.waitFor(() => expect(log.info).toHaveBeenCalledTimes(outage), SOON);
        expect(log.warn).toHaveBeenCalledTimes(outage);
      }
    });

    test("[BU1534] a process whose connection was lost is told that it may have missed messages", async () => {
      const bus = open(through);
      await bus.connected;
      const missed = vi.fn();
      bus.onMissed(missed);
      pipe.cut();
      await vi.waitFor(() => expect(missed).toHaveBeenCalled(), SOON);
    });

    test("[BU1535] when a process had to drop messages, all others are told that they have missed some", async () => {
      const [bus, other] = [open(through), open()];
      await Promise.all([bus.connected, other.connected]);
      const topic = newId();
      const received = vi.fn();
      other.subscribe(topic, received);
      await meet(bus, topic, received);
      const missed = vi.fn();
      const forget = other.onMissed(missed);
      await pipe.close();
      await vi.waitFor(() => expect(bus.isUp()).toBe(false), SOON);
      bus.publish(topic, { dropped: true });
      expect(missed).not.toHaveBeenCalled();
      await pipe.open();
      await vi.waitFor(() => expect(missed).toHaveBeenCalled(), SOON);
      expect(received).not.toHaveBeenCalledWith({ dropped: true });
      forget();
    });

    test("[BU32] messages that are not taken are dropped beyond 16 MiB, until they are taken again", async () => {
      const bus = open(through);
      const topic = newId();
      const handler = vi.fn();
      open().subscribe(topic, handler);
      await meet(bus, topic, handler);
      pipe.stall();
      for (let count = 0; count < 16; count += 1) bus.publish(topic, { count, filler: "x".repeat(1024 * 1024) });
      expect([bus.isUp(), log.warn.mock.calls.length]).toEqual([false, 0]);
      for (let count = 0; count < 100; count += 1) bus.publish(topic, { count, filler: "y".repeat(1024 * 1024) });
      expect(log.warn).toHaveBeenCalledTimes(1);
      pipe.flow();
      pipe.cut();
      await meet(bus, topic, handler);
      expect(handler.mock.calls.filter(([{ filler }]) => filler).length).toBeLessThanOrEqual(16);
      await vi.waitFor(() => expect([bus.isUp(), log.info.mock.calls.length]).toEqual([true, 1]), SOON);
    });

    test("[BU7] a bus closes although it is unreachable", async () => {
      const bus = open(through);
      await pipe.close();
      await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(1), SOON);
      await bus.close();
    });

    test("[BU7] a bus closes while it connects to something that does not answer", async () => {
      pipe.stall();
      const bus = open(through);
      const startedAtMs = performance.now();
      await bus.close();
      expect([name, performance.now() - startedAtMs < 2_000]).toEqual([name, true]);
    });
  });
});

describe("bus on PostgreSQL alone", () => {
  test("[BU1536] messages reach the handlers of their own process while PostgreSQL is unreachable", async () => {
    const bus = postgresBus("postgres://nobody@127.0.0.1:1/none");
    const handler = vi.fn();
    bus.subscribe("topic", handler);
    bus.publish("topic", { here: true });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledWith({ here: true }), SOON);
  });

  test("[BU1537] what is published within 20 milliseconds is sent by few transactions, and the same hint once", async () => {
    const [bus, other] = [postgresBus(), postgresBus()];
    const topic = newId();
    const handler = vi.fn();
    other.subscribe(topic, handler);
    await meet(bus, topic, handler);
    const query = vi.spyOn(pg.Client.prototype, "query");
    for (let count = 0; count < 1_000; count += 1) bus.publish(topic, { number: count % 500 });
    const numbers = () => handler.mock.calls.flatMap(([{ number }]) => number ?? []);
    await vi.waitFor(() => expect(numbers()).toHaveLength(500), SOON);
    expect(query.mock.calls.length).toBeLessThanOrEqual(3);
    query.mockRestore();
  });

  test("[BU1538] a connection that is open and delivers nothing is replaced", async () => {
    const { pipe, url } = await Pipe.toServer(inject("postgresUrl"), 5432);
    const bus = postgresBus(url, { everyMs: 50, answerWithinMs: 300 });
    await bus.connected;
    pipe.stall();
    await vi.waitFor(() => expect(bus.isUp()).toBe(false), SOON);
    expect(log.warn.mock.calls[0]?.[0].err.message).toMatch(/BINNACLE_DIRECT_DATABASE_URL/);
    pipe.flow();
    pipe.cut();
    await vi.waitFor(() => expect(bus.isUp()).toBe(true), SOON);
    await bus.close();
    await pipe.close();
  });

  test("[BU1539] what was published before the bus is closed reaches the others", async () => {
    const [bus, other] = [postgresBus(), postgresBus()];
    const topic = newId();
    const handler = vi.fn();
    other.subscribe(topic, handler);
    await meet(bus, topic, handler);
    bus.publish(topic, { last: true });
    await bus.close();
    await vi.waitFor(() => expect(handler).toHaveBeenCalledWith({ last: true }), SOON);
  });
});
