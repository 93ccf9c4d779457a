import type { Clock } from "./work-queue.ts";

/** Not the time of day, which may jump. */
export const realClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
