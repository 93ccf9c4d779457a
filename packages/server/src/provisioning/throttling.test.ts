import { expect, test } from "vitest";
import { throttledTooLong, throttleWaitMs, waitingLine } from "./throttling.ts";

const NOW = new Date("2026-11-19T12:00:00.000Z");
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

test.each([
  [0, 0, 15_000],
  [0, 0.999_999, 29_999],
  [1, 0, 30_000],
  [3, 0.5, 180_000],
  [5, 0, 450_000],
  [9, 0.999_999, 899_999],
])(
  "[PN173] after %d waits the next one is between half of a doubling bound and all of it, by chance %d",
  (throttles, chance, waitMs) => {
    expect(throttleWaitMs({ throttles, throttled_since: ago(1) }, NOW, () => chance)).toBe(waitMs);
  },
);

test("[PN173] a job waits at most ten times, and two hours together", () => {
  const wait = (throttles: number, since: Date | null) =>
    throttleWaitMs({ throttles, throttled_since: since }, NOW, () => 0);
  expect(wait(0, null)).toBe(15_000);
  expect(wait(10, ago(1))).toBeNull();
  expect(wait(9, ago(112))).toBe(450_000);
  expect(wait(9, ago(113))).toBeNull();
});

test("[PN173] the log of a job says when it goes on, or that it waited for long enough", () => {
  expect(waitingLine("AWS answers fewer calls.", NOW)).toBe(
    "AWS answers fewer calls. The job goes on by itself at 2026-11-19T12:00:00.000Z.",
  );
  expect(throttledTooLong("AWS answers fewer calls.")).toMatch(/retry the job later\.$/);
});
