import { sql } from "kysely";
import type { Queries, Tx } from "../database/transaction.ts";
import { attempt, emptyTally, isIdle, REFUSAL_WINDOW_MS, succeeded, type Tally } from "./login-throttle.ts";

/** The keys of the tallies of an attempt: each source alone, and each source with each account. */
export const tallyKeys = (sources: readonly string[], accounts: readonly string[]): string[] =>
  sources.flatMap((source) => [source, ...accounts.map((account) => `${source} account ${account}`)]);

export const bySource = (address: string) => `source ${address}`;
export const bySession = (sessionId: string) => `session ${sessionId}`;

/**
 * Counts the attempt in every tally. Returns until when one of them refuses it, in milliseconds, or null. Counting
 * comes before checking, so that concurrent attempts cannot all pass.
 */
export async function countAttempt(
  tx: Tx,
  keys: readonly string[],
  account: string,
  now: Date,
): Promise<number | null> {
  let refusedUntilMs: number | null = null;
  for (const key of inOrder(keys)) {
    const { tally, refused } = attempt(await lockTally(tx, key, now), account, now.getTime());
    await saveTally(tx, key, tally, now);
    if (refused) refusedUntilMs = Math.max(refusedUntilMs ?? 0, tally.refusal?.untilMs ?? 0);
  }
  return refusedUntilMs;
}

/** Removes the attempts under any of the accounts, which are the names of one user. */
export async function clearAttempts(
  tx: Tx,
  keys: readonly string[],
  accounts: readonly string[],
  now: Date,
): Promise<void> {
  for (const key of inOrder(keys)) {
    await saveTally(tx, key, succeeded(await lockTally(tx, key, now), accounts), now);
  }
}

/** Keys are locked in one order, so that two logins never deadlock. */
const inOrder = (keys: readonly string[]) => [...keys].sort();

/** The upsert locks the row, even one that did not exist or that another login is deleting. */
async function lockTally(tx: Tx, key: string, now: Date): Promise<Tally> {
  const { tally } = await tx
    .insertInto("login_tallies")
    .values({ key, tally: JSON.stringify(emptyTally), updated_at: now })
    .onConflict((on) => on.column("key").doUpdateSet({ updated_at: now }))
    .returning("tally")
    .executeTakeFirstOrThrow();
  return tally;
}

async function saveTally(tx: Tx, key: string, tally: Tally, now: Date): Promise<void> {
  if (isIdle(tally, now.getTime())) await tx.deleteFrom("login_tallies").where("key", "=", key).execute();
  else
    await tx
      .updateTable("login_tallies")
      .set({ tally: JSON.stringify(tally) })
      .where("key", "=", key)
      .execute();
}

export interface Refusals {
  readonly window_started_at: Date;
  readonly refused: number;
}

/** Counts a refusal of the account from any address. Returns the number of refusals in its window. */
export async function countRefusal(db: Queries, userId: string, now: Date): Promise<Refusals> {
  const isOver = sql`abs(extract(epoch from ${now}::timestamptz - refused_sign_ins.window_started_at)) >= ${REFUSAL_WINDOW_MS / 1000}`;
  return db
    .insertInto("refused_sign_ins")
    .values({ user_id: userId, window_started_at: now, refused: 1 })
    .onConflict((on) =>
      on.column("user_id").doUpdateSet({
        refused: sql<number>`case when ${isOver} then 1 else refused_sign_ins.refused + 1 end`,
        window_started_at: sql<Date>`case when ${isOver} then ${now}::timestamptz else refused_sign_ins.window_started_at end`,
      }),
    )
    .returning(["window_started_at", "refused"])
    .executeTakeFirstOrThrow();
}
