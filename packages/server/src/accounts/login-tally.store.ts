import type { Tx } from "../database/transaction.ts";
import { attempt, emptyTally, isIdle, succeeded, type Tally } from "./login-throttle.ts";

/** Counts the attempt in both tallies and says whether either refuses it. Counted first and judged later, so that
 *  attempts made side by side cannot all slip through. */
export async function countAttempt(tx: Tx, source: string, account: string, now: Date): Promise<boolean> {
  let refused = false;
  for (const key of keysOf(source, [account])) {
    const outcome = attempt(await lockTally(tx, key, now), account, now.getTime());
    await keepTally(tx, key, outcome.tally, now);
    refused ||= outcome.refused;
  }
  return refused;
}

/** Forgets the attempts made under any of the names of one user. */
export async function forgiveAttempts(tx: Tx, source: string, names: readonly string[], now: Date): Promise<void> {
  for (const key of keysOf(source, names)) {
    await keepTally(tx, key, succeeded(await lockTally(tx, key, now), names), now);
  }
}

/** Always in the same order, so that two logins never wait for each other. */
function keysOf(source: string, accounts: readonly string[]): string[] {
  return [`source ${source}`, ...accounts.map((account) => `source ${source} account ${account}`).sort()];
}

/** The upsert holds the row from here on, also one that did not exist or that another login is just deleting. */
async function lockTally(tx: Tx, key: string, now: Date): Promise<Tally> {
  const { tally } = await tx
    .insertInto("login_tallies")
    .values({ key, tally: JSON.stringify(emptyTally), updated_at: now })
    .onConflict((on) => on.column("key").doUpdateSet({ updated_at: now }))
    .returning("tally")
    .executeTakeFirstOrThrow();
  return tally;
}

async function keepTally(tx: Tx, key: string, tally: Tally, now: Date): Promise<void> {
  if (isIdle(tally, now.getTime())) await tx.deleteFrom("login_tallies").where("key", "=", key).execute();
  else
    await tx
      .updateTable("login_tallies")
      .set({ tally: JSON.stringify(tally) })
      .where("key", "=", key)
      .execute();
}
