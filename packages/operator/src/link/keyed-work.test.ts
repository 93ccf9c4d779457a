import fc from "fast-check";
import { expect, test } from "vitest";
import { createKeyedWork } from "./keyed-work.ts";

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, open: resolve };
}

test("[OL19] tasks of one key run one after the other, and those of several keys run at once", async () => {
  const work = createKeyedWork({ atOnce: 4, capacity: 10 });
  const log: string[] = [];
  const first = gate();
  work.run("a", async () => {
    log.push("a1 begins");
    await first.wait();
    log.push("a1 ends");
  });
  work.run("a", async () => void log.push("a2"));
  work.run("b", async () => void log.push("b1"));
  expect(log).toEqual(["a1 begins", "b1"]);
  first.open();
  await work.idle();
  expect(log).toEqual(["a1 begins", "b1", "a1 ends", "a2"]);
});

test("[OL19] no more tasks run at once than are allowed, and no more wait than there is room for", async () => {
  const work = createKeyedWork({ atOnce: 2, capacity: 3 });
  const both = gate();
  const begun: string[] = [];
  const task = (name: string) => async () => {
    begun.push(name);
    await both.wait();
  };
  expect(["a", "b", "c", "d"].map((name) => work.run(name, task(name)))).toEqual([true, true, true, false]);
  expect(begun).toEqual(["a", "b"]);
  both.open();
  await work.idle();
  expect(begun).toEqual(["a", "b", "c"]);
  expect(work.run("d", task("d"))).toBe(true);
});

test("[OL19] every task runs once, and those of a key in their order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(3)), { maxLength: 40 }),
      async (tasks) => {
        const work = createKeyedWork({ atOnce: 2, capacity: 100 });
        const done: [string, number][] = [];
        tasks.forEach(([key, turns], index) => {
          work.run(key, async () => {
            for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
            done.push([key, index]);
          });
        });
        await work.idle();
        for (const key of ["a", "b", "c"]) {
          const order = (list: [string, number][]) => list.filter(([name]) => name === key).map(([, index]) => index);
          expect(order(done)).toEqual(order(tasks.map(([name], index) => [name, index])));
        }
      },
    ),
  );
});
