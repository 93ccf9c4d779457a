import type { Deployment } from "./deployment.ts";

export interface RolloutLimits {
  /** Pods beyond the wanted number. */
  readonly surge: number;
  /** Pods that may be missing. */
  readonly unavailable: number;
}

const QUARTER = "25%";

/** How far a rollout may go over and under the wanted number. Both at nothing would let it never begin. */
export function rolloutLimits({ spec }: Deployment): RolloutLimits {
  if (spec.strategy?.type === "Recreate") return { surge: 0, unavailable: 0 };
  const { maxSurge = QUARTER, maxUnavailable = QUARTER } = spec.strategy?.rollingUpdate ?? {};
  const replicas = spec.replicas ?? 1;
  const surge = amountOf(maxSurge, replicas, Math.ceil);
  const unavailable = Math.min(amountOf(maxUnavailable, replicas, Math.floor), replicas);
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

/** A number, or a share of the whole. */
export function amountOf(amount: number | string, whole: number, round: (share: number) => number): number {
  if (typeof amount === "number") return amount;
  return amount.endsWith("%") ? round((Number(amount.slice(0, -1)) * whole) / 100) : Number(amount) || 0;
}
