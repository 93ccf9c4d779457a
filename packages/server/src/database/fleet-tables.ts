import type {
  AddonPhase,
  AppPhase,
  BindingRole,
  ClusterWideChart,
  ComponentSpec,
  ComponentStatus,
  DeploymentOperation,
  DeploymentStatus,
  DesiredKind,
  DriftRepair,
  DriftState,
  Egress,
  FieldChange,
  HaTier,
  Isolation,
  LifecycleReason,
  OperatorFrames,
  PodSecurity,
  ProjectLifecycle,
  Provider,
  Stage,
  StageStatus,
} from "@binnacle/contract";
import type { ColumnType, Generated } from "kysely";
import type { KubernetesRelease } from "../cloud/kubernetes-release.ts";
import type { StackTemplateTable } from "./template-tables.ts";

/** Written as text, because `pg` converts a JavaScript array to a PostgreSQL array; read as the value. */
export type Json<T> = ColumnType<T, string, string>;

/** A column that has a default and is read as its value. */
export type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;

export interface Timestamps {
  created_at: Date;
  updated_at: Date;
}

/** The tables of clusters and their contents, as the migrations create them. */
export interface FleetTables {
  addon_instances: AddonInstanceTable;
  addon_revisions: AddonRevisionTable;
  addon_secrets: AddonSecretTable;
  app_deployments: AppDeploymentTable;
  app_secrets: AppSecretTable;
  apps: AppTable;
  chart_repositories: ChartRepositoryTable;
  cluster_sessions: ClusterSessionTable;
  cluster_settings: ClusterSettingsTable;
  clusters: ClusterTable;
  desired_resources: DesiredResourceTable;
  chart_hosts: ChartHostTable;
  ingress_hosts: IngressHostTable;
  metric_samples: MetricSampleTable;
  projects: ProjectTable;
  registry_secrets: RegistrySecretTable;
  role_bindings: RoleBindingTable;
  stack_templates: StackTemplateTable;
}

export interface ChartRepositoryTable extends Timestamps {
  id: string;
  org_id: string;
  name: string;
  url: string;
  username: string;
  sealed_password: string;
}

interface Suspended {
  /** Since when its operator is not to touch it and what is in it; null where it may, unless something around it is suspended. */
  suspended_at: Date | null;
  suspended_by: string | null;
  suspended_reason: string | null;
}

export interface ClusterTable extends Timestamps, Suspended {
  id: string;
  org_id: string;
  name: string;
  description: string | null;
  provider: Provider | null;
  credential_id: string | null;
  region: string | null;
  instance_type: string | null;
  agent_count: number | null;
  disk_size_gb: number | null;
  /** How its machines reach what is outside of their network; null where nothing is in the way. */
  egress: Json<Egress> | null;
  token_version: Generated<number>;
  token_floor: Generated<number>;
  revision: Generated<number>;
  first_connected_at: Date | null;
  last_heartbeat: Date | null;
  operator_version: string | null;
  /** Whether the operator said at its last connection that it can be upgraded from here. */
  self_upgrade: Generated<boolean>;
  /** Whether it said then that it does not touch what is suspended; null where no server has asked yet. */
  suspends: boolean | null;
  /** Whether it said then that it can let the cluster go; null where no server has asked yet. */
  detaches: boolean | null;
  /** When the last suspension ended: deployments have their whole time from then on. */
  suspension_ended_at: Date | null;
  kubernetes_version: string | null;
  node_count: number | null;
  capacity: Json<Record<string, number>> | null;
  stage: Stage | null;
  stage_status: StageStatus | null;
  stage_component: string | null;
  stage_at: Date | null;
  bundle_version: string | null;
  profiles: string[] | null;
  ha_tier: HaTier | null;
  volume_group_ownership: Json<unknown> | null;
  install_journal: Json<readonly object[]> | null;
  sealed_ssh_key: string | null;
  ssh_public_key: string | null;
  sealed_join_token: string | null;
  /** With it agents join, and nothing else; null for clusters of releases that had one token for all. */
  sealed_agent_token: string | null;
  /** What its machines run; null for clusters of releases that did not keep it. */
  kubernetes_release: Json<KubernetesRelease> | null;
  /** Where its control plane puts snapshots, as it was when the cluster was made. */
  snapshot_bucket: string | null;
  deletion_requested_at: Date | null;
  /** An administrator has given the cluster up. It stays until its operator has cleaned up, or until it is deleted. */
  abandoned_at: Date | null;
  /** Its operator is to let go of everything on it. Such a cluster was given up at the same moment. */
  detach_requested_at: Date | null;
  /** What the operator has not let go of yet; null before it has answered. */
  detach_message: string | null;
  /** When its operator was last asked to let go. */
  detach_asked_at: Date | null;
}

export interface ClusterSessionTable {
  cluster_id: string;
  hub_id: string;
  hub_url: string | null;
  epoch: number;
  token_version: number;
  lease_until: Date;
  started_at: Date;
}

/** Null columns follow the default. */
export interface ClusterSettingsTable {
  cluster_id: string;
  pod_security: PodSecurity | null;
  ingress_namespaces: string[] | null;
  cluster_wide_charts: Json<ClusterWideChart[]> | null;
  exec_enabled: boolean | null;
  updated_at: Date;
}

