import type { RateLimit } from "./rate-limit.ts";

/** Where every user begins. */
export const DEFAULT_TIER = "free";
export const SEEDED_TIERS = [DEFAULT_TIER, "pro"] as const;

/** What holds on a throttled path for which a tier sets no limit of its own. */
export const DEFAULT_LIMIT: RateLimit = { limit: 10, periodSeconds: 3600 };

export interface StoredLimit {
  readonly id: string;
  readonly tier_name: string;
  readonly path: string;
  readonly limit_count: number;
  readonly period_seconds: number;
  readonly name: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface Tier {
  readonly name: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function wireTier(tier: Tier) {
  return { name: tier.name, created_at: tier.created_at.toISOString(), updated_at: tier.updated_at.toISOString() };
}

export function wireLimit(limit: StoredLimit) {
  return {
    id: limit.id,
    tier: limit.tier_name,
    path: limit.path,
    limit: limit.limit_count,
    period: limit.period_seconds,
    name: limit.name,
    created_at: limit.created_at.toISOString(),
    updated_at: limit.updated_at.toISOString(),
  };
}
