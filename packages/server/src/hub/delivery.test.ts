import { LINK_LIMITS } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PendingRow } from "../dispatch/kind.ts";
import { Delivery } from "./delivery.ts";

const row = (key: string, generation = 1, more: Partial<PendingRow> = {}): PendingRow => ({
  cluster_id: "c",
  kind: "app",
  resource_id: `id of ${key}`,
  key,
  generation,
  revision: generation,
  removed_at: null,
  ...more,
});
const keysOf = (rows: readonly PendingRow[]) => rows.map(({ key }) => key);

function send(delivery: Delivery, pending: readonly PendingRow[], nowMs = 0): PendingRow[] {
  const chosen = delivery.choose(pending);
  for (const one of chosen) delivery.sent(one, `frame of ${one.key}`, "hash", nowMs);
  return chosen;
}

const answerTo = ({ key }: PendingRow) => ({ ref: `frame of ${key}`, key });

describe("what is sent", () => {
  test("[HB41] the delivery sends one row of each key at a time, the oldest first", () => {
    const delivery = new Delivery();
    const old = row("app/a/x", 1, { resource_id: "removed", removed_at: new Date(0) });
    const fresh = row("app/a/x", 1, { resource_id: "made again" });
    expect(send(delivery, [old, fresh, row("app/a/y")])).toEqual([old, row("app/a/y")]);
    expect(send(delivery, [old, fresh])).toEqual([]);
    delivery.settle(old);
    expect(send(delivery, [fresh])).toEqual([fresh]);
  });

  test("[HB41] the delivery sends at most 32 rows at once, and more when there is room again", () => {
    const delivery = new Delivery();
    const rows = Array.from({ length: 40 }, (_, index) => row(`app/a/x${index}`));
    const first = send(delivery, rows);
    expect(first).toHaveLength(LINK_LIMITS.inFlight);
    expect(delivery.capacity).toBe(0);
    for (const one of first.slice(0, 3)) delivery.settle(one);
    expect(keysOf(send(delivery, rows.slice(3)))).toEqual(["app/a/x32", "app/a/x33", "app/a/x34"]);
  });

  test("[HB41] the delivery finds rows to send behind all that are in flight or held", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 32 }), (heldCount, sentCount) => {
        const delivery = new Delivery();
        const rows = Array.from({ length: 200 }, (_, index) => row(`app/a/x${index}`));
        for (const one of rows.slice(0, heldCount)) delivery.hold(one, "change");
        for (const one of rows.slice(heldCount, heldCount + sentCount)) delivery.sent(one, "f", "h", 0);
        expect(delivery.choose(rows.slice(0, delivery.readLimit))).toHaveLength(LINK_LIMITS.inFlight - sentCount);
      }),
    );
  });

  test("[HB45] the delivery begins with the removals that are sent once in each session", () => {
    const delivery = new Delivery();
    const removal = row("app/a/gone", 2, { removed_at: new Date(0) });
    delivery.sendFirst([removal]);
    expect(delivery.isDelivered([])).toBe(false);
    // Chosen is not sent: what came between has lost nothing.
    expect(delivery.choose([])).toEqual([removal]);
    expect(send(delivery, [row("app/a/x")])).toEqual([removal, row("app/a/x")]);
    delivery.settle(removal);
    expect(send(delivery, [])).toEqual([]);
  });
});

describe("an answer", () => {
  test("[HB42] an acknowledgement counts once, and only for the frame and key that it names", () => {
    const delivery = new Delivery();
    const one = row("app/a/x");
    send(delivery, [one]);
    expect(delivery.answered({ ref: "another", key: one.key })).toBeNull();
    expect(delivery.answered({ ref: `frame of ${one.key}`, key: "app/a/y" })).toBeNull();
    const entry = delivery.answered(answerTo(one));
    expect(entry).toMatchObject({ row: one, hash: "hash" });
    if (entry) delivery.acked(entry);
    expect(delivery.answered(answerTo(one))).toBeNull();
  });

  test("[HB42] an acknowledged key is not sent again until the acknowledgement is stored", () => {
    const delivery = new Delivery();
    const one = row("app/a/x");
    send(delivery, [one]);
    const entry = delivery.answered(answerTo(one));
    if (entry) delivery.acked(entry);
    expect(send(delivery, [one])).toEqual([]);
    expect(delivery.isDelivered([])).toBe(false);
    delivery.settle(one);
    expect(delivery.isDelivered([])).toBe(true);
    expect(keysOf(send(delivery, [row("app/a/x", 2)]))).toEqual(["app/a/x"]);
  });

  test("[HB43] a frame without an answer is sent again after the time limit, under the same id for the same content", () => {
    const delivery = new Delivery();
    const one = row("app/a/x");
    send(delivery, [one], 0);
    expect(delivery.sweep(LINK_LIMITS.ackWithinMs - 1)).toBe(false);
    expect(delivery.choose([one])).toEqual([]);
    expect(delivery.sweep(LINK_LIMITS.ackWithinMs)).toBe(true);
    expect(delivery.choose([one])).toEqual([one]);
    expect(delivery.frameIdFor(one, "hash", () => "fresh")).toBe("frame of app/a/x");
    expect(delivery.frameIdFor(one, "other hash", () => "fresh")).toBe("fresh");
    expect(delivery.frameIdFor(row("app/a/x", 2), "hash", () => "fresh")).toBe("fresh");
    // A late answer still counts.
    expect(delivery.answered(answerTo(one))).not.toBeNull();
  });
});

describe("what was refused", () => {
  test("[HB44] a row that was refused as unable is sent again with the next sweep", () => {
    const delivery = new Delivery();
    const one = row("app/a/x");
    send(delivery, [one]);
    delivery.hold(one, "sweep");
    expect([delivery.choose([one]), delivery.isDelivered([one])]).toEqual([[], false]);
    expect(delivery.sweep(1)).toBe(true);
    expect(delivery.choose([one])).toEqual([one]);
  });

  test("[HB44] a row that was refused as invalid counts as delivered, and is sent again once it has changed", () => {
    const delivery = new Delivery();
    const one = row("app/a/x");
    send(delivery, [one]);
    delivery.hold(one, "change");
    expect(delivery.sweep(1)).toBe(false);
    expect([delivery.choose([one]), delivery.isDelivered([one])]).toEqual([[], true]);
    expect(keysOf(delivery.choose([row("app/a/x", 2)]))).toEqual(["app/a/x"]);
    expect(keysOf(delivery.choose([row("app/a/x", 1, { resource_id: "another" })]))).toEqual(["app/a/x"]);
  });

  test("[HB44] the generation of a row that was refused as stale is raised by twice as much each time", () => {
    const delivery = new Delivery();
    const steps = Array.from({ length: 5 }, () => delivery.stepAbove(row("app/a/x")));
    expect([...steps, delivery.stepAbove(row("app/a/y"))]).toEqual([1, 2, 4, 8, 16, 1]);
  });
});