export interface ProjectTable extends Timestamps, Suspended {
  id: string;
  org_id: string;
  cluster_id: string;
  name: string;
  namespace: string;
  lifecycle: Generated<ProjectLifecycle>;
  lifecycle_reason: LifecycleReason | null;
  lifecycle_message: string | null;
  /** The level of the project; null follows the cluster. */
  pod_security: PodSecurity | null;
  /** An administrator of the organization has allowed a level weaker than the cluster's. */
  weaker_pod_security_allowed: Generated<boolean>;
  isolation: Generated<Isolation>;
  /** Whether the operator has last reported it as suspended, since it or its cluster is; null before it has reported. */
  suspension_reported: boolean | null;
  /** When the last suspension ended: deployments have their whole time from then on. */
  suspension_ended_at: Date | null;
  /** The time of the last report that changed the project; null before the first. */
  reported_at: Date | null;
}

export interface RoleBindingTable extends Timestamps {
  id: string;
  user_id: string;
  role: BindingRole;
  cluster_id: string | null;
  project_id: string | null;
}

export interface RegistrySecretTable extends Timestamps {
  id: string;
  cluster_id: string | null;
  project_id: string | null;
  name: string;
  server_url: string;
  username: string;
  sealed_password: string;
}

export interface DesiredResourceTable {
  cluster_id: string;
  kind: DesiredKind;
  resource_id: string;
  key: string;
  generation: number;
  revision: number;
  removed_at: Date | null;
  /** The generation that the cluster has confirmed. It is lower than `generation` while a change is being delivered. */
  acked_generation: number | null;
  acked_hash: string | null;
  updated_at: Date;
  /** The trace of the change that is pending; null once it is confirmed. */
  traceparent: string | null;
}

export interface MetricSampleTable {
  cluster_id: string;
  at: Date;
  sample: Json<Omit<OperatorFrames["samples"], "type" | "session" | "at">>;
}

/** A trigger keeps three further columns, `search_text`, `deployed_at` and `listed_components`, which only lists read. */
export interface AppTable extends Timestamps, Suspended {
  id: string;
  org_id: string;
  cluster_id: string;
  project_id: string;
  namespace: string;
  name: string;
  description: string | null;
  components: Json<ComponentSpec[]>;
  replicas_before_pause: Json<Record<string, number>> | null;
  generation: number;
  revision: number;
  phase: AppPhase;
  phase_reason: string | null;
  phase_message: string | null;
  observed_generation: number | null;
  phase_since: Generated<Date>;
  component_statuses: JsonWithDefault<StoredComponentStatus[]>;
  drift_state: Generated<DriftState>;
  drift_summary: string | null;
  drift_fields: JsonWithDefault<object[]>;
  drift_detected_at: Date | null;
  drift_repairs: JsonWithDefault<DriftRepair[]>;
  forced_generation: number | null;
  /** Whether the operator has last reported it as suspended, since it is; null before it has reported. */
  suspension_reported: boolean | null;
  /** The time of the last report that changed the app; null before the first. */
  reported_at: Date | null;
}

/** An operator of an earlier version reports the count of ready replicas only. */
export interface StoredComponentStatus extends Partial<Omit<ComponentStatus, "name">> {
  name: string;
  ready_replicas: number;
}

export interface AppSecretTable {
  id: string;
  app_id: string;
  component: string;
  key: string;
  sealed_value: string;
  updated_at: Date;
}

export interface AppDeploymentTable extends Timestamps {
  id: string;
  app_id: string;
  revision: number;
  generation: number;
  operation: DeploymentOperation;
  status: DeploymentStatus;
  message: string | null;
  spec: Json<{ components: ComponentSpec[]; paused: boolean }>;
  created_by: string | null;
  deadline_at: Date | null;
  finished_at: Date | null;
  /** The secrets that the operation set or removed, each as `component/key`; a removed component as `component/`. */
  changed_secrets: Generated<string[]>;
  /** What the operation has changed, in words and by field. Null on deployments from before version 0029. */
  summary: string | null;
  changes: Json<FieldChange[]> | null;
}

/** A host that an app declares, or that it declared earlier and may still serve. */
export interface ChartHostTable {
  project_id: string;
  host: string;
  cluster_id: string;
}

export interface IngressHostTable {
  app_id: string;
  host: string;
  cluster_id: string;
  project_id: string;
}

export interface AddonInstanceTable extends Timestamps {
  id: string;
  org_id: string;
  cluster_id: string;
  project_id: string;
  namespace: string;
  name: string;
  definition_id: string;
  values: Json<Record<string, unknown>>;
  chart_version: string;
  generation: number;
  revision_number: number;
  phase: AddonPhase;
  phase_reason: string | null;
  phase_message: string | null;
  phase_since: Generated<Date>;
  observed_generation: number | null;
  exports: JsonWithDefault<Record<string, unknown>>;
  component_statuses: JsonWithDefault<ComponentStatus[]>;
  drift_state: Generated<DriftState>;
  drift_summary: string | null;
  drift_fields: JsonWithDefault<object[]>;
  drift_detected_at: Date | null;
  drift_repairs: JsonWithDefault<DriftRepair[]>;
  /** The time of the last report that changed the instance; null before the first. */
  reported_at: Date | null;
}

export interface AddonSecretTable {
  id: string;
  addon_instance_id: string;
  path: string;
  sealed_value: string;
  updated_at: Date;
}

export interface AddonRevisionTable {
  id: string;
  addon_instance_id: string;
  revision_number: number;
  values: Json<Record<string, unknown>>;
  chart_version: string;
  notes: string | null;
  created_by: string | null;
  created_at: Date;
}
