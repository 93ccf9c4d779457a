import { CLOSE, type HubFrame, type InventoryEntry } from "@binnacle/contract";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";
import { isRenewalDue, isRevoked, Session, type Wire } from "./session.ts";

const EXPIRES_AT = new Date(100_000);
const ENTRY: InventoryEntry = { key: "project/shop", resource_id: newId(), generation: 1, hash: "0".repeat(64) };

let buffered: number;
let sent: HubFrame[];
let closed: number[];
let onEnd: ReturnType<typeof vi.fn<(session: Session) => void>>;
let session: Session;

beforeEach(() => {
  [buffered, sent, closed, onEnd] = [0, [], [], vi.fn<(session: Session) => void>()];
  const wire: Wire = {
    get bufferedAmount() {
      return buffered;
    },
    send: (text) => void sent.push(JSON.parse(text)),
    close: (code) => void closed.push(code),
    cut: () => void closed.push(0),
  };
  const clusterId = newId();
  session = new Session(wire, { clusterId, tokenVersion: 2, expiresAt: EXPIRES_AT }, 0, onEnd);
  session.register({
    fence: { clusterId, hubId: newId(), epoch: 1 },
    sessionId: newId(),
    orgId: newId(),
    clusterName: "production",
    requests: [],
    driftPolicy: "heal",
    repositoriesStamp: "",
  });
});

describe("a session", () => {
  test("[HB1] a session goes from greeting over admission and inventory to live, and stays ended once it has ended", () => {
    expect([session.state, session.isWelcomed]).toEqual(["greeting", false]);
    session.beginAdmission();
    expect([session.state, session.isWelcomed]).toEqual(["admission", false]);
    session.awaitInventory(null);
    expect([session.state, session.isWelcomed]).toEqual(["inventory", true]);
    session.goLive();
    expect([session.state, session.isWelcomed]).toEqual(["live", true]);
    session.end(CLOSE.draining, "the hub is stopping");
    for (const change of [() => session.awaitInventory(null), () => session.goLive(), () => session.beginAdmission()]) {
      change();
      expect(session.state).toBe("ended");
    }
  });

  test("[HB20] a session ends once, whoever ends it", () => {
    session.end(CLOSE.superseded, "a newer session has taken over");
    session.ended();
    session.end(CLOSE.busy, "late");
    expect([closed, onEnd.mock.calls]).toEqual([[CLOSE.superseded], [[session]]]);
  });

  test("[HB4] a session accepts an inventory only when one was requested, and no page after the last", () => {
    expect(session.addInventoryPage([ENTRY], false)).toBe(false);
    session.awaitInventory(7);
    expect(session.addInventoryPage([ENTRY], false)).toBe(true);
    expect(session.isInventoryComplete).toBe(false);
    expect(session.addInventoryPage([], true)).toBe(true);
    expect(session.addInventoryPage([], true)).toBe(false);
    expect(session.takeInventory()).toEqual({ entries: [ENTRY], revision: 7 });
  });

  test("[HB4] a session accepts at most 100,000 inventory entries", () => {
    session.awaitInventory(null);
    expect(
      session.addInventoryPage(
        Array.from({ length: 100_000 }, () => ENTRY),
        false,
      ),
    ).toBe(true);
    expect(session.addInventoryPage([ENTRY], true)).toBe(false);
  });

  test("[HB40] a session sends each revision once, and none while the cluster is ahead of the database", () => {
    session.goLive();
    for (const revision of [3, 3, 4]) session.sendSyncEnd(revision);
    expect(sent.map((frame) => frame.type === "sync_end" && frame.revision)).toEqual([3, 4]);
    session.goLive(true);
    session.sendSyncEnd(5);
    expect(sent).toHaveLength(2);
  });

  test("[HB24] a session keeps a heartbeat and facts that arrived while earlier ones were stored", () => {
    const facts = { kubernetes_version: "v1", node_count: 1, capacity: { cpu_cores: 1, memory_bytes: 1, pods: 1 } };
    session.heartbeat(new Date(1), facts);
    const [heartbeat, stored] = [session.unsavedHeartbeat, session.unsavedFacts];
    session.heartbeat(new Date(2), { ...facts, node_count: 2 });
    session.heartbeatSaved(heartbeat);
    if (stored) session.factsSaved(stored);
    expect([session.unsavedHeartbeat, session.unsavedFacts?.node_count]).toEqual([new Date(2), 2]);
  });

  test("[HB49] a session records since when its socket is congested, until it has drained", () => {
    buffered = 2 * 1024 * 1024;
    expect([session.checkCongestion(5), session.checkCongestion(9), session.congestedSinceMs]).toEqual([true, true, 5]);
    buffered = 0;
    expect([session.checkCongestion(12), session.congestedSinceMs]).toEqual([false, null]);
  });
});

describe("the token of a session", () => {
  test.each([
    [1, 0, false],
    [2, 2, false],
    [3, 2, false],
    [1, 2, true],
  ])("[CL37] whether a token of version %i at a floor of %i is revoked: %s", (version, floor, expected) => {
    expect(isRevoked(version, floor)).toBe(expected);
  });

  test("[HB26] the token of a session is revoked by a raised floor, and stays revoked after a lower one", () => {
    session.raiseTokenFloor(2);
    expect(session.isRevoked).toBe(false);
    session.raiseTokenFloor(3);
    session.raiseTokenFloor(1);
    expect(session.isRevoked).toBe(true);
  });

  test("[HB28] a token is due for renewal when less than a third of its lifetime is left", () => {
    const isDue = (leftMs: number) => isRenewalDue(new Date(leftMs), 300, new Date(0));
    expect([isDue(200), isDue(100), isDue(99), isDue(-1)]).toEqual([false, false, true, true]);
  });

  test("[HB28] a token is replaced when the operator confirms the offered one, and is offered again after an hour", () => {
    session.goLive();
    const needs = (nowMs: number) => session.needsToken(300_000, new Date(50_000), nowMs);
    expect(needs(0)).toBe(true);
    const frameId = newId();
    session.offerToken({ frameId, tokenVersion: 3, expiresAt: new Date(900_000), offeredAtMs: 0 }, "token");
    expect([needs(1), needs(60 * 60_000)]).toEqual([false, true]);
    expect([session.confirmToken(newId()), session.tokenVersion]).toEqual([false, 2]);
    expect([session.confirmToken(frameId), session.tokenVersion]).toEqual([true, 3]);
    expect([session.confirmToken(frameId), session.isTokenExpired(EXPIRES_AT)]).toEqual([false, false]);
  });
});
