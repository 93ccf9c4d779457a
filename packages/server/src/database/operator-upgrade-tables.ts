import type { ClusterUpgradePhase, OperatorUpgradeStatus } from "@binnacle/contract";
import type { Timestamps } from "./fleet-tables.ts";

/** The tables of upgrades of operators, as the migrations create them. */
export interface OperatorUpgradeTables {
  operator_upgrade_clusters: OperatorUpgradeClusterTable;
  operator_upgrades: OperatorUpgradeTable;
}

export interface OperatorUpgradeTable extends Timestamps {
  id: string;
  org_id: string;
  to_version: string;
  /** Null where the control plane that started it had no images. */
  digest: string | null;
  batch_size: number;
  stop_on_failure: boolean;
  status: OperatorUpgradeStatus;
  cancel_requested_at: Date | null;
  created_by: string | null;
  finished_at: Date | null;
}

export interface OperatorUpgradeClusterTable {
  upgrade_id: string;
  cluster_id: string;
  phase: ClusterUpgradePhase;
  from_version: string | null;
  reason: string | null;
  started_at: Date | null;
  finished_at: Date | null;
}
