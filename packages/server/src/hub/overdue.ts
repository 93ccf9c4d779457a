import { CLOSE, type CloseCode, LINK_LIMITS } from "@binnacle/contract";
import { retryReason } from "./admission-gate.ts";
import type { Session } from "./session.ts";

/** How long a socket may be full. */
const LONGEST_CLOG_MS = 30_000;

export interface Patience {
  readonly helloWithinMs: number;
  readonly deadAfterMs: number;
  readonly clogMs: number;
}

export const PATIENCE: Patience = {
  helloWithinMs: LINK_LIMITS.helloWithinMs,
  deadAfterMs: LINK_LIMITS.deadAfterMs,
  clogMs: LONGEST_CLOG_MS,
};

type Waited = Pick<Session, "state" | "startedAtMs" | "heardAtMs" | "cloggedSinceMs">;

/** Why a session is not waited for any longer; null while it is. `dead` ones are cut off: nobody hears a goodbye. */
export function overdue(session: Waited, nowMs: number, patience: Patience): [CloseCode, string] | "dead" | null {
  if (session.state === "greeting") {
    const isLate = nowMs - session.startedAtMs > patience.helloWithinMs;
    return isLate ? [CLOSE.protocolError, "no hello came in time"] : null;
  }
  if (nowMs - session.heardAtMs > patience.deadAfterMs) return "dead";
  const isClogged = session.cloggedSinceMs !== null && nowMs - session.cloggedSinceMs > patience.clogMs;
  return isClogged ? [CLOSE.busy, retryReason(0.5)] : null;
}

/** A token is renewed long before it ends: an operator that is away for months still has one that counts. */
export function isRenewalDue(expiresAt: Date, lifetimeMs: number, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() < lifetimeMs / 3;
}
