import { CLOSE } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  AdmissionGate,
  AdmissionQueue,
  Arrivals,
  drainSteps,
  hubConnections,
  reportsAtOnce,
  retryReason,
  spreadSeconds,
  TIMEOUTS,
  timeoutOf,
} from "./pacing.ts";
import type { Session } from "./session.ts";

test("[HB10] a few are let in at a time, the next wait in line, and the rest is sent away", async () => {
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

test("[HB10] whoever leaves makes room, in any order of coming and going", () => {
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

test("[HB66] who comes together is taken together, while few enough batches are under way", () => {
  const queue = new AdmissionQueue<{ clusterId: string; name: string }>({ batches: 2, batchSize: 3, maxWaiting: 9 });
  expect(queue.take()).toEqual([]);
  for (const hello of hellos("a", "b", "c", "d", "e", "f", "g")) expect(queue.enter(hello)).toBe(true);
  expect([queue.take(), queue.take(), queue.take()].map(namesOf)).toEqual([["a", "b", "c"], ["d", "e", "f"], []]);
  queue.leave();
  expect(namesOf(queue.take())).toEqual(["g"]);
});

test("[HB66] a batch has one of each cluster; the next of it waits for the next batch", () => {
  const queue = new AdmissionQueue<{ clusterId: string; name: string }>({ batches: 9, batchSize: 9, maxWaiting: 9 });
  for (const hello of hellos("a1", "a2", "b1", "a3")) queue.enter(hello);
  expect([queue.take(), queue.take(), queue.take(), queue.take()].map(namesOf)).toEqual([
    ["a1", "b1"],
    ["a2"],
    ["a3"],
    [],
  ]);
});

test("[HB10] when too many wait to be admitted, the rest is sent away", () => {
  const queue = new AdmissionQueue<{ clusterId: string; name: string }>({ batches: 1, batchSize: 1, maxWaiting: 2 });
  expect(hellos("a", "b", "c").map((hello) => queue.enter(hello))).toEqual([true, true, false]);
  queue.take();
  expect(hellos("d", "e").map((hello) => queue.enter(hello))).toEqual([true, false]);
});

test.each([
  ["beside the API", ["api", "hub", "worker"], 20, 5],
  ["without the API", ["hub"], 20, 15],
  ["without the API, with background work", ["hub", "worker"], 20, 15],
  ["where there is no hub", ["api"], 20, 0],
  ["where there are too few to divide", ["api", "hub"], 2, 0],
])("[HB67] %s a hub has a part of the connections to itself", (_, roles, poolSize, connections) => {
  expect(hubConnections(poolSize, roles)).toBe(connections);
});

test("[HB67] reports take half of the hub's connections at most, and are stored even with one", () => {
  expect([1, 2, 5, 8, 15, 300].map((connections) => reportsAtOnce(connections, false))).toEqual([1, 1, 2, 4, 4, 4]);
});

test("[HB69] while a crowd of operators comes back, the reports of one session are stored at a time", () => {
  expect([1, 2, 5, 8, 15, 300].map((connections) => reportsAtOnce(connections, true))).toEqual([1, 1, 1, 1, 1, 1]);
});

test("[HB69] a hundred operators within a second are a crowd, until a second without them has passed", () => {
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

test("[HB10] those who are sent away come back at different times, and not too late", () => {
  expect([0, 0.5, 1].map((random) => JSON.parse(retryReason(random)).retry_after_seconds)).toEqual([1, 5.5, 10]);
  // The reason of a close has 123 bytes.
  expect(retryReason(1).length).toBeLessThan(124);
});

test("[HB1] the more operators there are, the longer is the time in which they come back", () => {
  expect([0, 1, 500, 5_000, 10_000, 100_000].map(spreadSeconds)).toEqual([1, 1, 1, 10, 20, 30]);
});

const sessions = (count: number) => Array.from({ length: count }, (_, n) => ({ clusterId: `${n}` }) as Session);

test("[HB30] sessions leave in batches, spread over a time that grows with their number", () => {
  expect(drainSteps([], 10_000)).toEqual([]);
  expect(drainSteps(sessions(1), 10_000)).toMatchObject([{ afterMs: 0, withinMs: 2 }]);
  const steps = drainSteps(sessions(5_000), 60_000);
  expect(steps).toHaveLength(10);
  expect(steps.map(({ afterMs, withinMs }) => [afterMs, withinMs])).toEqual(
    Array.from({ length: 10 }, (_, n) => [n * 1_000, 10_000 - n * 1_000]),
  );
});

test("[HB30] each is asked once, and nobody gets longer than there is", () => {
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
  ["[HB9] a hello may take 10 seconds", { state: "greeting" }, 10_000, null],
  ["[HB9] and no more", { state: "greeting" }, 10_001, CLOSE.protocolError],
  ["[HB25] nothing may be heard for 75 seconds", {}, 75_000, null],
  ["[HB25] and no longer", {}, 75_001, "dead"],
  ["[HB25] counted from the last word", { receivedAtMs: 60_000 }, 130_000, null],
  ["[HB49] a socket may be full for 30 seconds", { receivedAtMs: 60_000, congestedSinceMs: 60_000 }, 90_000, null],
  ["[HB49] and no longer", { receivedAtMs: 60_000, congestedSinceMs: 60_000 }, 90_001, CLOSE.busy],
])("%s", (_, fields, nowMs, code) => {
  const why = at(nowMs, fields);
  expect(Array.isArray(why) ? why[0] : why).toBe(code);
});
