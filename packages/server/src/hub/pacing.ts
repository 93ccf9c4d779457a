import { CLOSE, type CloseCode, LINK_LIMITS } from "@binnacle/contract";
import type { Session } from "./session.ts";

/** Limits how many run at once and how many may wait, so that a crowd of operators does not exhaust the database. */
export class AdmissionGate {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(concurrency: number, maxWaiting: number) {
    this.#concurrency = concurrency;
    this.#maxWaiting = maxWaiting;
  }

  /** Null when the queue is full. Everyone who is let in calls `leave` once. */
  enter(): Promise<void> | null {
    if (this.#running < this.#concurrency) {
      this.#running += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.#maxWaiting) return null;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

/** Those who wait to be admitted. They are admitted in batches, of which a few are under way at a time. */
export class AdmissionQueue<T extends { readonly clusterId: string }> {
  readonly #batches: number;
  readonly #batchSize: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<T>();
  #underWay = 0;

  constructor(limits: { readonly batches: number; readonly batchSize: number; readonly maxWaiting: number }) {
    this.#batches = limits.batches;
    this.#batchSize = limits.batchSize;
    this.#maxWaiting = limits.maxWaiting;
  }

  /** False when the queue is full. */
  enter(one: T): boolean {
    if (this.#waiting.size >= this.#maxWaiting) return false;
    this.#waiting.add(one);
    return true;
  }

  /**
   * The next batch: the first who came, one of each cluster. Empty where nobody waits or enough batches are under way.
   * Whoever takes a batch calls `leave` once.
   */
  take(): T[] {
    if (this.#underWay >= this.#batches || this.#waiting.size === 0) return [];
    const batch = new Map<string, T>();
    for (const one of this.#waiting) {
      if (batch.size >= this.#batchSize) break;
      if (!batch.has(one.clusterId)) batch.set(one.clusterId, one);
    }
    for (const one of batch.values()) this.#waiting.delete(one);
    this.#underWay += 1;
    return [...batch.values()];
  }

  leave(): void {
    this.#underWay -= 1;
  }
}

/** More would compete with deliveries for the processors of the database. */
const MOST_REPORTS_AT_ONCE = 4;

/**
 * How many sessions' reports are stored at the same time. Half of the connections are left for deliveries to clusters. While
 * a crowd of operators comes back, each with reports that were not confirmed before, the rest of the crowd comes first.
 */
export function reportsAtOnce(connections: number, isCrowded: boolean): number {
  return isCrowded ? 1 : Math.min(Math.max(1, Math.floor(connections / 2)), MOST_REPORTS_AT_ONCE);
}

const CROWD_PER_SECOND = 100;

/** Notices when many operators connect within a second, as after a restart. */
export class Arrivals {
  #second = 0;
  #inSecond = 0;
  #inSecondBefore = 0;

  note(nowMs: number): void {
    this.#advance(nowMs);
    this.#inSecond += 1;
  }

  isCrowded(nowMs: number): boolean {
    this.#advance(nowMs);
    return Math.max(this.#inSecond, this.#inSecondBefore) >= CROWD_PER_SECOND;
  }

  #advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === this.#second) return;
    this.#inSecondBefore = second === this.#second + 1 ? this.#inSecond : 0;
    this.#inSecond = 0;
    this.#second = second;
  }
}

const SHORTEST_RETRY_SECONDS = 1;
const LONGEST_RETRY_SECONDS = 10;

/** The reason of a close with `busy`. It is randomized, so that operators who are refused together do not return together. */
export function retryReason(random: number): string {
  const seconds = SHORTEST_RETRY_SECONDS + random * (LONGEST_RETRY_SECONDS - SHORTEST_RETRY_SECONDS);
  return JSON.stringify({ retry_after_seconds: Math.round(seconds * 10) / 10 });
}

/** How many sessions per second may come back when all of them have to: half of what a core admits. */
const RECONNECTS_PER_SECOND = 500;
const LONGEST_SPREAD_SECONDS = 30;

export function spreadSeconds(sessions: number): number {
  return Math.min(Math.max(1, Math.ceil(sessions / RECONNECTS_PER_SECOND)), LONGEST_SPREAD_SECONDS);
}

/** How many sessions per second the other hubs are asked to take over. */
const DRAINED_PER_SECOND = 500;
const DRAIN_BATCHES = 10;

export interface DrainStep {
  readonly afterMs: number;
  readonly withinMs: number;
  readonly sessions: readonly Session[];
}

/** Spreads the end of all sessions over batches. Operators choose a random moment between their batch and the end. */
export function drainSteps(sessions: readonly Session[], longestMs: number): DrainStep[] {
  const spreadMs = Math.min((sessions.length / DRAINED_PER_SECOND) * 1000, longestMs);
  const size = Math.max(1, Math.ceil(sessions.length / DRAIN_BATCHES));
  const count = Math.ceil(sessions.length / size);
  return Array.from({ length: count }, (_, index) => {
    const afterMs = (spreadMs / count) * index;
    return { afterMs, withinMs: spreadMs - afterMs, sessions: sessions.slice(index * size, (index + 1) * size) };
  });
}

export interface Timeouts {
  readonly helloWithinMs: number;
  readonly deadAfterMs: number;
  /** How long a socket may be congested. */
  readonly congestedMs: number;
}

export const TIMEOUTS: Timeouts = {
  helloWithinMs: LINK_LIMITS.helloWithinMs,
  deadAfterMs: LINK_LIMITS.deadAfterMs,
  congestedMs: 30_000,
};

type Timed = Pick<Session, "state" | "startedAtMs" | "receivedAtMs" | "congestedSinceMs">;

/** Why a session has timed out, or null. A `dead` session is cut off, because nobody would read a close frame. */
export function timeoutOf(session: Timed, nowMs: number, timeouts: Timeouts): [CloseCode, string] | "dead" | null {
  if (session.state === "greeting") {
    const isLate = nowMs - session.startedAtMs > timeouts.helloWithinMs;
    return isLate ? [CLOSE.protocolError, "no hello came in time"] : null;
  }
  if (nowMs - session.receivedAtMs > timeouts.deadAfterMs) return "dead";
  const isStuck = session.congestedSinceMs !== null && nowMs - session.congestedSinceMs > timeouts.congestedMs;
  return isStuck ? [CLOSE.busy, retryReason(0.5)] : null;
}
