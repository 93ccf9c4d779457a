/** The apps whose pods are replaced because another version of the operator renders them otherwise: only some at once. */
export interface Rollouts {
  /** Whether it is the app's turn. It is on the list then until it has ended. */
  mayBegin(key: string): boolean;
  /** The app runs again, or is gone. */
  ended(key: string): void;
  /** Takes apps off the waiting list whose turn it is now, for them to be reconciled. */
  next(): readonly string[];
}

export interface RolloutOptions {
  /** The most apps at once. */
  readonly most: number;
  readonly nowMs: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** An app that does not get ready again must not keep out all others for ever. */
const LONGEST_MS = 15 * 60_000;

export function createRollouts({ most, nowMs, log }: RolloutOptions): Rollouts {
  const beganMs = new Map<string, number>();
  const waiting = new Set<string>();

  function isFree(): boolean {
    for (const [key, began] of beganMs) {
      if (nowMs() - began < LONGEST_MS) continue;
      beganMs.delete(key);
      log.warn({ key }, "an app does not run again with what this version of the operator renders; others go on");
    }
    return beganMs.size < most;
  }

  return {
    mayBegin(key) {
      if (beganMs.has(key)) return true;
      if (isFree()) {
        beganMs.set(key, nowMs());
        waiting.delete(key);
        log.info({ key, waiting: waiting.size }, "this version of the operator replaces the pods of an app");
        return true;
      }
      if (!waiting.has(key)) log.info({ key }, "an app waits for its turn to get what this version renders");
      waiting.add(key);
      return false;
    },
    ended(key) {
      beganMs.delete(key);
      waiting.delete(key);
    },
    next() {
      if (waiting.size === 0 || !isFree()) return [];
      const keys = [...waiting].slice(0, most - beganMs.size);
      for (const key of keys) waiting.delete(key);
      return keys;
    },
  };
}
