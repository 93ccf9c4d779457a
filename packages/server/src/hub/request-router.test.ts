import { startWorld, type World } from "@binnacle/world";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { createMemoryBus } from "../bus/bus.adapter.ts";
import { scriptedSession } from "./live-session.fixture.ts";
import type { OperatorRequest, Reply } from "./request-frames.ts";
import { type RequestRouter, serveRequests, startRequestRouter } from "./request-router.runner.ts";

const KEEP_ALIVE = { everyMs: 10_000, deadAfterMs: 35_000 };
const LOGS: OperatorRequest = {
  name: "logs",
  namespace: "shop",
  app: "web",
  component: "web",
  tail_lines: 5,
  since_seconds: null,
  follow: true,
};
const EXEC: OperatorRequest = {
  name: "exec",
  namespace: "shop",
  app: "web",
  component: "web",
  pod: null,
  container: null,
  command: ["sh"],
  tty: true,
  size: { cols: 80, rows: 24 },
};
const METRICS: OperatorRequest = { name: "metrics", app: null, range_seconds: 60 };
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

let world: World;
let clusterId: string;
let operator: ReturnType<typeof scriptedSession>;
let bus: ReturnType<typeof createMemoryBus>;
let server: { stop(): void };
let router: RequestRouter;
let replies: Reply[];

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  clusterId = (await openShop(world)).cluster;
  operator = scriptedSession(clusterId);
  bus = createMemoryBus(log);
  const { hubId } = operator.session.fence;
  await lease(hubId, 60_000);
  const sessions = { find: (id: string) => (id === clusterId ? operator.session : null) };
  server = serveRequests(hubId, sessions, bus, KEEP_ALIVE);
  router = startRequestRouter({
    db: world.database.kysely,
    bus,
    clock: world.clock.now,
    local: { find: () => null },
    keepAlive: KEEP_ALIVE,
  });
  replies = [];
});
afterEach(async () => {
  router.stop();
  server.stop();
  await bus.close();
  vi.useRealTimers();
});

async function lease(hubId: string, forMs: number): Promise<void> {
  const now = world.clock.now();
  await world.database.kysely
    .insertInto("cluster_sessions")
    .values({
      cluster_id: clusterId,
      hub_id: hubId,
      epoch: 1,
      token_version: 1,
      lease_until: new Date(now.getTime() + forMs),
      started_at: now,
    })
    .execute();
}

