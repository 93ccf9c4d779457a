import { CLOSE, LINK_LIMITS } from "@binnacle/contract";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { AGENT_TOKEN_LIFETIME_MS } from "../clusters/agent-token.adapter.ts";
import { EVENTS_TOPIC, type Event } from "../events/event.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";
import { type HubWorld, hubWorld, type RunningHub } from "./hub.fixture.ts";
import { FACTS, type TestOperator } from "./operator.fixture.ts";
import { TIMEOUTS } from "./pacing.ts";
import { FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "./ports.ts";

let world: HubWorld;
let running: RunningHub;
let cluster: { readonly id: string; readonly token: string };
let statuses: Event[];
const open: TestOperator[] = [];

const QUICK = { sweepMs: 100, tickMs: 20 };

beforeAll(async () => {
  world = await hubWorld();
  running = await world.start(QUICK);
  world.bus.subscribe(EVENTS_TOPIC, (event) => statuses.push(event as Event));
});
afterAll(() => world?.close());
beforeEach(async () => {
  statuses = [];
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
async function connected(token = cluster.token, hub = running): Promise<TestOperator> {
  const operator = connect(token, hub);
  await operator.greet();
  return operator;
}
const clusterRow = () =>
  world.db.selectFrom("clusters").selectAll().where("id", "=", cluster.id).executeTakeFirstOrThrow();
const session = () =>
  world.db.selectFrom("cluster_sessions").selectAll().where("cluster_id", "=", cluster.id).executeTakeFirst();
const announced = () => statuses.filter(({ cluster_id }) => cluster_id === cluster.id).map(({ status }) => status);

describe("a live session", () => {
  test.each([
    ["not JSON", () => "{"],
    ["of no known type", (id: string) => JSON.stringify({ type: "wave", session: id })],
    ["from another session", () => JSON.stringify({ type: "heartbeat", session: newId() })],
    ["a second hello", () => JSON.stringify({ type: "hello" })],
    [
      "an inventory that nobody asked for",
      (id: string) => JSON.stringify({ type: "inventory", session: id, entries: [], more: false }),
    ],
    [
      "too large",
      (id: string) => JSON.stringify({ type: "heartbeat", session: id, x: "x".repeat(LINK_LIMITS.frameBytes) }),
    ],
  ])("[HB4] a session is ended with 4400 by a frame that is %s", async (_, frame) => {
    const operator = await connected();
    operator.raw(frame(operator.session));
    expect(await operator.closeCode()).toBe(CLOSE.protocolError);
    expect(running.hub.sessions.find(cluster.id)).toBeNull();
  });

  test("[HB20] a session is superseded by a newer one, and its end changes nothing", async () => {
    const older = await connected();
    await vi.waitFor(() => expect(announced()).toEqual(["connected"]), SOON);
    const newer = await connected();
    expect(await older.closeCode()).toBe(CLOSE.superseded);
    expect(running.hub.sessions.find(cluster.id)?.sessionId).toBe(newer.session);
    await newer.leave();
    await vi.waitFor(() => expect(announced()).toEqual(["connected", "disconnected"]), SOON);
  });

  test("[HB20] a session is superseded by one on another hub, and its later acknowledgements are not stored", async () => {
    const hub = await world.start(QUICK);
    const older = await connected();
    await world.raise(cluster.id, "app/shop/web");
    const apply = await older.next("apply");
    const newer = await connected(cluster.token, hub);
    older.ack(apply);
    expect(await older.closeCode()).toBe(CLOSE.superseded);
    await newer.next("apply");
    const row = await world.db
      .selectFrom("desired_resources")
      .select("acked_generation")
      .where("cluster_id", "=", cluster.id)
      .executeTakeFirst();
    expect(row?.acked_generation).toBeNull();
    await hub.stop();
  });

  test("[HB21] a session that was taken over without a message is ended with the next sweep", async () => {
    const operator = await connected();
    await world.db
      .updateTable("cluster_sessions")
      .set({ hub_id: "another", epoch: 1_000_000 })
      .where("cluster_id", "=", cluster.id)
      .execute();
    expect(await operator.closeCode()).toBe(CLOSE.superseded);
    expect(await session()).toMatchObject({ hub_id: "another" });
  });

  test("[HB21] the lease of a session is renewed as long as it lasts, and its heartbeats are stored", async () => {
    const operator = await connected();
    const almostOver = new Date(Date.now() + 5_000);
    await world.db.updateTable("cluster_sessions").set({ lease_until: almostOver }).execute();
    world.clock.advance(20_000);
    operator.say({ type: "heartbeat" });
    await vi.waitFor(async () => expect((await clusterRow()).last_heartbeat).toEqual(world.clock.now()), SOON);
    await vi.waitFor(
      async () => expect((await session())?.lease_until.getTime()).toBeGreaterThan(almostOver.getTime() + 10_000),
      SOON,
    );
  });

  test("[HB21] [HB27] without a message a session ends with 4403 when its token is revoked, and with 4410 when its cluster is deleted", async () => {
    const revoked = await connected();
    await world.db.updateTable("clusters").set({ token_floor: 2 }).where("id", "=", cluster.id).execute();
    expect(await revoked.closeCode()).toBe(CLOSE.revoked);
    cluster = await world.cluster();
    const deleted = await connected();
    await world.db.deleteFrom("clusters").where("id", "=", cluster.id).execute();
    expect(await deleted.closeCode()).toBe(CLOSE.clusterDeleted);
  });

  test("[HB23] a session is announced when it begins and when it ends", async () => {
    const operator = await connected();
    await vi.waitFor(() => expect(announced()).toEqual(["connected"]), SOON);
    operator.socket.terminate();
    await vi.waitFor(() => expect(announced()).toEqual(["connected", "disconnected"]), SOON);
    await connected();
    await vi.waitFor(() => expect(announced()).toEqual(["connected", "disconnected", "connected"]), SOON);
  });

  test("[HB24] new facts in a heartbeat are stored", async () => {
    const operator = await connected();
    operator.say({ type: "heartbeat", facts: { ...FACTS, node_count: 7 } });
    await vi.waitFor(async () => expect((await clusterRow()).node_count).toBe(7), SOON);
  });

  test("[HB25] a session that receives nothing is cut off", async () => {
    const hub = await world.start({ ...QUICK, timeouts: { ...TIMEOUTS, deadAfterMs: 2_000 } });
    const operator = await connected(cluster.token, hub);
    expect(await operator.closeCode()).toBe(1006);
    await vi.waitFor(async () => expect(await session()).toBeUndefined(), SOON);
    await hub.stop();
  });

  test("[HB26] a session ends when the token floor is raised, the hub confirms it, and other sessions stay", async () => {
    const [operator, other] = [await connected(), await world.cluster()];
    const untouched = await connected(other.token);
    const held = new Promise((resolve) => world.bus.subscribe(FLOOR_HELD_TOPIC, resolve));
    world.bus.publish(FLOOR_RAISED_TOPIC, { ask: "q", cluster_id: cluster.id, floor: 2 });
    expect(await held).toEqual({ ask: "q" });
    expect(await operator.closeCode()).toBe(CLOSE.revoked);
    expect(untouched.closed).toBeNull();
  });

  test("[HB28] a session gets a new token when its own is about to expire", async () => {
    const operator = await connected();
    const expiresAtMs = world.clock.now().getTime() + AGENT_TOKEN_LIFETIME_MS;
    expect(operator.all("renew_token")).toEqual([]);
    const { token } = await world.tokens.mint(cluster.id, 1);
    world.clock.advance((AGENT_TOKEN_LIFETIME_MS * 2) / 3 + 60_000);
    const frame = await operator.next("renew_token");
    expect(Date.parse(frame.expires_at)).toBeGreaterThan(expiresAtMs);
    expect(await world.tokens.read(frame.token)).toMatchObject({ clusterId: cluster.id, tokenVersion: 2 });
    expect((await clusterRow()).token_version).toBe(2);
    // The old one counts until the new one is stored, and for the session no longer than that.
    operator.say({ type: "token_stored", ref: frame.id });
    await vi.waitFor(async () => expect((await session())?.token_version).toBe(2), SOON);
    expect(await world.tokens.read(token)).not.toBeNull();
    expect(operator.all("renew_token")).toHaveLength(1);
    expect(JSON.stringify(world.log.info.mock.calls)).not.toContain(frame.token);
  });

  test("[OP29] a session is logged when it begins and when it ends, with the id and the name of its cluster", async () => {
    const logged = () =>
      world.log.info.mock.calls.flatMap(([fields, message]) =>
        fields.cluster_id === cluster.id ? [[message, fields]] : [],
      );
    const { name } = await clusterRow();
    const about = expect.objectContaining({ cluster: name });
    const operator = await connected();
    await vi.waitFor(() => expect(logged()).toEqual([["an operator has connected", about]]), SOON);
    operator.socket.terminate();
    await vi.waitFor(() => expect(logged().slice(1)).toEqual([["an operator has disconnected", about]]), SOON);
  });

  test("[HB28] a session ends with 4401 when its token has expired", async () => {
    const operator = await connected();
    world.clock.advance(AGENT_TOKEN_LIFETIME_MS);
    expect(await operator.closeCode()).toBe(CLOSE.unauthenticated);
  });

  test("[HB29] an operator gets a changed drift policy with the next sweep", async () => {
    const operator = await connected();
    await world.db
      .updateTable("orgs")
      .set({ settings: JSON.stringify({ drift_policy: "report" }) })
      .where("id", "=", world.orgId)
      .execute();
    expect((await operator.next("settings")).settings).toEqual({ drift_policy: "report" });
    await world.db.updateTable("orgs").set({ settings: "{}" }).where("id", "=", world.orgId).execute();
    await operator.next("settings", ({ settings }) => settings.drift_policy === "heal");
  });

  test("[HB30] a hub that stops drains its sessions and closes them, and closes operators that connect meanwhile", async () => {
    const hub = await world.start();
    const operator = await connected(cluster.token, hub);
    const { token } = await world.cluster();
    const stopping = hub.stop(1_000);
    const late = connect(token, hub);
    expect((await operator.next("drain")).within_seconds).toBeLessThanOrEqual(1);
    expect(await operator.closeCode()).toBe(CLOSE.draining);
    await stopping;
    expect([CLOSE.draining, 1006]).toContain(await late.closeCode());
    expect(await session()).toBeUndefined();
  });

  test("[HB49] a session whose socket stays congested is ended with 4429", async () => {
    const hub = await world.start({ ...QUICK, timeouts: { ...TIMEOUTS, congestedMs: 200 } });
    world.bodyOf = ({ key }) => ({ spec: { key }, secret: { values: "x".repeat(1_500_000) } });
    const operator = await connected(cluster.token, hub);
    operator.socket.pause();
    for (let n = 0; n < 16; n++) await world.raise(cluster.id, `app/shop/x${n}`);
    await vi.waitFor(() => expect(hub.hub.sessions.find(cluster.id)).toBeNull(), SOON);
    operator.socket.resume();
    expect(await operator.closeCode()).toBe(CLOSE.busy);
    expect(JSON.parse(operator.closed?.reason ?? "")).toEqual({ retry_after_seconds: expect.any(Number) });
    await hub.stop();
  });

  test("[HB64] answers reach the sender of the request, and all senders are told of the end of the session", async () => {
    const operator = await connected();
    const live = running.hub.sessions.find(cluster.id);
    const [asked, heard, others] = [newId(), vi.fn(), vi.fn()];
    live?.listen(asked, heard);
    live?.listen(newId(), others);
    live?.send({
      type: "request",
      id: asked,
      session: live.sessionId,
      request: { name: "metrics", app: null, range_seconds: 60 },
    });
    await operator.next("request", ({ id }) => id === asked);
    operator.say({ type: "response", ref: asked, answer: { done: true } });
    await vi.waitFor(
      () => expect(heard).toHaveBeenCalledWith(expect.objectContaining({ answer: { done: true } })),
      SOON,
    );
    expect(others).not.toHaveBeenCalled();
    operator.socket.terminate();
    await vi.waitFor(() => expect(others).toHaveBeenCalledWith(null), SOON);
    expect(heard).toHaveBeenLastCalledWith(null);
  });
});
