import type { OperatorFrames } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Inbox } from "./inbox.ts";

const status = (key: string, generation = 1): OperatorFrames["status"] => ({
  type: "status",
  id: `${key}@${generation}`,
  session: "s",
  key,
  resource_id: key,
  generation,
  report: { state: "ready", message: null },
});
const put = (inbox: Inbox, news: OperatorFrames["status"], bytes = 100) => inbox.put(news, bytes, [news.id]);

test("[HB60] of each thing the newest is kept, and all that it stands for is answered", () => {
  const inbox = new Inbox();
  for (const news of [status("a"), status("b"), status("a", 2)]) put(inbox, news);
  const taken = inbox.take(10);
  expect(taken.map(({ news }) => news)).toEqual([status("b"), status("a", 2)]);
  expect(taken.flatMap(({ refs }) => refs)).toEqual(["b@1", "a@1", "a@2"]);
  expect(inbox.isEmpty).toBe(true);
});

test("[HB61] what comes back does not stand in the way of what is newer", () => {
  const inbox = new Inbox();
  put(inbox, status("a"));
  put(inbox, status("b"));
  const taken = inbox.take(10);
  put(inbox, status("a", 2));
  inbox.putBack(taken);
  expect(
    inbox
      .take(10)
      .map(({ news }) => (news as OperatorFrames["status"]).id)
      .sort(),
  ).toEqual(["a@2", "b@1"]);
});

test("[HB61] there is an end to what is kept, in number and in size", () => {
  const large = new Inbox();
  expect(put(large, status("a"), 8_000_000)).toBe(true);
  expect(put(large, status("b"), 1_000_000)).toBe(false);
  // The newest of one that is there takes its place.
  expect(put(large, status("a", 2), 1_000_000)).toBe(true);
  expect(put(large, status("b"), 1_000_000)).toBe(true);
  const many = new Inbox();
  const kept = Array.from({ length: 10_001 }, (_, n) => put(many, status(`k${n}`), 1)).filter(Boolean);
  expect(kept).toHaveLength(10_000);
});

test("[HB61] the room that is taken is given back, whatever is done", () => {
  const step = fc.oneof(
    fc.record({ put: fc.nat(5), bytes: fc.nat(1_000) }),
    fc.record({ take: fc.nat(3), back: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const inbox = new Inbox();
      for (const one of steps) {
        if ("put" in one) put(inbox, status(`k${one.put}`), one.bytes);
        else {
          const taken = inbox.take(one.take);
          if (one.back) inbox.putBack(taken);
        }
      }
      inbox.take(10_000);
      expect([inbox.isEmpty, put(inbox, status("a"), 8 * 1024 * 1024)]).toEqual([true, true]);
    }),
  );
});
