import { createHash, randomUUID } from "node:crypto";
import { CLOSE, inventoryText, LINK_SUBPROTOCOL } from "@binnacle/contract";
import { Pipe } from "@binnacle/world/pipe";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Hub } from "./hub.fixture.ts";
import { FACTS, linked, linkTo, order } from "./link.fixture.ts";
import { MemoryStore } from "./memory-store.fixture.ts";

const entry = (name: string, generation = 1) => ({
  key: `project/${name}`,
  resource_id: randomUUID(),
  generation,
  hash: "a".repeat(64),
});

function storeWith(...names: string[]): MemoryStore {
  const store = new MemoryStore();
  for (const name of names) store.entries.set(`project/${name}`, entry(name));
  return store;
}

const digestOf = (store: MemoryStore) =>
  createHash("sha256").update(inventoryText(store.entries.values())).digest("hex");

describe("connecting", () => {
  test("[OL9] the operator connects with its token, speaks the subprotocol without compression and sends hello", async () => {
    const store = storeWith("b", "a");
    store.kept = { revision: 41, settings: { drift_policy: "report" } };
    const { hub, commands } = await linked({ store });
    const side = await hub.side();
    expect(side.token).toBe("first-token");
    expect(side.socket.protocol).toBe(LINK_SUBPROTOCOL);
    expect(side.socket.extensions).toBe("");
    expect(await side.received("hello")).toEqual({
      type: "hello",
      suspends: true,
      id: expect.any(String),
      versions: [1],
      operator_version: "0.1.0",
      facts: FACTS,
      revision: 41,
      digest: digestOf(store),
      requests: [
        "resources",
        "events",
        "deletion",
        "run",
        "run_status",
        "drain_nodes",
        "remove_cloud_objects",
        "describe_disks",
        "local_volumes",
        "exec",
      ],
    });
    expect(commands.settings).toHaveBeenCalledWith({ drift_policy: "report" });
  });

  test("[OL10] the operator sends no inventory where the digests of both sides are equal", async () => {
    const { hub, link } = await linked({ store: storeWith("a") });
    const side = await hub.live();
    await vi.waitFor(() => expect(link.isLive).toBe(true));
    expect(side.frames.map(({ type }) => type)).toEqual(["hello"]);
  });

  test("[OL10] the operator sends all inventory entries where the digests differ", async () => {
    const store = storeWith(...Array.from({ length: 501 }, (_, i) => `p${i}`));
    const { hub } = await linked({ store });
    const side = await hub.live(1, { resume: "inventory" });
    const pages = [await side.received("inventory"), await side.received("inventory", 2)];
    expect(pages.map(({ more, session }) => [more, session])).toEqual([
      [true, side.sessionId],
      [false, side.sessionId],
    ]);
    expect(pages.flatMap(({ entries }) => entries)).toEqual([...store.entries.values()]);
  });

  test("[OL11] the operator reconnects after its socket was dropped on the way", async () => {
    const hub = await Hub.start();
    const pipe = await Pipe.to(hub.port);
    const { link } = linkTo(`ws://127.0.0.1:${pipe.port}/hub/v1`);
    onTestFinished(async () => {
      await link.stop();
      await pipe.close();
      await hub.stop();
    });
    await hub.live();
    await vi.waitFor(() => expect(link.isLive).toBe(true));
    pipe.cut();
    await hub.live(2);
    await vi.waitFor(() => expect(link.isLive).toBe(true));
  });

  test("[OL14] the operator takes a hub that is connected but silent for dead, and reconnects", async () => {
    const hub = await Hub.start();
    const pipe = await Pipe.to(hub.port);
    const clock = new SteppedClock();
    const { link, log } = linkTo(`ws://127.0.0.1:${pipe.port}/hub/v1`, { clock, times: { deadAfterMs: 60_000 } });
    onTestFinished(async () => {
      await link.stop();
      await pipe.close();
      await hub.stop();
    });
    await hub.live(1, { heartbeat_seconds: 0.02 });
    await vi.waitFor(() => expect(hub.sides[0]?.pings).toBeGreaterThan(10));
    expect(hub.sides).toHaveLength(1);
    pipe.stall();
    await vi.waitFor(() => {
      // Again and again: a pong that the pipe had let through may still arrive, and counts as a sign of life.
      clock.nowMs += 60_000;
      expect(link.isLive).toBe(false);
    });
    expect(log.warn).toHaveBeenCalledWith(
      expect.objectContaining({ code: null, reason: "the connection was silent" }),
      expect.any(String),
    );
    pipe.flow();
    // What was sent before is lost, so an attempt of that time ends by its own limit.
    clock.nowMs += 60_000;
    await hub.live(2);
  });

  test("[OL14] the operator pings a hub that is silent for long, and stays connected while it answers", async () => {
    const { hub, link } = await linked({ times: { pingAfterMs: 20, deadAfterMs: 60_000 } });
    const side = await hub.live(1, { heartbeat_seconds: 60 });
    await vi.waitFor(() => expect(side.pings).toBeGreaterThan(3));
    expect([link.isLive, hub.sides.length]).toEqual([true, 1]);
  });

  test("[OL14] the operator does not wait forever for a welcome", async () => {
    const clock = new SteppedClock();
    const { hub, link } = await linked({ clock, times: { welcomeWithinMs: 60_000 } });
    await (await hub.side()).received("hello");
    clock.nowMs += 60_000;
    await hub.live(2);
    await vi.waitFor(() => expect(link.isLive).toBe(true));
  });

  test("[OL13] the operator logs once what a person has to do, and again after it was connected", async () => {
    const { hub, log, link } = await linked({
      clock: { now: () => performance.now(), after: (ms, act) => soon(ms, act) },
    });
    for (const nth of [1, 2, 3]) (await hub.side(nth)).socket.close(CLOSE.revoked, "the token is revoked");
    const side = await hub.side(4);
    expect(log.error).toHaveBeenCalledOnce();
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ code: 4403 }), expect.stringMatching(/revoked/));
    await side.welcome();
    await vi.waitFor(() => expect(link.isLive).toBe(true));
    side.socket.close(CLOSE.revoked);
    await vi.waitFor(() => expect(log.error).toHaveBeenCalledTimes(2));
  });

  test("[OL12] the operator treats a refusal by HTTP like a close code", async () => {
    const { hub, log } = await linked({ tokens: { current: async () => "bad", store: async () => undefined } });
    await hub.live();
    hub.refuseWith = 401;
    hub.sides[0]?.socket.terminate();
    await vi.waitFor(() => expect(log.error).toHaveBeenCalledOnce());
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ code: 4401 }), expect.stringMatching(/token/));
  });

  test("[OL16] the operator reads its token again after a refusal", async () => {
    const { hub, tokens } = await linked({
      clock: { now: () => performance.now(), after: (ms, act) => soon(ms, act) },
    });
    (await hub.side()).socket.close(CLOSE.unauthenticated);
    tokens.current.mockImplementation(async (asked) => (asked?.isRefused ? "new-token" : "old-token"));
    expect((await hub.side(2)).token).toBe("new-token");
  });

  test("[OL15] the operator disconnects within the time of a drain and reconnects at once", async () => {
    const { hub } = await linked({ random: () => 0.5 });
    const side = await hub.live();
    side.send({ type: "drain", within_seconds: 0.1 });
    await hub.live(2);
    expect(side.closed?.code).toBe(1000);
  });

  test("[OL18] the operator begins a new session to compare what both sides hold", async () => {
    const { hub, link, store } = await linked({ random: () => 1 });
    await hub.live(1, { reconnect_spread_seconds: 600 });
    await vi.waitFor(() => expect(link.isLive).toBe(true));
    store.entries.set("project/a", entry("a"));
    link.renew();
    const side = await hub.side(2);
    expect(await side.received("hello")).toMatchObject({ digest: digestOf(store) });
  });

  test("[OL14] the operator tries again where its own cluster does not answer", async () => {
    const store = new MemoryStore();
    vi.spyOn(store, "inventory").mockRejectedValueOnce(new Error("away"));
    const { hub, log } = await linked({ store });
    await hub.live();
    expect(log.warn).toHaveBeenCalled();
  });

  test("[OL29] a link is independent of other links of the same process", async () => {
    const tokensOf = (name: string) => ({ current: async () => name, store: async () => undefined });
    const one = await linked({ tokens: tokensOf("one") });
    const other = linkTo(one.hub.url, { tokens: tokensOf("other") });
    onTestFinished(() => other.link.stop());
    await Promise.all([one.hub.live(1), one.hub.live(2)]);
    await vi.waitFor(() => expect([one.link.isLive, other.link.isLive]).toEqual([true, true]));
    const [mine, theirs] = one.hub.sides[0]?.token === "one" ? one.hub.sides : one.hub.sides.toReversed();
    mine?.send(order("a"));
    await mine?.received("ack");
    expect([...one.store.entries.keys()]).toEqual(["project/a"]);
    expect(other.store.entries.size).toBe(0);
    expect(theirs?.all("ack")).toEqual([]);
  });
});

/** Time passes only when a test says so. Who waits looks at it often. */
class SteppedClock {
  nowMs = 0;
  now = () => this.nowMs;
  after = (ms: number, act: () => void) => soon(Math.min(ms, 10), act);
}

/** Long waits pass at once. */
function soon(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms >= 60_000 ? 1 : ms);
  return () => clearTimeout(timer);
}
