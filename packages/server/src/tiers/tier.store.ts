import { isUniqueViolation, type Queries, type Tx } from "../database/transaction.ts";
import { conflict } from "../fault.ts";
import { DEFAULT_LIMIT, type RateLimit, type Spending, type StoredLimit, spend } from "./tier.ts";

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
  return limitOf(db, tier, id).executeTakeFirst();
}

/** Locks the limit, so that concurrent changes build on each other. */
export function lockLimit(tx: Queries, tier: string, id: string): Promise<StoredLimit | undefined> {
  return limitOf(tx, tier, id).forUpdate().executeTakeFirst();
}

function limitOf(db: Queries, tier: string, id: string) {
  return db.selectFrom("rate_limits").selectAll().where("tier_name", "=", tier).where("id", "=", id);
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

/** Requests of one user, tier and path are counted together. */
export interface Spender {
  readonly userId: string;
  readonly tier: string;
  readonly path: string;
}

/** Counts a request of the caller. The row is locked, so the limit applies across replicas. */
export async function spendAllowance(tx: Tx, spender: Spender, now: Date): Promise<Spending> {
  const limit = await limitFor(tx, spender);
  await tx
    .insertInto("rate_usage")
    .values({ ...keyOf(spender), window_started_at: now, spent: 0 })
    .onConflict((on) => on.doNothing())
    .execute();
  const { window_started_at, spent } = await tx
    .selectFrom("rate_usage")
    .select(["window_started_at", "spent"])
    .where((is) => is.and(keyOf(spender)))
    .forUpdate()
    .executeTakeFirstOrThrow();
  const spending = spend({ windowStartedAtMs: window_started_at.getTime(), count: spent }, limit, now.getTime());
  await tx
    .updateTable("rate_usage")
    .set({ window_started_at: new Date(spending.usage.windowStartedAtMs), spent: spending.usage.count })
    .where((is) => is.and(keyOf(spender)))
    .execute();
  return spending;
}

/**
 * Moves a window that a faster clock opened back to the current time. This is a transaction of its own, because a
 * refusal rolls back its transaction.
 */
export async function correctWindow(db: Queries, spender: Spender, now: Date): Promise<void> {
  await db
    .updateTable("rate_usage")
    .set({ window_started_at: now })
    .where((is) => is.and(keyOf(spender)))
    .where("window_started_at", ">", now)
    .execute();
}

const keyOf = ({ userId, tier, path }: Spender) => ({ user_id: userId, tier_name: tier, path });

async function limitFor(tx: Tx, { tier, path }: Spender): Promise<RateLimit> {
  const row = await tx
    .selectFrom("rate_limits")
    .select(["limit_count", "period_seconds"])
    .where("tier_name", "=", tier)
    .where("path", "=", path)
    .executeTakeFirst();
  return row ? { limit: row.limit_count, periodSeconds: row.period_seconds } : DEFAULT_LIMIT;
}
