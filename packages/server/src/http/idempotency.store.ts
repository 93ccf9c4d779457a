import type { Bound } from "../database/prepared.adapter.ts";
import type { Tx } from "../database/transaction.ts";
import { conflict } from "../fault.ts";
import type { Vault } from "../vault/vault.ts";

export interface IdempotencyKey {
  readonly userId: string;
  readonly key: string;
  readonly fingerprint: string;
}

const KEPT_MS = 24 * 60 * 60 * 1000;

/**
 * Claims the key in this transaction, or returns the answer of the first request with it. Concurrent requests meet in
 * the primary key: the second waits until the first commits or fails.
 */
export async function claimKey(
  tx: Tx,
  vault: Vault,
  { userId, key, fingerprint }: IdempotencyKey,
  now: Date,
): Promise<{ answer: unknown } | null> {
  const fresh = { sealed_answer: null, created_at: now };
  const claimed = await tx
    .insertInto("idempotency_keys")
    .values({ user_id: userId, key, ...fresh })
    .onConflict((on) =>
      on
        .columns(["user_id", "key"])
        .doUpdateSet(fresh)
        .where("idempotency_keys.created_at", "<", new Date(now.getTime() - KEPT_MS)),
    )
    .returning("key")
    .executeTakeFirst();
  if (claimed) return null;
  const first = await tx
    .selectFrom("idempotency_keys")
    .select("sealed_answer")
    .where("user_id", "=", userId)
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
  const kept = first.sealed_answer === null ? null : JSON.parse(vault.open(first.sealed_answer, placeOf(userId, key)));
  if (kept?.fingerprint !== fingerprint) throw conflict("The Idempotency-Key was already used for another request.");
  return { answer: kept.answer };
}

/**
 * The answer is sealed: it may contain a token that is shown once only, and a plain digest of the body could be
 * guessed.
 */
export const answerStatement = (
  vault: Vault,
  { userId, key, fingerprint }: IdempotencyKey,
  answer: unknown,
): Bound => ({
  text: "update idempotency_keys set sealed_answer = $1 where user_id = $2::uuid and key = $3",
  values: [vault.seal(JSON.stringify({ fingerprint, answer }), placeOf(userId, key)), userId, key],
});

const placeOf = (userId: string, key: string) => ({
  table: "idempotency_keys",
  row: `${userId}:${key}`,
  column: "sealed_answer",
});
