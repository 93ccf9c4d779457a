import { startWorld, type World } from "@binnacle/world";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { createMemoryBus } from "../bus/memory.adapter.ts";
import { type Asking, startAsking } from "./asking.store.ts";
import { scriptedSession } from "./live-session.fixture.ts";
import type { Question, Reply } from "./question.ts";
import { startSwitchboard } from "./switchboard.ts";

const QUICK = { aliveMs: 5, silentMs: 40 };
const LOGS: Question = {
  name: "logs",
  namespace: "shop",
  app: "web",
  component: "web",
  tail_lines: 5,
  since_seconds: null,
  follow: true,
};
const METRICS: Question = { name: "metrics", app: null, range_seconds: 60 };
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

let world: World;
let clusterId: string;
let operator: ReturnType<typeof scriptedSession>;
let bus: ReturnType<typeof createMemoryBus>;
let switchboard: { stop(): void };
let asking: Asking;
let replies: Reply[];

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

beforeEach(async () => {
  clusterId = (await openShop(world)).cluster;
  operator = scriptedSession(clusterId);
  bus = createMemoryBus(log);
  const { hubId } = operator.session.fence;
  await lease(hubId, 60_000);
  const sessions = { find: (id: string) => (id === clusterId ? operator.session : null) };
  switchboard = startSwitchboard(hubId, sessions, bus, QUICK);
  asking = startAsking({
    db: world.database.kysely,
    bus,
    clock: world.clock.now,
    local: { find: () => null },
    patience: QUICK,
  });
  replies = [];
});
afterEach(async () => {
  asking.stop();
  switchboard.stop();
  await bus.close();
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

const ask = (question: Question) => asking.ask(clusterId, question, (reply) => replies.push(reply));
const asked = () => vi.waitFor(() => operator.asked());

describe("a question to an operator of another process", () => {
  test("[RQ1] goes over the bus and its answer comes back", async () => {
    await ask(METRICS);
    expect(await asked()).toMatchObject({ type: "request" });
    operator.answer({ type: "response", answer: { metrics: null } });
    await vi.waitFor(() => expect(replies).toEqual([{ metrics: null }]));
  });

  test("[RQ1] opens a stream that takes credit and can be left", async () => {
    const talk = await ask(LOGS);
    await asked();
    operator.answer({ type: "stream_data", lines: [], dropped: 1 });
    await vi.waitFor(() => expect(replies).toEqual([{ lines: [], dropped: 1 }]));
    talk.credit(100);
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_credit", credit_bytes: 100 }));
    talk.cancel();
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" }));
  });

  test("[RQ2] is refused where nobody holds its session, and where the bus is away", async () => {
    await bus.close();
    await expect(ask(METRICS)).rejects.toMatchObject({ kind: "unavailable" });
    await world.database.kysely.deleteFrom("cluster_sessions").where("cluster_id", "=", clusterId).execute();
    await expect(ask(METRICS)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("[RQ4] is lost where the session is no longer there", async () => {
    switchboard.stop();
    switchboard = startSwitchboard(operator.session.fence.hubId, { find: () => null }, bus, QUICK);
    await ask(METRICS);
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]));
  });

  test("[RQ6] is ended at the operator when the asker falls silent", async () => {
    await ask(LOGS);
    await asked();
    asking.stop();
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" }));
  });

  test("[RQ7] is ended for the reader when the hub falls silent", async () => {
    await ask(LOGS);
    await asked();
    switchboard.stop();
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]));
  });

  test("[RQ6] goes on for as long as both are there", async () => {
    await ask(LOGS);
    await asked();
    const published = vi.spyOn(bus, "publish");
    await vi.waitFor(() => expect(published.mock.calls.length).toBeGreaterThan(30));
    operator.answer({ type: "stream_end", error: null });
    await vi.waitFor(() => expect(replies).toEqual([{ end: null }]));
  });
});
