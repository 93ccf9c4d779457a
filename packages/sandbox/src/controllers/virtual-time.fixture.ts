import type { Time } from "./timer-queue.ts";

export const START_MS = Date.parse("2026-03-02T10:00:00Z");

/** Time that stands still until a test turns it, and then rings in order. */
export class VirtualTime implements Time {
  #nowMs: number;
  #alarms: { readonly atMs: number; readonly callback: () => void }[] = [];

  constructor(startMs = START_MS) {
    this.#nowMs = startMs;
  }

  readonly nowMs = (): number => this.#nowMs;

  at(atMs: number, callback: () => void): () => void {
    const alarm = { atMs, callback };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  get alarms(): number {
    return this.#alarms.length;
  }

  /** Goes on to the next alarm, but not beyond this time; false when there was none before it. */
  ringUntil(untilMs: number): boolean {
    const [next] = this.#alarms.toSorted((a, b) => a.atMs - b.atMs);
    if (!next || next.atMs > untilMs) {
      this.#nowMs = Math.max(untilMs, this.#nowMs);
      return false;
    }
    this.#nowMs = Math.max(next.atMs, this.#nowMs);
    this.#alarms = this.#alarms.filter((alarm) => alarm !== next);
    next.callback();
    return true;
  }
}
