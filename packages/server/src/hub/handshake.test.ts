import { CLOSE, LINK_LIMITS } from "@binnacle/contract";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { type HubWorld, hubWorld, type RunningHub } from "./hub.fixture.ts";
import type { TestOperator } from "./operator.fixture.ts";
import { TIMEOUTS } from "./pacing.ts";

let world: HubWorld;
let running: RunningHub;
let cluster: { readonly id: string; readonly token: string };
const open: TestOperator[] = [];

const QUICK = { sweepMs: 100, tickMs: 20 };

beforeAll(async () => {
  world = await hubWorld();
  running = await world.start(QUICK);
});
afterAll(() => world?.close());
beforeEach(async () => {
  cluster = await world.cluster();
});
afterEach(() => {
  for (const operator of open.splice(0)) operator.socket.terminate();
});

function connect(token = cluster.token, hub = running): TestOperator {
  const operator = hub.connect(token);
  open.push(operator);
  return operator;
}
const session = () =>
  world.db.selectFrom("cluster_sessions").selectAll().where("cluster_id", "=", cluster.id).executeTakeFirst();
const warned = () => world.log.warn.mock.calls.filter(([fields]) => fields.cluster_id === cluster.id);

function fail(message: string): never {
  throw new Error(message);
}

describe("a handshake", () => {
  test("[HB1] a handshake ends with a welcome that has the session, the version, the intervals and the settings", async () => {
    const operator = connect();
    expect(await operator.greet()).toEqual({
      type: "welcome",
      ref: expect.any(String),
      session: expect.any(String),
      version: 1,
      heartbeat_seconds: LINK_LIMITS.heartbeatSeconds,
      reconnect_spread_seconds: 1,
      resume: "digest",
      settings: { drift_policy: "heal" },
      chart_repositories: [],
    });
    expect(running.hub.sessions.find(cluster.id)?.sessionId).toBe(operator.session);
  });

  test.each([
    ["not JSON", "hello?"],
    ["of no known type", JSON.stringify({ type: "hallo" })],
    ["not a hello", JSON.stringify({ type: "heartbeat", session: newId() })],
  ])("[HB4] a handshake that begins with something %s ends with 4400 and one line in the log", async (_, text) => {
    const operator = await connect().opened();
    operator.raw(text);
    operator.raw(text);
    expect(await operator.closeCode()).toBe(CLOSE.protocolError);
    expect(warned()).toHaveLength(1);
    expect(await session()).toBeUndefined();
  });

  test("[HB4] a frame that arrives during the handshake ends it with 4400", async () => {
    const operator = await connect().opened();
    operator.hello();
    operator.say({ type: "heartbeat", session: newId() });
    expect(await operator.closeCode()).toBe(CLOSE.protocolError);
    await vi.waitFor(async () => expect(await session()).toBeUndefined(), SOON);
  });

  test("[HB5] a handshake that offers only a later version ends with 4426", async () => {
    const operator = await connect().opened();
    operator.hello({ versions: [2] });
    expect(await operator.closeCode()).toBe(CLOSE.versionTooOld);
    expect(await session()).toBeUndefined();
  });

  test("[HB9] a connection without a hello in time is closed with 4400", async () => {
    const hub = await world.start({ ...QUICK, timeouts: { ...TIMEOUTS, helloWithinMs: 50 } });
    const operator = await connect(cluster.token, hub).opened();
    expect(await operator.closeCode()).toBe(CLOSE.protocolError);
    await hub.stop();
  });

  test("[HB66] an operator whose cluster is locked waits alone, and the operators that came with it are welcomed", async () => {
    const clusters = [await world.cluster(), await world.cluster(), await world.cluster()];
    const held = await connect().opened();
    const others = await Promise.all(clusters.map(({ token }) => connect(token).opened()));
    let greeting: Promise<unknown> | undefined;
    await world.db.transaction().execute(async (tx) => {
      await tx.updateTable("clusters").set({ revision: 1 }).where("id", "=", cluster.id).execute();
      greeting = held.greet();
      await Promise.all(others.map((operator) => operator.greet()));
      expect(held.all("welcome")).toEqual([]);
    });
    expect(await greeting).toMatchObject({ type: "welcome", resume: "digest" });
    expect(new Set([held, ...others].map((operator) => operator.session)).size).toBe(4);
  });

  test("[HB66] of several operators of one cluster that connect at once, only the last keeps its session", async () => {
    const operators = await Promise.all(Array.from({ length: 5 }, () => connect().opened()));
    for (const operator of operators) operator.hello();
    await vi.waitFor(() => expect(operators.filter(({ closed }) => closed === null)).toHaveLength(1), SOON);
    const ended = operators.flatMap(({ closed }) => closed?.code ?? []);
    expect(ended).toEqual([CLOSE.superseded, CLOSE.superseded, CLOSE.superseded, CLOSE.superseded]);
  });

  test("[HB51] a handshake while the database is unreachable ends with 4429 and the seconds to wait", async () => {
    const away = { getExecutor: () => fail("away") } as unknown as typeof world.db;
    const hub = await world.start({ db: away });
    const operator = await connect(cluster.token, hub).opened();
    operator.hello();
    expect(await operator.closeCode()).toBe(CLOSE.busy);
    expect(JSON.parse(operator.closed?.reason ?? "")).toEqual({ retry_after_seconds: expect.any(Number) });
    await hub.stop();
  });
});
