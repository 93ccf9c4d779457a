/** Roles, weakest first: each includes the rights of those before it. */
export const ORG_ROLES = ["member", "admin"] as const;
export type OrgRole = (typeof ORG_ROLES)[number];

export const BINDING_ROLES = ["viewer", "editor", "admin"] as const;
export type BindingRole = (typeof BINDING_ROLES)[number];

/** All scopes of CLI tokens. */
export const SCOPES = [
  "bundles:read",
  "clusters:read",
  "clusters:register",
  "install:report",
  "read",
  "write",
] as const;
export type Scope = (typeof SCOPES)[number];

/** All states and phases, written once: types, schemas, SQL checks and documents are derived from them. */

export const CLUSTER_STATUSES = [
  "pending",
  "provisioning",
  "awaiting_operator",
  "connected",
  "disconnected",
  "installing",
  "install_failed",
  "abandoned",
  "detaching",
  "destroying",
  "error",
] as const;
export type ClusterStatus = (typeof CLUSTER_STATUSES)[number];

export const PROVIDERS = ["aws", "gcp", "azure", "do", "metal", "ssh"] as const;
export type Provider = (typeof PROVIDERS)[number];

export const INSTALL_STAGES = [
  "preflight",
  "register",
  "k3s-server",
  "k3s-agents",
  "platform-networking",
  "platform-certs",
  "platform-storage",
  "platform-backup",
  "platform-day2",
  "agent",
  "profiles",
  "record",
  "verify",
] as const;
export const UPGRADE_STAGES = [
  "preflight",
  "backup",
  "platform-components",
  "profiles",
  "agent",
  "kubernetes",
  "verify",
  "record",
] as const;
export const STAGES = [...new Set([...INSTALL_STAGES, ...UPGRADE_STAGES])] as const;
export type Stage = (typeof INSTALL_STAGES)[number] | (typeof UPGRADE_STAGES)[number];
/** Stages that install components of the bundle one by one. */
export const COMPONENT_STAGES = STAGES.filter((stage) => stage.startsWith("platform-") || stage === "profiles");
export const STAGE_STATUSES = ["started", "completed", "failed"] as const;
export type StageStatus = (typeof STAGE_STATUSES)[number];

export const HA_TIERS = ["single-server", "ha"] as const;
export type HaTier = (typeof HA_TIERS)[number];

export const PROJECT_LIFECYCLES = ["pending", "ready", "degraded", "cleanup_pending", "cleanup_degraded"] as const;
export type ProjectLifecycle = (typeof PROJECT_LIFECYCLES)[number];

/** The levels of the Pod Security Standards, weakest first. */
export const POD_SECURITY_LEVELS = ["privileged", "baseline", "restricted"] as const;
export type PodSecurity = (typeof POD_SECURITY_LEVELS)[number];
/** With `namespace`, the pods of a project accept traffic from their own namespace and the ingress controllers only. */
export const ISOLATIONS = ["namespace", "none"] as const;
export type Isolation = (typeof ISOLATIONS)[number];

export const APP_PHASES = [
  "pending",
  "deploying",
  "running",
  "degraded",
  "failed",
  "invalid",
  "paused",
  "deleting",
] as const;
export type AppPhase = (typeof APP_PHASES)[number];
export const COMPONENT_PHASES = [
  "waiting",
  "deploying",
  "running",
  "completed",
  "degraded",
  "failed",
  "paused",
  "unknown",
] as const;
export type ComponentPhase = (typeof COMPONENT_PHASES)[number];
/** As Kubernetes writes them. */
export const POD_PHASES = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const;
export type PodPhase = (typeof POD_PHASES)[number];
/** The state of one object of an app in the cluster. */
export const RESOURCE_STATUSES = ["ready", "progressing", "failed", "deleting", "missing", "unknown"] as const;
export type ResourceStatus = (typeof RESOURCE_STATUSES)[number];
/**
 * The fate of a volume at a deletion. `deleted`: the data is lost. `released`: the claim goes, the volume with the data stays.
 * `kept`: the claim stays. `unknown`: the cluster does not say.
 */
