import type {
  Provider,
  ProvisioningAction,
  ProvisioningErrorCode,
  ProvisioningPhase,
  ProvisioningPlan,
  ProvisioningStatus,
} from "@binnacle/contract";
import type { Generated } from "kysely";
import type { Json, Timestamps } from "./fleet-tables.ts";

/** The tables of what Binnacle builds at a provider, as the migrations create them. */
export interface ProvisioningTables {
  cloud_credentials: CloudCredentialTable;
  infrastructure_states: InfrastructureStateTable;
  node_tokens: NodeTokenTable;
  provisioning_jobs: ProvisioningJobTable;
  provisioning_log_lines: ProvisioningLogLineTable;
}

export interface CloudCredentialTable extends Timestamps {
  id: string;
  org_id: string;
  name: string;
  provider: Provider;
  region: string | null;
  access_key_id: string | null;
  sealed_secret: string | null;
}

export interface ProvisioningJobTable extends Timestamps {
  id: string;
  cluster_id: string;
  org_id: string;
  credential_id: string | null;
  action: ProvisioningAction;
  status: ProvisioningStatus;
  phase: ProvisioningPhase;
  progress_pct: Generated<number>;
  error_message: string | null;
  error_code: ProvisioningErrorCode | null;
  attempts: Generated<number>;
  desired_node_count: number | null;
  /** Ends with its plan and changes nothing. */
  dry_run: Generated<boolean>;
  plan: Json<Omit<ProvisioningPlan, "job_id">> | null;
  cancel_requested_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
}

/** Every state that OpenTofu has written for a cluster, newest last. */
interface InfrastructureStateTable {
  id: string;
  cluster_id: string;
  serial: number;
  lineage: string;
  sealed_state: string;
  job_id: string;
  created_at: Date;
}

/** With it a new machine fetches what it needs to join its cluster, once. */
interface NodeTokenTable {
  token_hash: string;
  cluster_id: string;
  node: string;
  expires_at: Date;
  used_at: Date | null;
}

interface ProvisioningLogLineTable {
  job_id: string;
  position: Generated<number>;
  at: Date;
  line: string;
}
