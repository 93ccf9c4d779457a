import type {
  BootstrapStage,
  BootstrapStatus,
  Provider,
  ProvisioningAction,
  ProvisioningErrorCode,
  ProvisioningPhase,
  ProvisioningPlan,
  ProvisioningStatus,
} from "@binnacle/contract";
import type { Generated } from "kysely";
import type { KubernetesRelease } from "../cloud/kubernetes-release.ts";
import type { Json, JsonWithDefault, Timestamps } from "./fleet-tables.ts";

/** The tables of what Binnacle builds at a provider, as the migrations create them. */
export interface ProvisioningTables {
  cloud_credentials: CloudCredentialTable;
  infrastructure_states: InfrastructureStateTable;
  node_boots: NodeBootTable;
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
  /** The fields of the provider that are not secret; see `credentialFieldsOf` of the contract. */
  settings: JsonWithDefault<Readonly<Record<string, string>>>;
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
  /** The node whose machine is replaced. */
  node: string | null;
  /** The id of the machine that is replaced, once it is known: a further run must not replace its successor. */
  replaced_machine: string | null;
  /** What an upgrade leads to. */
  kubernetes_release: Json<KubernetesRelease> | null;
  /** Nodes go although the data of their local volumes is lost. */
  force: Generated<boolean>;
  /** Plans of earlier releases have no volumes. */
  plan: Json<Omit<ProvisioningPlan, "job_id" | "volumes"> & { readonly volumes?: ProvisioningPlan["volumes"] }> | null;
  /** Of what the plan would change; null for plans of earlier releases. */
  plan_digest: string | null;
  /** The dry run that somebody has seen: nothing else may be changed. */
  plan_job_id: string | null;
  /** Since when it is known that the plan of the job is the one that was seen. A later run finishes what was begun. */
  plan_confirmed_at: Date | null;
  /** How often the cloud has asked the job to wait since somebody asked for it, and since when the job got no further than that. */
  throttles: Generated<number>;
  throttled_since: Date | null;
  /** Since when an upgrade waits for a fresh snapshot, which is not a fault of its cloud. */
  snapshot_wait_since: Date | null;
  /** Until when a pending job waits for its cloud. */
  retry_at: Date | null;
  cancel_requested_at: Date | null;
  /** Set while the job waits for its machines and its operator, without a worker. */
  waits_until: Date | null;
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

/** With one token a new machine fetches what it needs to join its cluster; with another it reports how far it is. */
interface NodeTokenTable {
  token_hash: string;
  cluster_id: string;
  node: string;
  purpose: Generated<"bootstrap" | "report">;
  /** The job that has made the token; null for those of earlier versions. */
  job_id: string | null;
  expires_at: Date;
  used_at: Date | null;
  /** The address that has used it, and may ask again. */
  used_from: string | null;
}

/** How far a machine has come since a job has planned to make it. */
export interface NodeBootTable {
  cluster_id: string;
  node: string;
  job_id: string;
  /** `pending` until its first report. */
  status: BootstrapStatus | "pending";
  stage: BootstrapStage | null;
  message: string | null;
  /** The lines of its log that were received; those that are repeated are not stored again. */
  lines: Generated<number>;
  log_bytes: Generated<number>;
  /** The reports since the beginning of the current minute. */
  window_at: Date | null;
  window_reports: Generated<number>;
  updated_at: Date;
}

interface ProvisioningLogLineTable {
  job_id: string;
  position: Generated<number>;
  at: Date;
  line: string;
}
