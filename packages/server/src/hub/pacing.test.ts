import { CLOSE } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  AdmissionGate,
  AdmissionQueue,
  Arrivals,
  drainSteps,
  reportsAtOnce,
  retryReason,
  spreadSeconds,
  TIMEOUTS,
  timeoutOf,
} from "./pacing.ts";
import type { Session } from "./session.ts";

test("[HB10] the gate admits a few handshakes at a time, lets the next ones wait and refuses the rest", async () => {
  const gate = new AdmissionGate(2, 2);
  const inside: number[] = [];
  const turns = [1, 2, 3, 4, 5].map((name) => gate.enter()?.then(() => void inside.push(name)) ?? null);
  expect(turns.map((turn) => turn === null)).toEqual([false, false, false, false, true]);
  await turns[0];
  await turns[1];
  expect(inside).toEqual([1, 2]);
  gate.leave();
  await turns[2];
  expect(inside).toEqual([1, 2, 3]);
  expect(gate.enter()).not.toBeNull();
});

test("[HB10] each handshake that ends makes room for another, in any order", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean()), (steps) => {
      const gate = new AdmissionGate(3, 0);
      let inside = 0;
      for (const isEntering of steps) {
        if (isEntering) {
          const isIn = gate.enter() !== null;
          expect(isIn).toBe(inside < 3);
          if (isIn) inside += 1;
        } else if (inside > 0) {
          gate.leave();
          inside -= 1;
        }
      }
    }),
  );
});

const hellos = (...names: string[]) => names.map((name) => ({ clusterId: name.charAt(0), name }));
const namesOf = (batch: readonly { readonly name: string }[]) => batch.map(({ name }) => name);

test("[HB66] operators that arrive together are admitted in one batch, up to the limit of concurrent batches", () => {
  const queue = new AdmissionQueue<{ clusterId: string; name: string }>({ batches: 2, batchSize: 3, maxWaiting: 9 });
  expect(queue.take()).toEqual([]);
  for (const hello of hellos("a", "b", "c", "d", "e", "f", "g")) expect(queue.enter(hello)).toBe(true);
  expect([queue.take(), queue.take(), queue.take()].map(namesOf)).toEqual([["a", "b", "c"], ["d", "e", "f"], []]);
  queue.leave();
  expect(namesOf(queue.take())).toEqual(["g"]);
});

test("[HB66] a batch has one operator of each cluster, and the next one of the same cluster waits for the next batch", () => {
  const queue = new AdmissionQueue<{ clusterId: string; name: string }>({ batches: 9, batchSize: 9, maxWaiting: 9 });
  for (const hello of hellos("a1", "a2", "b1", "a3")) queue.enter(hello);
  expect([queue.take(), queue.take(), queue.take(), queue.take()].map(namesOf)).toEqual([
    ["a1", "b1"],
    ["a2"],
    ["a3"],
    [],
  ]);
});

test("[HB10] the queue refuses further operators when too many wait to be admitted", () => {
  const queue = new AdmissionQueue<{ clusterId: string; name: string }>({ batches: 1, batchSize: 1, maxWaiting: 2 });
  expect(hellos("a", "b", "c").map((hello) => queue.enter(hello))).toEqual([true, true, false]);
  queue.take();
  expect(hellos("d", "e").map((hello) => queue.enter(hello))).toEqual([true, false]);
});

test("[HB67] reports take half of the hub's connections at most, and are stored even with one", () => {
  expect([1, 2, 5, 8, 15, 300].map((connections) => reportsAtOnce(connections, false))).toEqual([1, 1, 2, 4, 4, 4]);
});

test("[HB69] while many operators reconnect, the reports of one session are stored at a time", () => {
  expect([1, 2, 5, 8, 15, 300].map((connections) => reportsAtOnce(connections, true))).toEqual([1, 1, 1, 1, 1, 1]);
});