export const VOLUME_FATES = ["deleted", "released", "kept", "unknown"] as const;
export type VolumeFate = (typeof VOLUME_FATES)[number];
/** The states of a one-off run of a component. */
export const RUN_STATUSES = ["pending", "running", "succeeded", "failed"] as const;
/** As Kubernetes writes them. */
export const RECLAIM_POLICIES = ["Delete", "Retain", "Recycle"] as const;
export type ReclaimPolicy = (typeof RECLAIM_POLICIES)[number];
export const DRIFT_STATES = ["unknown", "in_sync", "drifted", "blocked_sync"] as const;
export type DriftState = (typeof DRIFT_STATES)[number];

/**
 * Whether a suspension holds. `not_in_effect`: the operator reconciles all the same, because it is too old or could not store the app.
 */
export const SUSPENSION_STATES = ["pending", "in_effect", "not_in_effect"] as const;
export type SuspensionState = (typeof SUSPENSION_STATES)[number];

export const DEPLOYMENT_STATUSES = ["pending", "succeeded", "failed", "superseded"] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];
export const DEPLOYMENT_OPERATIONS = [
  "create",
  "update",
  "scale",
  "pause",
  "resume",
  "redeploy",
  "rollback",
  "attach_addon",
  "detach_addon",
  "update_secrets",
] as const;
export type DeploymentOperation = (typeof DEPLOYMENT_OPERATIONS)[number];

export const ADDON_PHASES = ["pending", "installing", "ready", "upgrading", "degraded", "failed", "deleting"] as const;
export type AddonPhase = (typeof ADDON_PHASES)[number];

export const PROVISIONING_ACTIONS = ["create", "scale", "replace", "upgrade", "destroy"] as const;
export type ProvisioningAction = (typeof PROVISIONING_ACTIONS)[number];
export const PROVISIONING_STATUSES = ["pending", "running", "succeeded", "failed"] as const;
export type ProvisioningStatus = (typeof PROVISIONING_STATUSES)[number];
export const PROVISIONING_PHASES = ["init", "plan", "apply", "bootstrap", "operator", "done"] as const;
export type ProvisioningPhase = (typeof PROVISIONING_PHASES)[number];
/** The causes of a failed provisioning job that people act on differently. */
export const PROVISIONING_ERROR_CODES = [
  "bad_credentials",
  "permission_denied",
  "quota_exceeded",
  "not_offered",
  "no_capacity",
  "throttled",
  "unreachable",
  "timed_out",
  "cancelled",
  "leftovers",
  "unsupported",
  "init_failed",
  "bootstrap_failed",
  "control_plane_protected",
  "local_volumes",
  "plan_changed",
  "no_snapshot",
  "failed",
] as const;
export type ProvisioningErrorCode = (typeof PROVISIONING_ERROR_CODES)[number];

/** The steps of a machine on its way to a node of its cluster, in order. */
export const BOOTSTRAP_STAGES = ["secrets", "install", "configure", "start", "join", "ready"] as const;
export type BootstrapStage = (typeof BOOTSTRAP_STAGES)[number];
export const BOOTSTRAP_STATUSES = ["running", "completed", "failed"] as const;
export type BootstrapStatus = (typeof BOOTSTRAP_STATUSES)[number];

export const TEMPLATE_SCOPES = ["project", "cluster", "organization", "global"] as const;
export type TemplateScope = (typeof TEMPLATE_SCOPES)[number];
export const PARAMETER_TYPES = ["string", "integer", "number", "boolean", "select", "secret"] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];
export const GENERATORS = ["random_password", "random_hex", "uuid"] as const;

export const WORKLOAD_KINDS = ["deployment", "statefulset", "daemonset", "job", "cronjob"] as const;
export const COMPONENT_TYPES = ["workload", "addon", "chart"] as const;

/** The event names of the stream. */
export const EVENT_TYPES = [
  "install_stage_update",
  "cluster-status",
  "project",
  "app",
  "addon",
  "drift",
  "build",
  "activity",
  "access",
  "reset",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
/** The resource types that a subscriber may filter by. */
export const RESOURCE_FILTERS = ["cluster", "project", "workload", "build", "addon", "app", "activity", "all"] as const;

/** The kinds of resources that are dispatched to clusters. */
export const DESIRED_KINDS = ["project", "app", "addon_instance", "registry_secrets"] as const;
export type DesiredKind = (typeof DESIRED_KINDS)[number];