const ask = (request: OperatorRequest) => router.send(clusterId, request, (reply) => replies.push(reply));
/** Lets both sides keep the stream alive so many times. Messages arrive between two of them. */
async function keepAlive(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    vi.advanceTimersByTime(KEEP_ALIVE.everyMs);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
const asked = () => vi.waitFor(() => operator.asked());

describe("a request to an operator of another process", () => {
  test("[RQ1] goes over the bus and its answer comes back", async () => {
    await ask(METRICS);
    expect(await asked()).toMatchObject({ type: "request" });
    operator.answer({ type: "response", answer: { metrics: null } });
    await vi.waitFor(() => expect(replies).toEqual([{ metrics: null }]));
  });

  test("[RQ1] opens a stream that takes credit and can be left", async () => {
    const open = await ask(LOGS);
    await asked();
    operator.answer({ type: "stream_data", lines: [], dropped: 1 });
    await vi.waitFor(() => expect(replies).toEqual([{ lines: [], dropped: 1 }]));
    open.credit(100);
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_credit", credit_bytes: 100 }));
    open.cancel();
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" }));
  });

  test("[EX11] runs a command: input goes there, and output, credit and the end come back", async () => {
    const open = await ask(EXEC);
    expect(await asked()).toMatchObject({ type: "stream_open", credit_bytes: 0 });
    operator.answer({ type: "stream_target", pod: "web-0", container: "web", credit_bytes: 9 });
    open.credit(2);
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_credit", credit_bytes: 2 }));
    operator.answer({ type: "stream_output", channel: "stdout", data: "aGk=" });
    expect(operator.answer({ type: "stream_output", channel: "stdout", data: "aGk=" })).toBe(false);
    operator.answer({ type: "stream_credit", credit_bytes: 4 });
    open.input({ data: "bHM=" });
    open.input({ end: true });
    await vi.waitFor(() => expect(operator.sent.slice(-2)).toMatchObject([{ data: "bHM=" }, { end: true }]));
    operator.answer({ type: "stream_end", error: null, exit_code: 3 });
    const target = { pod: "web-0", container: "web", credit_bytes: 9 };
    const output = { channel: "stdout", data: "aGk=" };
    const expected = [{ target }, { output }, { taken: 4 }, { end: null, exit_code: 3 }];
    await vi.waitFor(() => expect(replies).toEqual(expected));
  });

  test.each([
    ["[EX11]", "output", EXEC, { type: "stream_output", channel: "stdout", data: "bG9zdA==" }],
    ["[RQ43]", "log lines", LOGS, { type: "stream_data", lines: [], dropped: 1 }],
  ])("%s ends where %s were lost on the way", async (_, _what, request, answer) => {
    const open = await ask(request);
    await asked();
    open.credit(100);
    await vi.waitFor(() => expect(operator.sent).toHaveLength(2));
    operator.answer(answer);
    await vi.waitFor(() => expect(replies).toHaveLength(1));
    const publish = vi.spyOn(bus, "publish").mockReturnValueOnce(undefined);
    operator.answer(answer);
    await vi.waitFor(() => expect(publish).toHaveBeenCalled());
    publish.mockRestore();
    operator.answer(answer);
    await vi.waitFor(() => expect(replies).toHaveLength(2));
    expect(replies.at(-1)).toMatchObject({ failed: "lost" });
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" }));
  });

  test("[EX43] joins output that arrives together, and sends it before what comes after it", async () => {
    const open = await ask(EXEC);
    await asked();
    open.credit(1_000);
    await vi.waitFor(() => expect(operator.sent).toHaveLength(2));
    const publish = vi.spyOn(bus, "publish");
    const send = (channel: string) => operator.answer({ type: "stream_output", channel, data: "eA==" });
    for (let count = 0; count < 400; count += 1) send(count % 2 === 0 ? "stdout" : "stderr");
    operator.answer({ type: "stream_end", error: null, exit_code: 0 });
    expect(publish).toHaveBeenCalledTimes(3);
    publish.mockRestore();
    const data = Buffer.from("x".repeat(200)).toString("base64");
    const outputs = ["stdout", "stderr"].map((channel) => ({ output: { channel, data } }));
    await vi.waitFor(() => expect(replies).toEqual([...outputs, { end: null, exit_code: 0 }]));
  });

  test("[EX11] ends a command whose input was lost on the way", async () => {
    const open = await ask(EXEC);
    await asked();
    const publish = vi.spyOn(bus, "publish").mockReturnValueOnce(undefined);
    open.input({ data: "bG9zdA==" });
    publish.mockRestore();
    open.input({ data: "bGF0ZXI=" });
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]));
    expect(operator.sent.map(({ type }) => type)).toEqual(["stream_open", "stream_cancel"]);
  });

  test("[EX6] says that the operator is too old, and keeps nothing open for it", async () => {
    operator = scriptedSession(clusterId, []);
    await ask(EXEC);
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "refused" }]));
    await keepAlive(10);
    expect(operator.sent).toEqual([]);
  });

  test("[RQ14] is possible while its operator is connected: its hub holds a lease that has not run out", async () => {
    expect(await router.isConnected(clusterId)).toBe(true);
    const sessions = world.database.kysely.updateTable("cluster_sessions").where("cluster_id", "=", clusterId);
    await sessions.set({ lease_until: world.clock.now() }).execute();
    expect(await router.isConnected(clusterId)).toBe(false);
  });

  test("[RQ2] is refused where nobody holds its session, and where the bus is away", async () => {
    await bus.close();
    await expect(ask(METRICS)).rejects.toMatchObject({ kind: "unavailable" });
    await world.database.kysely.deleteFrom("cluster_sessions").where("cluster_id", "=", clusterId).execute();
    await expect(ask(METRICS)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("[RQ4] is lost where the session is no longer there", async () => {
    server.stop();
    server = serveRequests(operator.session.fence.hubId, { find: () => null }, bus, KEEP_ALIVE);
    await ask(METRICS);
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]));
  });

  test("[RQ6] is ended at the operator when the sender falls silent", async () => {
    await ask(LOGS);
    await asked();
    router.stop();
    await keepAlive(3);
    expect(operator.sent.at(-1)).toMatchObject({ type: "stream_open" });
    await keepAlive(2);
    expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" });
  });

  test("[RQ7] is ended for the reader when the hub falls silent", async () => {
    await ask(LOGS);
    await asked();
    server.stop();
    await keepAlive(3);
    expect(replies).toEqual([]);
    await keepAlive(2);
    expect(replies).toMatchObject([{ failed: "lost" }]);
  });

  test("[RQ6] goes on for as long as both are there", async () => {
    await ask(LOGS);
    await asked();
    await keepAlive(20);
    expect(replies).toEqual([]);
    expect(operator.sent.at(-1)).toMatchObject({ type: "stream_open" });
    operator.answer({ type: "stream_end", error: null });
    await vi.waitFor(() => expect(replies).toEqual([{ end: null }]));
  });
});