test("[HB69] a hundred operators within a second are a crowd, until a second with fewer has passed", () => {
  const arrivals = new Arrivals();
  const arrive = (count: number, atMs: number) => {
    for (let index = 0; index < count; index += 1) arrivals.note(atMs);
  };
  arrive(99, 5_900);
  expect(arrivals.isCrowded(5_999)).toBe(false);
  arrive(1, 5_999);
  expect([5_999, 6_000, 6_999].map((atMs) => arrivals.isCrowded(atMs))).toEqual([true, true, true]);
  expect(arrivals.isCrowded(7_000)).toBe(false);
  arrive(100, 8_000);
  expect([8_000, 10_500].map((atMs) => arrivals.isCrowded(atMs))).toEqual([true, false]);
});

test("[HB10] operators that are refused get different times to retry, of at most ten seconds", () => {
  expect([0, 0.5, 1].map((random) => JSON.parse(retryReason(random)).retry_after_seconds)).toEqual([1, 5.5, 10]);
  // The reason of a close has 123 bytes.
  expect(retryReason(1).length).toBeLessThan(124);
});

test("[HB1] the time over which operators spread their reconnects grows with their number", () => {
  expect([0, 1, 500, 5_000, 10_000, 100_000].map(spreadSeconds)).toEqual([1, 1, 1, 10, 20, 30]);
});

const sessions = (count: number) => Array.from({ length: count }, (_, n) => ({ clusterId: `${n}` }) as Session);

test("[HB30] the sessions of a hub that stops are drained in batches, over a time that grows with their number", () => {
  expect(drainSteps([], 10_000)).toEqual([]);
  expect(drainSteps(sessions(1), 10_000)).toMatchObject([{ afterMs: 0, withinMs: 2 }]);
  const steps = drainSteps(sessions(5_000), 60_000);
  expect(steps).toHaveLength(10);
  expect(steps.map(({ afterMs, withinMs }) => [afterMs, withinMs])).toEqual(
    Array.from({ length: 10 }, (_, n) => [n * 1_000, 10_000 - n * 1_000]),
  );
});

test("[HB30] each session is drained once, and none gets more time than there is", () => {
  fc.assert(
    fc.property(fc.nat(3_000), fc.nat(20_000), (count, longestMs) => {
      const steps = drainSteps(sessions(count), longestMs);
      expect(steps.flatMap((step) => step.sessions).map(({ clusterId }) => clusterId)).toEqual(
        sessions(count).map(({ clusterId }) => clusterId),
      );
      for (const { afterMs, withinMs } of steps) expect(afterMs + withinMs).toBeLessThanOrEqual(longestMs + 1e-6);
    }),
    { numRuns: 30 },
  );
});

const session = { state: "live", startedAtMs: 0, receivedAtMs: 0, congestedSinceMs: null } as const;
const at = (nowMs: number, fields: object) => timeoutOf({ ...session, ...fields }, nowMs, TIMEOUTS);

test.each([
  ["[HB9] a connection may wait 10 seconds for its hello", { state: "greeting" }, 10_000, null],
  [
    "[HB9] a connection without a hello for more than 10 seconds is closed with 4400",
    { state: "greeting" },
    10_001,
    CLOSE.protocolError,
  ],
  ["[HB25] a session may receive nothing for 75 seconds", {}, 75_000, null],
  ["[HB25] a session that has received nothing for more than 75 seconds is cut off", {}, 75_001, "dead"],
  ["[HB25] the 75 seconds are counted from the last frame received", { receivedAtMs: 60_000 }, 130_000, null],
  ["[HB49] a socket may be congested for 30 seconds", { receivedAtMs: 60_000, congestedSinceMs: 60_000 }, 90_000, null],
  [
    "[HB49] a socket that is congested for more than 30 seconds is closed with 4429",
    { receivedAtMs: 60_000, congestedSinceMs: 60_000 },
    90_001,
    CLOSE.busy,
  ],
])("%s", (_, fields, nowMs, code) => {
  const why = at(nowMs, fields);
  expect(Array.isArray(why) ? why[0] : why).toBe(code);
});
