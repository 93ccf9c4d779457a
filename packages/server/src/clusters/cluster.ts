import type { ProvisioningAction, ProvisioningStatus } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { ClusterTable } from "../database/fleet-tables.ts";

/** A cluster with the facts beside its row that its status depends on. */
export interface Cluster extends Selectable<ClusterTable> {
  /** Until when the hub that holds its connection vouches for it; null where none does. */
  readonly session_lease_until: Date | null;
  /** Of the newest provisioning job. */
  readonly job_action: ProvisioningAction | null;
  readonly job_status: ProvisioningStatus | null;
  readonly job_error_message: string | null;
}
