import type { Clock } from "./clock.ts";

export const realClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  // `crypto.randomUUID` is missing in pages that are served without TLS.
  uniqueKey: () =>
    [...crypto.getRandomValues(new Uint8Array(16))].map((it) => it.toString(16).padStart(2, "0")).join(""),
};
