import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type Clock, createWorkQueue } from "./work-queue.ts";

/** A clock that stands still until told, and then calls back in order. */
function fakeClock() {
  let nowMs = 0;
  let waiting: { readonly atMs: number; readonly callback: () => void }[] = [];
  const clock: Clock = {
    now: () => nowMs,
    after(ms, callback) {
      const entry = { atMs: nowMs + ms, callback };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
  };
  const advance = async (ms: number) => {
    nowMs += ms;
    const due = waiting.filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs);
    waiting = waiting.filter(({ atMs }) => atMs > nowMs);
    for (const { callback } of due) callback();
    await settled();
  };
  return { clock, advance, count: () => waiting.length };
}

/** All that follows from what has happened, as nothing here waits for anything but promises. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Runs that end when told. */
function manual() {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const started: string[] = [];
  const run = (key: string) => {
    const end = Promise.withResolvers<void>();
    ends.set(key, end);
    started.push(key);
    return end.promise;
  };
  const end = async (key: string, error?: Error) => {
    if (error) ends.get(key)?.reject(error);
    else ends.get(key)?.resolve();
    await settled();
  };
  return { run, started, end };
}

describe("the queue", () => {
  test("[KU30] the work queue runs a key once at a time, and once more for all that was added meanwhile", async () => {
    const { run, started, end } = manual();
    const queue = createWorkQueue({ run, clock: fakeClock().clock });
    queue.add("a");
    queue.add("a");
    queue.add("a");
    expect(started).toEqual(["a"]);
    await end("a");
    expect(started).toEqual(["a", "a"]);
    await end("a");
    expect(started).toEqual(["a", "a"]);
    expect(queue.size).toBe(0);
  });

  test("[KU30] the work queue runs a waiting key once, however often it was added", async () => {
    const { run, started, end } = manual();
    const queue = createWorkQueue({ run, clock: fakeClock().clock, concurrency: 1 });
    for (const key of ["a", "b", "b", "c", "b"]) queue.add(key);
    await end("a");
    await end("b");
    await end("c");
    expect(started).toEqual(["a", "b", "c"]);
  });

  test("[KU31] the work queue runs no more keys at once than it may, in the order in which they came", async () => {
    const { run, started, end } = manual();
    const queue = createWorkQueue({ run, clock: fakeClock().clock, concurrency: 2 });
    for (const key of ["a", "b", "c", "d"]) queue.add(key);
    expect(started).toEqual(["a", "b"]);
    expect(queue.depth).toMatchObject({ ready: 2, failing: 0 });
    await end("b");
    expect(started).toEqual(["a", "b", "c"]);
    await end("a");
    expect(started).toEqual(["a", "b", "c", "d"]);
  });

  test("[OP3978] the work queue tells how long the longest of its runs has lasted, also when its key is added meanwhile", async () => {
    const { run, end } = manual();
    const { clock, advance } = fakeClock();
    const queue = createWorkQueue({ run, clock, concurrency: 2 });
    expect(queue.depth.longestRunMs).toBe(0);
    queue.add("a");
    await advance(1_000);
    queue.add("b");
    queue.add("a");
    await advance(500);
    expect(queue.depth.longestRunMs).toBe(1_500);
    await end("a");
    await advance(250);
    expect(queue.depth.longestRunMs).toBe(750);
  });

  test("[KU32] the work queue retries a failed key after a time that doubles up to a limit, and resets that once it succeeds", async () => {
    const { clock, advance } = fakeClock();
    let isFailing = true;
    const retries: number[] = [];
    const queue = createWorkQueue({
      run: async () => {
        if (isFailing) throw new Error("not yet");
      },
      clock,
      firstRetryMs: 1_000,
      longestRetryMs: 5_000,
      onError: (_key, _error, retryMs) => retries.push(retryMs),
    });
    queue.add("a");
    await settled();
    for (let n = 0; n < 4; n++) await advance(retries.at(-1) ?? 0);
    expect(retries).toEqual([1_000, 2_000, 4_000, 5_000, 5_000]);
    isFailing = false;
    await advance(5_000);
    isFailing = true;
    queue.add("a");
    await settled();
    expect(retries.at(-1)).toBe(1_000);
  });

  test("[KU32] a key that is added during its failing run does not skip the wait", async () => {
    const { run, started, end } = manual();
    const { clock, advance } = fakeClock();
    const queue = createWorkQueue({ run, clock, firstRetryMs: 1_000 });
    queue.add("a");
    queue.add("a");
    await end("a", new Error("no"));
    expect(started).toEqual(["a"]);
    await advance(1_000);
    expect(started).toEqual(["a", "a"]);
  });

  test("[KU32] a failed key that is added afterwards runs at once", async () => {
    const { run, started, end } = manual();
    const { clock, advance, count } = fakeClock();
    const queue = createWorkQueue({ run, clock });
    queue.add("a");
    await end("a", new Error("no"));
    queue.add("a");
    expect(started).toEqual(["a", "a"]);
    await end("a");
    await advance(600_000);
    expect(started).toEqual(["a", "a"]);
    expect(count()).toBe(0);
  });

  test("[KU33] the work queue runs a key later when asked to, and the earlier of two times wins", async () => {
    const { run, started, end } = manual();
    const { clock, advance } = fakeClock();
    const queue = createWorkQueue({ run, clock });
    queue.add("a", { afterMs: 10_000 });
    await advance(9_000);
    queue.add("a", { afterMs: 5_000 });
    await advance(1_000);
    expect(started).toEqual(["a"]);
    queue.add("a", { afterMs: 3_000 });
    queue.add("a", { afterMs: 9_000 });
    await end("a");
    await advance(2_999);
    expect(started).toHaveLength(1);
    await advance(1);
    expect(started).toHaveLength(2);
  });

  test("[KU34] a work queue that stops waits for what runs, and runs nothing more", async () => {
    const { run, started, end } = manual();
    const { clock, advance } = fakeClock();
    const queue = createWorkQueue({ run, clock, concurrency: 1 });
    queue.add("a");
    queue.add("b");
    queue.add("c", { afterMs: 1 });
    const onStopped = vi.fn();
    const stopped = queue.stop().then(onStopped);
    queue.add("d");
    await advance(1);
    expect(onStopped).not.toHaveBeenCalled();
    await end("a");
    await stopped;
    await advance(600_000);
    expect(started).toEqual(["a"]);
    expect(queue.size).toBe(0);
  });

  test("[KU30] the work queue never runs a key twice at once and loses nothing, whatever is added and fails when", async () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom("a", "b", "c"), afterMs: fc.constantFrom(0, 0, 500, 5_000) }),
      fc.record({ end: fc.constantFrom("a", "b", "c"), fails: fc.boolean() }),
      fc.record({ passMs: fc.constantFrom(1, 1_000, 10_000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, advance } = fakeClock();
        const running = new Map<string, PromiseWithResolvers<void>>();
        const unseen = new Set<string>();
        const queue = createWorkQueue({
          clock,
          concurrency: 2,
          run: (key) => {
            expect(running.has(key)).toBe(false);
            expect(running.size).toBeLessThan(2);
            unseen.delete(key);
            const end = Promise.withResolvers<void>();
            running.set(key, end);
            return end.promise.finally(() => running.delete(key));
          },
        });
        for (const each of steps) {
          if ("add" in each) {
            unseen.add(each.add);
            queue.add(each.add, each);
          } else if ("end" in each) {
            const end = running.get(each.end);
            if (each.fails) end?.reject(new Error("no"));
            else end?.resolve();
          } else await advance(each.passMs);
          await settled();
        }
        for (let n = 0; n < 20 && queue.size > 0; n++) {
          for (const end of running.values()) end.resolve();
          await advance(300_000);
        }
        expect([queue.size, unseen.size]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });
});
