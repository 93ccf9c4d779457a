/** The tier of new users. */
export const DEFAULT_TIER = "free";
export const SEEDED_TIERS = [DEFAULT_TIER, "pro"] as const;

/** The limit of a throttled path that the tier does not configure. */
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

/** The task throttle: a fixed window that opens with the first admitted request. */

/** `periodSeconds` is positive. */
export interface RateLimit {
  readonly limit: number;
  readonly periodSeconds: number;
}

/** The admitted requests of a window; with a count of zero no window is open. */
export interface Usage {
  readonly windowStartedAtMs: number;
  readonly count: number;
}

/** The usage is stored after a refusal too, because it corrects a window that a faster clock opened. */
export type Spending =
  | { readonly admitted: true; readonly usage: Usage }
  | { readonly admitted: false; readonly usage: Usage; readonly retryAfterSeconds: number };

/** A request after `retryAfterSeconds` is admitted, unless the limit is zero. */
export function spend(usage: Usage | null, { limit, periodSeconds }: RateLimit, nowMs: number): Spending {
  const periodMs = periodSeconds * 1_000;
  const { windowStartedAtMs, count } = currentWindow(usage, periodMs, nowMs);
  if (count < limit) return { admitted: true, usage: { windowStartedAtMs, count: count + 1 } };
  const remainingMs = windowStartedAtMs + periodMs - nowMs;
  return {
    admitted: false,
    usage: { windowStartedAtMs, count },
    retryAfterSeconds: Math.ceil(remainingMs / 1_000),
  };
}

function currentWindow(usage: Usage | null, periodMs: number, nowMs: number): Usage {
  const isOpen = usage !== null && usage.count > 0 && nowMs < usage.windowStartedAtMs + periodMs;
  if (!isOpen) return { windowStartedAtMs: nowMs, count: 0 };
  // With a clock that was set back, a window in the future would otherwise stay open for too long.
  return { ...usage, windowStartedAtMs: Math.min(usage.windowStartedAtMs, nowMs) };
}

/** Returns the canonical path of a limit, relative to the API base. */
export function normalisePath(path: string): string {
  const segments = path
    .replace(/[?#].*$/s, "")
    .split("/")
    .filter((segment) => segment !== "");
  // The base is removed repeatedly, so that normalizing is idempotent.
  return `/${segments.join("/")}`.replace(/^(?:\/api\/v1(?=\/|$))+/, "") || "/";
}
