import { expect, test, vi } from "vitest";
import { createThrottle, pauseAskedBy } from "./client-throttle.ts";
import { KubeError } from "./kube-error.ts";

/** Time passes when a test says so. */
function manualClock() {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const clock = {
    now: () => nowMs,
    after(ms: number, callback: () => void) {
      const timer = { atMs: nowMs + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const advance = async (ms: number) => {
    nowMs += ms;
    for (const timer of [...timers].filter(({ atMs }) => atMs <= nowMs)) {
      timers.delete(timer);
      timer.callback();
    }
    await Promise.resolve();
    await Promise.resolve();
  };
  return { clock, advance, timers };
}

const busy = (retryAfterSeconds: number) =>
  new KubeError({ status: 429, reason: "x", message: "no", details: { retryAfterSeconds } });

test("[KU29] a pause keeps back all requests until its end, also when it is prolonged, and at most ten seconds", async () => {
  const { clock, advance } = manualClock();
  const throttle = createThrottle(clock, () => 0);
  const send = vi
    .fn(async () => "sent")
    .mockRejectedValueOnce(busy(2))
    .mockRejectedValueOnce(busy(3_600));
  const refused = throttle.during(undefined, send);
  await advance(0);
  const other = throttle.during(undefined, send);
  await advance(1_500);
  expect(send).toHaveBeenCalledTimes(1);
  await advance(500);
  await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(3));
  await advance(9_000);
  expect(send).toHaveBeenCalledTimes(3);
  await advance(1_000);
  expect(await Promise.all([refused, other])).toEqual(["sent", "sent"]);
});

test("[KU29] a request that is refused again and again fails after four times", async () => {
  const { clock } = manualClock();
  const send = vi.fn(() => Promise.reject(busy(0)));
  await expect(createThrottle(clock, () => 0).during(undefined, send)).rejects.toMatchObject({ status: 429 });
  expect(send).toHaveBeenCalledTimes(4);
});

test("[KU29] who cancels a request does not wait for the end of a pause", async () => {
  const { clock, timers } = manualClock();
  const cancelling = new AbortController();
  const send = vi.fn(async () => "sent").mockRejectedValueOnce(busy(5));
  const sent = createThrottle(clock, () => 0).during(cancelling.signal, send);
  await vi.waitFor(() => expect(timers.size).toBe(1));
  cancelling.abort();
  await sent;
  expect(timers.size).toBe(0);
});

test("[KU29] only a refusal for too many requests that says how long asks for a pause", () => {
  const refusal = (status: number, details = {}) => new KubeError({ status, reason: "x", message: "no", details });
  expect(pauseAskedBy(refusal(429, { retryAfterSeconds: 3 }))).toBe(3_000);
  expect(pauseAskedBy(refusal(429))).toBeNull();
  expect(pauseAskedBy(refusal(503, { retryAfterSeconds: 3 }))).toBeNull();
  const causes = [{ reason: "DisruptionBudget" }];
  expect(pauseAskedBy(refusal(429, { retryAfterSeconds: 10, causes }))).toBeNull();
});
