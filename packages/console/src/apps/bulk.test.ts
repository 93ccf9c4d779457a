import { expect, test } from "vitest";
import { bulkSteps, type Outcome, outcomeText, runEach } from "./bulk.ts";

const running = { id: "a", phase: "running", paused: false, suspended: false, drift_state: "in_sync" } as const;
const paused = { ...running, id: "b", phase: "paused", paused: true } as const;
const blocked = { ...running, id: "c", drift_state: "blocked_sync" } as const;
const deleting = { ...running, id: "d", phase: "deleting" } as const;
const foreign = { ...running, id: "e" } as const;
const ALL = [running, paused, blocked, deleting, foreign];

test.each([
  ["redeploy", ["a", "b"]],
  ["pause", ["a"]],
  ["resume", ["b"]],
] as const)(
  "[WC51] the action %s is done with the chosen apps that allow it, and the others say why not",
  (action, ids) => {
    const steps = bulkSteps<(typeof ALL)[number]>(action, ALL, ({ id }) => id !== "e");
    expect(steps.filter(({ why }) => why === null).map(({ row }) => row.id)).toEqual(ids);
    expect(steps.find(({ row }) => row.id === "e")?.why).toBe("You may not change it.");
  },
);

/** Items that end when the test says so. */
function controlled(count: number, atMost: number) {
  const outcomes: Outcome[] = Array.from({ length: count }, () => ({ state: "waiting" }));
  const ends = new Map<number, (error?: Error) => void>();
  const stop = new AbortController();
  let most = 0;
  const finished = runEach(
    Array.from({ length: count }, (_, index) => index),
    (item) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      ends.set(item, (error) => (error ? reject(error) : resolve()));
      most = Math.max(most, outcomes.filter(({ state }) => state === "sending").length);
      return promise;
    },
    (index, outcome) => {
      outcomes[index] = outcome;
    },
    { atMost, signal: stop.signal },
  );
  const end = async (item: number, error?: Error) => {
    ends.get(item)?.(error);
    await Promise.resolve().then(() => undefined);
  };
  return { outcomes, end, finished, stop, mostAtOnce: () => most };
}

test("[WC52] at most four calls of a bulk action run at once, and one that fails does not stop the others", async () => {
  const run = controlled(7, 4);
  expect(run.outcomes.map(({ state }) => state)).toEqual([
    ...Array.from({ length: 4 }, () => "sending"),
    ...Array.from({ length: 3 }, () => "waiting"),
  ]);
  for (let item = 0; item < 7; item++) await run.end(item, item === 1 ? new Error("refused") : undefined);
  await run.finished;
  expect(run.mostAtOnce()).toBe(4);
  expect(run.outcomes.filter(({ state }) => state === "done")).toHaveLength(6);
  expect(run.outcomes[1]).toEqual({ state: "failed", message: "refused" });
  expect(outcomeText(run.outcomes)).toBe("6 done, 1 failed");
});

test("[WC52] after a stop of a bulk action no further call is begun, and those under way are completed", async () => {
  const run = controlled(4, 2);
  run.stop.abort();
  await run.end(0);
  await run.end(1);
  await run.finished;
  expect(run.outcomes.map(({ state }) => state)).toEqual(["done", "done", "stopped", "stopped"]);
  expect(outcomeText(run.outcomes)).toBe("2 done, 2 not begun");
});
