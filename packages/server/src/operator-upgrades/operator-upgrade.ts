import {
  CLUSTER_UPGRADE_PHASES,
  type ClusterUpgradePhase,
  type ObservedUpgrade,
  type OperatorUpgrade,
  type OperatorUpgradePreview,
  type OperatorUpgradeStatus,
  type OperatorUpgradeSummary,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import { named } from "../clusters/cluster.ts";
import type { OperatorUpgradeClusterTable, OperatorUpgradeTable } from "../database/operator-upgrade-tables.ts";
import { conflict, Fault } from "../fault.ts";
import { compareReleases } from "../upgrade/release.ts";

export const OPERATOR_UPGRADE_KIND = "operator_upgrade";

/** The operator goes back by itself before. An operator that is away for longer is not waited for. */
const LONGEST_MS = 15 * 60_000;

export type Upgrade = Selectable<OperatorUpgradeTable>;
export type UpgradeEntry = Selectable<OperatorUpgradeClusterTable>;
export type Counts = Readonly<Record<ClusterUpgradePhase, number>>;

/** A cluster with what decides whether its operator can be upgraded from here. */
export interface UpgradeCandidate {
  readonly id: string;
  readonly name: string;
  readonly operator_version: string | null;
  readonly self_upgrade: boolean;
  readonly is_leaving: boolean;
  readonly is_upgrading: boolean;
  readonly lease_until: Date | null;
}

/**
 * Returns whether an upgrade of all operators has the cluster in it. One of a newer release is left as it is: after a rollback of
 * the control plane it works on, and to take it back is a decision about that cluster.
 */
export function isOlder({ operator_version }: Pick<UpgradeCandidate, "operator_version">, version: string): boolean {
  if (operator_version === null || operator_version === version) return false;
  return (compareReleases(operator_version, version) ?? 0) <= 0;
}

/** Returns why the operator cannot be upgraded from here, else null. */
export function obstacleTo(candidate: UpgradeCandidate, version: string, now: Date): string | null {
  if (candidate.is_leaving) return "The cluster is being deleted or is abandoned.";
  if (candidate.is_upgrading) return "Its operator is being upgraded already.";
  if (candidate.operator_version === version) return `Its operator has the version ${version} already.`;
  if (candidate.lease_until === null || candidate.lease_until <= now) return "Its operator is not connected.";
  if (candidate.self_upgrade) return null;
  return (
    "Its operator cannot be upgraded from here: it is too old for that, or its chart has selfUpgrade.enabled=false. " +
    "Run the upgrade_command of its install instructions."
  );
}

/** A cluster that is asked for, and why it is left out, else null. */
export interface Judged {
  readonly candidate: UpgradeCandidate;
  readonly reason: string | null;
}

/** Returns the clusters of an upgrade: those that are named, or else all with an older operator. */
export function judged(
  candidates: readonly UpgradeCandidate[],
  version: string,
  now: Date,
  areNamed: boolean,
): readonly Judged[] {
  return candidates
    .filter((candidate) => areNamed || isOlder(candidate, version))
    .map((candidate) => ({ candidate, reason: obstacleTo(candidate, version, now) }));
}

export function previewOf(entries: readonly Judged[], version: string): OperatorUpgradePreview {
  const upgraded = entries.filter(({ reason }) => reason === null);
  const counts = new Map<string, number>();
  for (const { candidate } of upgraded) {
    const from = candidate.operator_version ?? "";
    counts.set(from, (counts.get(from) ?? 0) + 1);
  }
  return {
    to_version: version,
    cluster_count: upgraded.length,
    from_versions: [...counts]
      .map(([from, cluster_count]) => ({ version: from, cluster_count }))
      .sort((a, b) => b.cluster_count - a.cluster_count || a.version.localeCompare(b.version)),
    skipped_count: entries.length - upgraded.length,
  };
}

export const nothingToUpgrade = (refused: readonly { readonly name: string; readonly reason: string }[]): Fault =>
  conflict(
    refused.length === 0
      ? "No operator has an older version than the control plane."
      : `No operator can be upgraded. ${refused
          .slice(0, 3)
          .map(({ name, reason }) => `${name}: ${reason}`)
          .join(
            " ",
          )}${refused.length > 3 ? ` The same holds for ${named(refused.slice(3).map(({ name }) => name))}.` : ""}`,
  );

export const upgradeUnderWay = () => conflict("The operator of one of these clusters is being upgraded already.");

export interface Outcome {
  readonly phase: ClusterUpgradePhase;
  readonly reason: string | null;
}

/** Returns what the answer of an operator, or its silence, makes of an upgrade that is under way. */
export function outcomeOf(answer: ObservedUpgrade | Fault, startedAt: Date, now: Date): Outcome {
  const isOverdue = now.getTime() - startedAt.getTime() >= LONGEST_MS;
  if (!(answer instanceof Fault)) {
    if (answer.phase !== "running" || !isOverdue) return { phase: answer.phase, reason: answer.reason };
    return { phase: "failed", reason: "The operator has not finished the upgrade within 15 minutes." };
  }
  const mayReturn = answer.kind === "unavailable" || answer.kind === "timed_out";
  if (!mayReturn) return { phase: "failed", reason: answer.message };
  if (!isOverdue) return { phase: "running", reason: "The operator is not connected at the moment." };
  return { phase: "failed", reason: "The operator was not connected within 15 minutes. Look at its pods." };
}

export interface Plan {
  /** How many more clusters are begun. */
  readonly start: number;
  /** Why those that wait are not begun any more, else null. */
  readonly cancel: string | null;
  readonly status: OperatorUpgradeStatus;
}

type Settings = Pick<Upgrade, "batch_size" | "stop_on_failure" | "cancel_requested_at">;

export function planOf({ batch_size, stop_on_failure, cancel_requested_at }: Settings, counts: Counts): Plan {
  const hasFailed = counts.returned + counts.failed > 0;
  const cancel = cancelReason(cancel_requested_at !== null, hasFailed && stop_on_failure);
  const start = cancel ? 0 : Math.max(0, Math.min(batch_size - counts.running, counts.pending));
  const status = counts.running + start > 0 ? "running" : endOf(hasFailed, cancel_requested_at !== null);
  return { start, cancel, status };
}

function cancelReason(isCancelled: boolean, isStopped: boolean): string | null {
  if (isCancelled) return "The upgrade was cancelled before.";
  return isStopped ? "The upgrade of another cluster failed before." : null;
}

function endOf(hasFailed: boolean, isCancelled: boolean): OperatorUpgradeStatus {
  if (hasFailed) return "failed";
  return isCancelled ? "cancelled" : "succeeded";
}

export const countsOf = (found: Readonly<Partial<Record<ClusterUpgradePhase, number>>>): Counts =>
  Object.fromEntries(CLUSTER_UPGRADE_PHASES.map((phase) => [phase, found[phase] ?? 0])) as Counts;

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;

export const wireSummary = (upgrade: Upgrade, counts: Counts): OperatorUpgradeSummary => ({
  id: upgrade.id,
  org_id: upgrade.org_id,
  status: upgrade.status,
  to_version: upgrade.to_version,
  batch_size: upgrade.batch_size,
  stop_on_failure: upgrade.stop_on_failure,
  cancel_requested_at: timeOf(upgrade.cancel_requested_at),
  counts,
  created_by: upgrade.created_by,
  created_at: upgrade.created_at.toISOString(),
  finished_at: timeOf(upgrade.finished_at),
});

export const wireUpgrade = (
  upgrade: Upgrade,
  counts: Counts,
  entries: readonly (UpgradeEntry & { readonly cluster_name: string })[],
): OperatorUpgrade => ({
  ...wireSummary(upgrade, counts),
  clusters: entries.map((entry) => ({
    cluster_id: entry.cluster_id,
    cluster_name: entry.cluster_name,
    phase: entry.phase,
    from_version: entry.from_version,
    to_version: upgrade.to_version,
    reason: entry.reason,
    started_at: timeOf(entry.started_at),
    finished_at: timeOf(entry.finished_at),
  })),
});
