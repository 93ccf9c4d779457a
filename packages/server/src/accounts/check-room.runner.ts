import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { rateLimited } from "../fault.ts";
import { secondsUntil } from "./device-login.ts";
import { countAttempt } from "./login-tally.store.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
}

/** A check makes calls to somebody else's system, so a person has as many of each kind as logins. Throws a 429. */
export async function requireRoomForCheck({ db, clock }: Ports, checks: string, userId: string): Promise<void> {
  const now = clock();
  const refusedUntilMs = await inTransaction(db, (tx) => countAttempt(tx, [`${checks} of ${userId}`], userId, now));
  if (refusedUntilMs !== null) throw rateLimited(secondsUntil(refusedUntilMs, now));
}
