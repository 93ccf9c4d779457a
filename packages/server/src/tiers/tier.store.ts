import type { Queries, Tx } from "../database/transaction.ts";
import { isUniqueViolation } from "../database/violation.ts";
import { conflict } from "../fault.ts";
import { type RateLimit, type Spending, spend } from "./rate-limit.ts";
import { DEFAULT_LIMIT, type StoredLimit } from "./tier.ts";

export function listTierRows(db: Queries) {
  return db.selectFrom("tiers").selectAll().orderBy("name").execute();
}

export function findTier(db: Queries, name: string) {
  return db.selectFrom("tiers").selectAll().where("name", "=", name).executeTakeFirst();
}

export async function listLimits(db: Queries, tier: string, page: { limit: number; offset: number }) {
  const ofTier = db.selectFrom("rate_limits").where("tier_name", "=", tier);
  const [limits, { total }] = await Promise.all([
    ofTier.selectAll().orderBy("id", "desc").limit(page.limit).offset(page.offset).execute(),
    ofTier.select((count) => count.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { limits, total };
}

export function findLimit(db: Queries, tier: string, id: string): Promise<StoredLimit | undefined> {
  return db.selectFrom("rate_limits").selectAll().where("tier_name", "=", tier).where("id", "=", id).executeTakeFirst();
}

export async function insertLimit(tx: Tx, limit: StoredLimit): Promise<void> {
  await tx.insertInto("rate_limits").values(limit).execute().catch(rethrowTaken);
}

export async function updateLimit(tx: Tx, { id, ...limit }: StoredLimit): Promise<void> {
  await tx.updateTable("rate_limits").set(limit).where("id", "=", id).execute().catch(rethrowTaken);
}

export async function deleteLimit(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("rate_limits").where("id", "=", id).execute();
}

function rethrowTaken(error: unknown): never {
  if (isUniqueViolation(error, "rate_limits_path_taken")) throw conflict("The tier already has a limit for this path.");
  throw error;
}

/** Counts a request against the caller's allowance. The row is locked, so the limit holds across replicas. */
export async function spendAllowance(
  tx: Tx,
  spender: { userId: string; tier: string },
  path: string,
  now: Date,
): Promise<Spending> {
  const limit = await limitFor(tx, spender.tier, path);
  const key = { user_id: spender.userId, tier_name: spender.tier, path };
  await tx
    .insertInto("rate_usage")
    .values({ ...key, window_started_at: now, spent: 0 })
    .onConflict((on) => on.doNothing())
    .execute();
  const usage = await tx
    .selectFrom("rate_usage")
    .select(["window_started_at", "spent"])
    .where((is) => is.and(key))
    .forUpdate()
    .executeTakeFirstOrThrow();
  const spending = spend(
    { windowStartedAtMs: usage.window_started_at.getTime(), count: usage.spent },
    limit,
    now.getTime(),
  );
  await tx
    .updateTable("rate_usage")
    .set({ window_started_at: new Date(spending.usage.windowStartedAtMs), spent: spending.usage.count })
    .where((is) => is.and(key))
    .execute();
  return spending;
}

async function limitFor(tx: Tx, tier: string, path: string): Promise<RateLimit> {
  const row = await tx
    .selectFrom("rate_limits")
    .select(["limit_count", "period_seconds"])
    .where("tier_name", "=", tier)
    .where("path", "=", path)
    .executeTakeFirst();
  return row ? { limit: row.limit_count, periodSeconds: row.period_seconds } : DEFAULT_LIMIT;
}
