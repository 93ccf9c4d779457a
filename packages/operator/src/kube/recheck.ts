const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/** A state and since when it has been the same. */
export interface Unchanged {
  readonly state: string;
  readonly sinceMs: number;
}

export const unchangedSince = (before: Unchanged | undefined, state: string, nowMs: number): Unchanged =>
  before?.state === state ? before : { state, sinceMs: nowMs };

/**
 * When to look again at a state that something unwatched may change: after as long as it has been the same. What has just broken is
 * looked at every few seconds, and hundreds of apps that have been broken for hours cost the API server next to nothing.
 */
export const recheckMs = (unchangedMs: number): number => Math.min(Math.max(unchangedMs, FIRST_MS), LONGEST_MS);
