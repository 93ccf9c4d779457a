import type { OperatorFrames } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ReportQueue } from "./report-queue.ts";

const status = (key: string, generation = 1): OperatorFrames["status"] => ({
  type: "status",
  id: `${key}@${generation}`,
  session: "s",
  key,
  resource_id: key,
  generation,
  report: { state: "ready", message: null },
});
const put = (queue: ReportQueue, report: OperatorFrames["status"], bytes = 100) =>
  queue.put(report, bytes, [report.id]);

test("[HB60] the queue keeps the newest report on each subject, and its answer covers the replaced ones", () => {
  const queue = new ReportQueue();
  for (const report of [status("a"), status("b"), status("a", 2)]) put(queue, report);
  const taken = queue.take(10);
  expect(taken.map(({ report }) => report)).toEqual([status("b"), status("a", 2)]);
  expect(taken.flatMap(({ refs }) => refs)).toEqual(["b@1", "a@1", "a@2"]);
  expect(queue.isEmpty).toBe(true);
});

test("[HB61] a report that is put back does not replace a newer one", () => {
  const queue = new ReportQueue();
  put(queue, status("a"));
  put(queue, status("b"));
  const taken = queue.take(10);
  put(queue, status("a", 2));
  queue.putBack(taken);
  expect(
    queue
      .take(10)
      .map(({ report }) => (report as OperatorFrames["status"]).id)
      .sort(),
  ).toEqual(["a@2", "b@1"]);
});

test("[HB61] the report queue is limited in number and in size", () => {
  const large = new ReportQueue();
  expect(put(large, status("a"), 8_000_000)).toBe(true);
  expect(put(large, status("b"), 1_000_000)).toBe(false);
  // The newest of one that is there takes its place.
  expect(put(large, status("a", 2), 1_000_000)).toBe(true);
  expect(put(large, status("b"), 1_000_000)).toBe(true);
  const many = new ReportQueue();
  const kept = Array.from({ length: 10_001 }, (_, n) => put(many, status(`k${n}`), 1)).filter(Boolean);
  expect(kept).toHaveLength(10_000);
});

test("[HB61] the report queue frees the room of every report that is taken, in any order of operations", () => {
  const step = fc.oneof(
    fc.record({ put: fc.nat(5), bytes: fc.nat(1_000) }),
    fc.record({ take: fc.nat(3), back: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const queue = new ReportQueue();
      for (const one of steps) {
        if ("put" in one) put(queue, status(`k${one.put}`), one.bytes);
        else {
          const taken = queue.take(one.take);
          if (one.back) queue.putBack(taken);
        }
      }
      queue.take(10_000);
      expect([queue.isEmpty, put(queue, status("a"), 8 * 1024 * 1024)]).toEqual([true, true]);
    }),
  );
});
