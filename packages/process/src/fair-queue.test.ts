import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fairQueue, QueueFull } from "./fair-queue.ts";

/** A queue whose work is finished by the test, and what of it runs and has run. */
function stage(limits: Parameters<typeof fairQueue>[0]) {
  const inTurn = fairQueue(limits);
  const started: string[] = [];
  const running = new Map<string, () => void>();
  const add = (caller: string, name: string, isRetry = false) =>
    inTurn(
      caller,
      () => {
        started.push(name);
        return new Promise<string>((done) => running.set(name, () => done(name)));
      },
      { isRetry },
    );
  async function finish(name: string): Promise<void> {
    running.get(name)?.();
    running.delete(name);
    await settled();
  }
  return { add, finish, started, running };
}

/** Whatever is promised already has come to pass. */
async function settled(): Promise<void> {
  for (let count = 0; count < 10; count++) await Promise.resolve();
}

describe("a fair queue", () => {
  test("[TP63] a fair queue lets callers take turns, whoever has most waiting", async () => {
    const { add, finish, started } = stage({ atOnce: 1, atOncePerCaller: 1, waitingPerCaller: 8 });
    for (const [caller, name] of ["a1", "a2", "a3", "b1", "c1"].map((name) => [name.slice(0, 1), name] as const)) {
      void add(caller, name);
    }
    for (const name of ["a1", "a2", "b1", "c1"]) await finish(name).then(() => finish(started.at(-1) ?? ""));
    expect(started).toEqual(["a1", "a2", "b1", "c1", "a3"]);
  });

  test("[TP63] a fair queue leaves room for others beside a caller who runs as much as possible", async () => {
    const { add, started } = stage({ atOnce: 2, atOncePerCaller: 1, waitingPerCaller: 8 });
    for (const name of ["a1", "a2", "a3"]) void add("a", name);
    await settled();
    expect(started).toEqual(["a1"]);
    void add("b", "b1");
    await settled();
    expect(started).toEqual(["a1", "b1"]);
  });

  test("[TP63] a fair queue refuses further work of a caller who has too much waiting, and nothing of the others", async () => {
    const { add, started } = stage({ atOnce: 2, atOncePerCaller: 1, waitingPerCaller: 2 });
    void add("a", "a1");
    await settled();
    void add("a", "a2");
    void add("a", "a3");
    await expect(add("a", "a4")).rejects.toThrow(QueueFull);
    void add("b", "b1");
    await settled();
    expect(started).toEqual(["a1", "b1"]);
  });

  test("[HE7] a fair queue starts what was never tried before what is tried again, and the latter too", async () => {
    const { add, finish, started } = stage({ atOnce: 1, atOncePerCaller: 1, waitingPerCaller: 8 });
    for (const name of ["a1", "a2", "a3"]) void add("a", name, true);
    void add("b", "b1");
    void add("c", "c1", true);
    await settled();
    for (const name of ["a1", "b1", "a2", "c1"]) await finish(name);
    expect(started).toEqual(["a1", "b1", "a2", "c1", "a3"]);
  });

  test("[TP63] a fair queue goes on after work that fails", async () => {
    const inTurn = fairQueue({ atOnce: 1, atOncePerCaller: 1, waitingPerCaller: 2 });
    const failing = inTurn("a", () => Promise.reject(new Error("broken")));
    const next = inTurn("a", async () => "done");
    await expect(failing).rejects.toThrow("broken");
    expect(await next).toBe("done");
  });

  test("[TP63] a fair queue does all work, and never more at once than the limit", async () => {
    const jobs = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(jobs, fc.integer({ min: 1, max: 3 }), fc.nat(), async (callers, atOnce, seed) => {
        const { add, finish, running } = stage({ atOnce, atOncePerCaller: 1, waitingPerCaller: 20 });
        const all = callers.map((caller, index) => add(caller, `${caller}${index}`));
        await settled();
        for (let step = seed; running.size > 0; step++) {
          const names = [...running.keys()];
          expect(names.length).toBeLessThanOrEqual(atOnce);
          expect(new Set(names.map((name) => name.slice(0, 1))).size).toBe(names.length);
          await finish(names[step % names.length] ?? "");
        }
        expect((await Promise.all(all)).length).toBe(callers.length);
      }),
    );
  });
});
