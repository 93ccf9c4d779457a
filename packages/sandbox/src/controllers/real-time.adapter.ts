import type { Time } from "./timer-queue.ts";

/** Longer waits overflow the timers of Node. */
const LONGEST_MS = 2 ** 31 - 1;

/** The time of day. A wait that is too long for one timer ends early, and whoever waits asks again. */
export const realTime: Time = {
  nowMs: () => Date.now(),
  at(timeMs, callback) {
    const waitMs = Math.min(Math.max(timeMs - Date.now(), 0), LONGEST_MS);
    const timer = setTimeout(callback, waitMs);
    return () => clearTimeout(timer);
  },
};
