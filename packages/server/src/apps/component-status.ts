import type { ComponentStatus, PodStatus, ShownComponentStatus } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { AppTable, StoredComponentStatus } from "../database/fleet-tables.ts";

/** Nothing where an operator of an earlier version has reported the ready replicas only. */
export function shownStatus(stored: StoredComponentStatus): ShownComponentStatus[] {
  const { ready_replicas: _, ...status } = stored;
  return isWhole(status) ? [status] : [];
}

const isWhole = (status: Partial<ComponentStatus>): status is ComponentStatus => status.phase !== undefined;

export function withoutPods(shown: ShownComponentStatus): ShownComponentStatus {
  const { pods: _, ...status } = shown;
  return status;
}

type StoredDrift = Pick<
  Selectable<AppTable>,
  "drift_state" | "drift_summary" | "drift_fields" | "drift_detected_at" | "drift_repairs"
>;

/** The drift of an app or of an addon instance. */
export const listedDrift = (stored: Omit<StoredDrift, "drift_fields">) => ({
  state: stored.drift_state,
  summary: stored.drift_summary,
  detected_at: stored.drift_detected_at?.toISOString() ?? null,
  repaired: stored.drift_repairs,
});

export const shownDrift = (stored: StoredDrift) => ({ ...listedDrift(stored), fields: stored.drift_fields });

/** Keeps the fields that are known, whatever else a later operator may report. */
export function storedStatus(status: ComponentStatus): ComponentStatus {
  const { name, phase, reason, message, desired, ready, updated, restarts, image, pods } = status;
  return { name, phase, reason, message, desired, ready, updated, restarts, image, pods: pods.map(storedPod) };
}

const storedPod = ({ name, phase, reason, restarts, node, started_at }: PodStatus): PodStatus => ({
  name,
  phase,
  reason,
  restarts,
  node,
  started_at,
});

interface Phased {
  readonly phase: string;
  readonly phase_since: Date;
}

/**
 * When the reported phase began. An operator that does not say so has begun it now, where it is another one. The clock of a
 * cluster may be ahead.
 */
export function phaseSinceAfter(
  before: Phased,
  report: { readonly phase: string; readonly phase_since?: string },
  now: Date,
): Date {
  const since = Date.parse(report.phase_since ?? "");
  if (since <= now.getTime()) return new Date(since);
  return report.phase === before.phase ? before.phase_since : now;
}
