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

/** The arithmetic of the task throttle: a fixed window that opens with the first admitted request. */

/** The period is positive. */
export interface RateLimit {
  readonly limit: number;
  readonly periodSeconds: number;
}

/** What was admitted in a window; a count of zero means that none is open. */
export interface Usage {
  readonly windowStartedAtMs: number;
  readonly count: number;
}

/** The usage is stored after a refusal too: it brings a window that a faster clock opened back to this one's time. */
export type Spending =
  | { readonly admitted: true; readonly usage: Usage }
  | { readonly admitted: false; readonly usage: Usage; readonly retryAfterSeconds: number };

/** Waiting for `retryAfterSeconds` gets the next request admitted, unless the limit is zero. */
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
  // A window that starts in the future of a clock set back would otherwise stay open for longer than its period.
  return { ...usage, windowStartedAtMs: Math.min(usage.windowStartedAtMs, nowMs) };
}

/** The path of a limit relative to the API base, in the one spelling under which it is stored and compared. */
export function normalisePath(path: string): string {
  const segments = path
    .replace(/[?#].*$/s, "")
    .split("/")
    .filter((segment) => segment !== "");
  // The base is stripped as often as it stands there, so that normalising a normalised path changes nothing.
  return `/${segments.join("/")}`.replace(/^(?:\/api\/v1(?=\/|$))+/, "") || "/";
}
