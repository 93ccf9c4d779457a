import type { Queries, Tx } from "../database/transaction.ts";
import { attempt, emptyTally, isIdle, succeeded, type Tally } from "./login-throttle.ts";

export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function insertSession(tx: Tx, session: Session): Promise<void> {
  await tx
    .insertInto("sessions")
    .values({ ...session, ended_at: null })
    .execute();
}

export async function isSessionLive(db: Queries, id: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row !== undefined;
}

export async function endSessions(tx: Tx, ids: readonly string[], now: Date): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ ended_at: now })
    .where("id", "in", ids)
    .where("ended_at", "is", null)
    .execute();
}

export async function endSessionsOf(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ ended_at: now })
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .execute();
}

/** Counts the attempt under each key and says whether any of them refuses it. Counted first and judged later, so that
 *  attempts made side by side cannot all slip through. */
export async function countAttempt(tx: Tx, keys: readonly string[], account: string, now: Date): Promise<boolean> {
  const outcomes = await changeTallies(tx, keys, now, (tally) => attempt(tally, account, now.getTime()));
  return outcomes.some(({ refused }) => refused);
}

export async function forgiveAttempts(
  tx: Tx,
  keys: readonly string[],
  accounts: readonly string[],
  now: Date,
): Promise<void> {
  await changeTallies(tx, keys, now, (tally) => ({ tally: succeeded(tally, accounts) }));
}

/** Keys are locked in one order, so that two logins never wait for each other. */
async function changeTallies<T extends { tally: Tally }>(
  tx: Tx,
  keys: readonly string[],
  now: Date,
  change: (tally: Tally) => T,
) {
  const outcomes: T[] = [];
  for (const key of [...keys].sort()) {
    await tx
      .insertInto("login_tallies")
      .values({ key, tally: JSON.stringify(emptyTally), updated_at: now })
      .onConflict((on) => on.doNothing())
      .execute();
    const { tally } = await tx
      .selectFrom("login_tallies")
      .select("tally")
      .where("key", "=", key)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const outcome = change(tally);
    outcomes.push(outcome);
    if (isIdle(outcome.tally, now.getTime())) await tx.deleteFrom("login_tallies").where("key", "=", key).execute();
    else
      await tx
        .updateTable("login_tallies")
        .set({ tally: JSON.stringify(outcome.tally), updated_at: now })
        .where("key", "=", key)
        .execute();
  }
  return outcomes;
}
