import type { Queries, Tx } from "../database/transaction.ts";
import { type CliToken, MOST_CLI_TOKENS, tooManyCliTokens } from "./cli-token.ts";

const COLUMNS = ["id", "user_id", "name", "scopes", "expires_at", "last_used_at", "created_at", "updated_at"] as const;

export async function insertCliToken(tx: Tx, token: CliToken, digest: Buffer): Promise<void> {
  await tx
    .insertInto("cli_tokens")
    .values({ ...token, token_digest: digest })
    .execute();
}

/**
 * Requires the user's row to be locked: of two tokens created at once, each would count itself as the last allowed one.
 */
export async function requireRoomForToken(tx: Tx, userId: string, now: Date): Promise<void> {
  const { live } = await tx
    .selectFrom("cli_tokens")
    .select((count) => count.fn.countAll<number>().as("live"))
    .where("user_id", "=", userId)
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  if (live >= MOST_CLI_TOKENS) throw tooManyCliTokens();
}

export async function listCliTokensOf(db: Queries, userId: string, page: { limit: number; offset: number }) {
  const mine = db.selectFrom("cli_tokens").where("user_id", "=", userId);
  const [tokens, { total }] = await Promise.all([
    mine.select(COLUMNS).orderBy("id", "desc").limit(page.limit).offset(page.offset).execute(),
    mine.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { tokens, total };
}

export function deleteCliTokenOf(tx: Tx, userId: string, id: string): Promise<CliToken | undefined> {
  return tx
    .deleteFrom("cli_tokens")
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirst();
}

/** Returns the number of deleted tokens. */
export async function deleteCliTokensOf(tx: Tx, userId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom("cli_tokens").where("user_id", "=", userId).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
