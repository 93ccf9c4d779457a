import { setTimeout as sleep } from "node:timers/promises";
import { faster, type Pace, slower, turn, UNHURRIED } from "./aws-pace.ts";

/** Calls accounts that AWS throttles more slowly. An account is the id of a key in a region. */
export interface Pacer {
  /** Resolves when the account may be called. */
  turnOf(account: string, signal: AbortSignal): Promise<void>;
  answered(account: string, isThrottled: boolean): void;
}

export function createPacer(): Pacer {
  /** Only of accounts that are throttled at the moment. */
  const paces = new Map<string, Pace>();
  return {
    async turnOf(account, signal) {
      const pace = paces.get(account);
      if (!pace) return;
      const { waitMs, after } = turn(pace, performance.now());
      paces.set(account, after);
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    },
    answered(account, isThrottled) {
      const changed = (isThrottled ? slower : faster)(paces.get(account) ?? UNHURRIED);
      if (changed.intervalMs > 0) paces.set(account, changed);
      else paces.delete(account);
    },
  };
}
