import { Pipe } from "@binnacle/world/pipe";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";
import { connectRedisBus, createMemoryBus } from "./bus.adapter.ts";
import type { Bus } from "./bus.ts";

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

  test("[BU3] who has unsubscribed hears nothing more, and the others of the topic go on hearing", async () => {
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

describe.runIf(REDIS_URL)("bus on Redis", () => {
  keepsTheContract(() => [redisBus(), redisBus()]);

  test("[BU8] a message that is not a JSON object is dropped with a line in the log", async () => {
    const topic = newId();
    const handler = vi.fn();
    const bus = redisBus();
    bus.subscribe(topic, handler);
    await meet(bus, topic, handler);
    const stranger = new Redis(REDIS_URL);
    for (const broken of ["{", "", "42", "null", '"text"']) await stranger.publish(`binnacle:${topic}`, broken);
    stranger.disconnect();
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(5), SOON);
    await meet(bus, topic, handler);
    for (const [message] of handler.mock.calls) expect(message).toEqual({ greeting: expect.any(String) });
  });
});

describe.runIf(REDIS_URL)("bus on a Redis that is away", () => {
  let pipe: Pipe;
  let address: string;
  beforeEach(async () => {
    const { hostname, port } = new URL(REDIS_URL);
    pipe = await Pipe.to(Number(port || 6379), hostname);
    const through = new URL(REDIS_URL);
    through.host = `127.0.0.1:${pipe.port}`;
    address = through.href;
  });
  afterEach(() => pipe.close());

  test("[BU9] a Redis that is away at the start disturbs nobody, and is used once it is there", async () => {
    await pipe.close();
    const bus = redisBus(address);
    const topic = newId();
    const handler = vi.fn();
    bus.subscribe(topic, handler);
    bus.publish(topic, {});
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(1), SOON);
    await pipe.open();
    await meet(bus, topic, handler);
  });

  test("[BU10] after an outage every topic is heard again, also those subscribed to meanwhile", async () => {
    const bus = redisBus(address);
    const [before, during] = [newId(), newId()];
    const [first, second] = [vi.fn(), vi.fn()];
    bus.subscribe(before, first);
    await meet(bus, before, first);
    await pipe.close();
    bus.subscribe(during, second);
    bus.publish(before, {});
    await pipe.open();
    await meet(redisBus(), before, first);
    await meet(bus, during, second);
  });

  test("[BU11] an outage is logged once when it begins and once when it ends", async () => {
    const bus = redisBus(address);
    const topic = newId();
    const handler = vi.fn();
    bus.subscribe(topic, handler);
    for (const outage of [1, 2]) {
      await meet(bus, topic, handler);
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

  test("[BU32] messages that Redis does not take are dropped beyond 16 MiB, until it takes them again", async () => {
    const bus = redisBus(address);
    const topic = newId();
    const handler = vi.fn();
    bus.subscribe(topic, handler);
    await meet(bus, topic, handler);
    pipe.stall();
    const message = { filler: "x".repeat(1024 * 1024) };
    for (let count = 0; count < 16; count += 1) bus.publish(topic, message);
    expect([bus.isUp(), log.warn.mock.calls.length]).toEqual([false, 0]);
    for (let count = 0; count < 100; count += 1) bus.publish(topic, message);
    expect(log.warn).toHaveBeenCalledTimes(1);
    pipe.flow();
    pipe.cut();
    await meet(bus, topic, handler);
    expect(handler.mock.calls.filter(([{ filler }]) => filler).length).toBeLessThanOrEqual(16);
    await vi.waitFor(() => expect([bus.isUp(), log.info.mock.calls.length]).toEqual([true, 1]), SOON);
  });

  test("[BU7] a bus closes although its Redis is away", async () => {
    const bus = redisBus(address);
    await pipe.close();
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalledTimes(1), SOON);
    await bus.close();
  });
});
