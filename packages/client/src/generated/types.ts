// Written by `npm run openapi` from openapi.json. Do not edit.

export type AbandonedCluster = {
  cluster_id: string;
  name: string;
  /** Of the projects on it. On the cluster they stay as they are until its operator returns. */
  namespaces: readonly string[];
  /** How many apps are on it. */
  apps: number;
  /** How many addon instances are on it. */
  addon_instances: number;
  /** What may be left on the cluster and at the provider, for people. */
  left_behind: readonly string[];
};

export type AccessToken = {
  access_token: string;
  token_type: "bearer";
};

export type AddonDefinition = {
  /** Made of the name: the same in every installation. */
  id: string;
  name: string;
  display_name: string;
  category: "database" | "cache" | "messaging" | "storage";
  /** The name of a picture; a client that has no such picture shows a general one. */
  icon: string;
  description: string;
  /** It keeps data that an older version may be unable to read: a downgrade has to be confirmed. */
  stateful: boolean;
  chart: {
    /** A Helm repository, or the OCI path that the chart's name is appended to. */
    repo: string;
    name: string;
    version: string;
    /** Newest first. */
    versions: readonly string[];
  };
  default_values: {
    [key: string]: unknown;
  };
  /** JSON Schema 2020-12 of the values that people may set. */
  values_schema: {
    [key: string]: unknown;
  };
  /** Dotted paths of values that are kept sealed; made up when missing. */
  secret_values: readonly string[];
  /** Dotted paths of values that look like secrets and are not. Others that do are refused. */
  plain_values?: readonly string[] | undefined;
  export_schema: {
    [key: string]: {
      description: string;
      /** Reads of the API show that it is there and not what it is. */
      secret: boolean;
      from: {
        secret: string;
        key: string;
      } | {
        service: string;
        port?: number | undefined;
      } | {
        value: string;
      };
    };
  };
};

export type AddonDefinitionPage = {
  data: readonly AddonDefinition[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type AddonInstance = {
  id: string;
  name: string;
  namespace: string;
  org_id: string;
  cluster_id: string;
  project_id: string;
  addon_definition_id: string;
  /** One of the versions that the definition offers. */
  chart_version: string;
  /** As they were set; a secret reads as a reference to the Secret that holds it. */
  values: {
    [key: string]: unknown;
  };
  /** The revision that is in force. */
  revision_number: number;
  phase: "pending" | "installing" | "ready" | "upgrading" | "degraded" | "failed" | "deleting";
  /** When the phase began. */
  phase_since: string;
  phase_reason: Reason | null;
  phase_message: string | null;
  /** The workloads of its release, as the cluster last reported; empty before. */
  components_status: readonly ComponentStatus[];
  drift: Drift;
  /** Counts what the cluster has been asked for. */
  generation: number;
  observed_generation: number | null;
  /** What the operator has published, by key; empty until then. */
  exports: {
    [key: string]: string | SecretRef;
  };
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  created_at: string;
  updated_at: string;
};

export type AddonInstanceListItem = {
  id: string;
  name: string;
  namespace: string;
  org_id: string;
  cluster_id: string;
  project_id: string;
  addon_definition_id: string;
  /** One of the versions that the definition offers. */
  chart_version: string;
  /** The revision that is in force. */
  revision_number: number;
  phase: "pending" | "installing" | "ready" | "upgrading" | "degraded" | "failed" | "deleting";
  /** When the phase began. */
  phase_since: string;
  phase_reason: Reason | null;
  phase_message: string | null;
  /** The workloads of its release, as the cluster last reported; empty before. */
  components_status: readonly ComponentStatus[];
  drift: ListedDrift;
  /** Counts what the cluster has been asked for. */
  generation: number;
  observed_generation: number | null;
  /** What the operator has published, by key; empty until then. */
  exports: {
    [key: string]: string | SecretRef;
  };
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  created_at: string;
  updated_at: string;
};

export type AddonInstanceListItemPage = {
  data: readonly AddonInstanceListItem[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type AddonRevision = {
  revision_id: string;
  revision_number: number;
  /** As they were set; a secret reads as a reference to the Secret that holds it. */
  values: {
    [key: string]: unknown;
  };
  /** One of the versions that the definition offers. */
  chart_version: string;
  notes: string | null;
  created_by: string | null;
  created_at: string;
};

export type AddonRevisionPage = {
  data: readonly AddonRevision[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

/** `instance`, the name of a standalone one, or `definition_id` with values. */
export type AddonSpec = {
  instance?: string | undefined;
  definition_id?: string | undefined;
  values?: {
    [key: string]: unknown;
  } | undefined;
  chart_version?: string | undefined;
};

/** `instance`, the name of a standalone one, or `definition_id` with values. */
export type AddonSpecPatch = {
  instance?: string | null | undefined;
  definition_id?: string | null | undefined;
  values?: {
    [key: string]: unknown;
  } | null | undefined;
  chart_version?: string | null | undefined;
};

/** `pod_affinity` runs it near other pods, `pod_anti_affinity` away from them. */
export type Affinity = {
  node_affinity?: {
    /** All of them hold on the node. */
    required?: readonly NodeRequirement[] | undefined;
    preferred?: readonly PreferredNodeRequirement[] | undefined;
  } | undefined;
  pod_affinity?: PodAffinity | undefined;
  pod_anti_affinity?: PodAffinity | undefined;
};

/** `pod_affinity` runs it near other pods, `pod_anti_affinity` away from them. */
export type AffinityPatch = {
  node_affinity?: {
    required?: readonly NodeRequirement[] | null | undefined;
    preferred?: readonly PreferredNodeRequirement[] | null | undefined;
  } | null | undefined;
  pod_affinity?: PodAffinityPatch | null | undefined;
  pod_anti_affinity?: PodAffinityPatch | null | undefined;
};

export type AgentCredentials = {
  cluster_id: string;
  agent_jwt: {
    token: string;
    token_version: number;
    /** 365 days from now. */
    expires_at: string;
    /** Where the operator connects. */
    hub_url: string;
  };
  /** Null where the organization has no Git host. */
  repo_credential: RepoCredential | null;
  operator: {
    /** Where the operator is installed. */
    namespace: string;
    /** The operator's chart, its version pinned. */
    chart_ref: string;
  };
};

export type App = {
  id: string;
  name: string;
  namespace: string;
  project_id: string;
  cluster_id: string;
  org_id: string;
  description: string | null;
  components: readonly AppComponent[];
  paused: boolean;
  suspended: Suspension | null;
  /** `pending` until the cluster reports on this generation. */
  phase: "pending" | "deploying" | "running" | "degraded" | "failed" | "invalid" | "paused" | "deleting";
  /** When the phase began. */
  phase_since: string;
  phase_reason: Reason | null;
  phase_message: string | null;
  /** As the cluster last reported, in the order in which they start; empty before. */
  components_status: readonly ComponentStatus[];
  /** Goes up with every operation. */
  generation: number;
  observed_generation: number | null;
  /** That of the newest deployment. */
  revision: number;
  drift: Drift;
  /**
   * What the app names and does not have yet, by its specification alone. While there is any, the app does not
   * run, and the cluster reports the phase `invalid`.
   */
  warnings: readonly AppWarning[];
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  created_at: string;
  updated_at: string;
};

export type AppComponent = {
  name: string;
  type?: "workload" | "addon" | "chart" | undefined;
  depends_on?: readonly string[] | undefined;
  workload_spec?: AppWorkloadSpec | undefined;
  addon_spec?: AddonSpec | undefined;
  chart_spec?: ChartSpec | undefined;
  /**
   * Beside `host`, `port` and `url`, which a workload with ports exports by itself. A text may hold `${host}`,
   * `${port}`, `${url}`, `${NAME_port}` and `${NAME_url}` of the port NAME, and `${secret.KEY}`, a secret of the
   * component. `|uri` behind the name escapes the value for a URL, and `$${` is the text `${`. An export with a
   * secret in it is secret: components that use it read it from a Secret.
   */
  exports?: {
    [key: string]: string;
  } | undefined;
  /** In requests `exportRefs` is another spelling; both together are refused. */
  export_refs?: readonly ComponentExportRef[] | undefined;
  /** The keys; values are never read back. */
  secrets: readonly string[];
  ready_replicas: number | null;
};

export type AppEvent = {
  /** `Normal` or `Warning`. */
  type: string;
  reason: string;
  message: string;
  /** How often it was seen. */
  count: number;
  first_seen_at: string | null;
  last_seen_at: string | null;
  object: {
    kind: string;
    name: string;
    component: string;
  };
};

export type AppEvents = {
  /** The latest first. */
  events: readonly AppEvent[];
  /** Whether there is more than the answer may hold. */
  truncated: boolean;
  /** When the operator has read them. */
  observed_at: string;
};

export type AppListItem = {
  id: string;
  name: string;
  namespace: string;
  project_id: string;
  cluster_id: string;
  org_id: string;
  description: string | null;
  components: readonly ListedComponent[];
  paused: boolean;
  suspended: Suspension | null;
  /** `pending` until the cluster reports on this generation. */
  phase: "pending" | "deploying" | "running" | "degraded" | "failed" | "invalid" | "paused" | "deleting";
  /** When the phase began. */
  phase_since: string;
  phase_reason: Reason | null;
  phase_message: string | null;
  /** As the cluster last reported, in the order in which they start; empty before. */
  components_status: readonly ComponentStatus[];
  /** Goes up with every operation. */
  generation: number;
  observed_generation: number | null;
  /** That of the newest deployment. */
  revision: number;
  drift: ListedDrift;
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  created_at: string;
  updated_at: string;
};

export type AppListItemPage = {
  data: readonly AppListItem[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type AppResources = {
  /** Each comes after its parent. */
  nodes: readonly ResourceNode[];
  /** Whether there is more than the answer may hold. */
  truncated: boolean;
  /** When the operator has read them. */
  observed_at: string;
};

export type AppSummary = {
  id: string;
  name: string;
  namespace: string;
  project_id: string;
  project_name: string;
  cluster_id: string;
  cluster_name: string;
  org_id: string;
  phase: "pending" | "deploying" | "running" | "degraded" | "failed" | "invalid" | "paused" | "deleting";
  /** When the phase began. */
  phase_since: string;
  phase_reason: Reason | null;
  phase_message: string | null;
  paused: boolean;
  /** The app itself says since when, and whether it is in effect. */
  suspended: boolean;
  drift_state: "unknown" | "in_sync" | "drifted" | "blocked_sync";
  generation: number;
  observed_generation: number | null;
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  /** Of all containers of its workloads, each once. */
  images: readonly string[];
  /** Replicas that are ready, of all components. */
  ready: number;
  /** Replicas that all components are to have. */
  desired: number;
  last_deployment: {
    id: string;
    revision: number;
    operation: "create" | "update" | "scale" | "pause" | "resume" | "redeploy" | "rollback" | "attach_addon" | "detach_addon" | "update_secrets";
    status: "pending" | "succeeded" | "failed" | "superseded";
    created_at: string;
    created_by: string | null;
  } | null;
  updated_at: string;
};

export type AppSummaryPage = {
  data: readonly AppSummary[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type AppWarning = {
  /** The `phase_reason` that it leads to. */
  code: "MissingImage" | "MissingSecret" | "UnknownComponent" | "UnknownExport";
  /** The place in the app. */
  path: readonly (string | number)[];
  message: string;
  /** The component with the problem. */
  component: string;
  missing: string | null;
};

export type AppWorkloadSpec = {
  kind?: "deployment" | "statefulset" | "daemonset" | "job" | "cronjob" | undefined;
  image?: string | undefined;
  command?: readonly string[] | undefined;
  args?: readonly string[] | undefined;
  /** 0 while the app is paused. */
  replicas?: number | undefined;
  ports?: readonly WorkloadPort[] | undefined;
  env?: readonly EnvVar[] | undefined;
  resources?: ResourceRequirements | undefined;
  probes?: {
    liveness?: Probe | undefined;
    readiness?: Probe | undefined;
    startup?: Probe | undefined;
  } | undefined;
  volumes?: readonly WorkloadVolume[] | undefined;
  ingress?: WorkloadIngress | undefined;
  autoscale?: WorkloadAutoscale | undefined;
  /** Cron, for a cronjob and nothing else. */
  schedule?: string | undefined;
  /** Read-only files in every container. Pods are replaced when one of them changes. */
  files?: readonly WorkloadFile[] | undefined;
  /**
   * Run one after the other, each to its end, before the others start. They have the variables, secrets, files
   * and volumes of the component, and their own `env` before these.
   */
  init_containers?: readonly Container[] | undefined;
  /**
   * Start before the container of the component and end after it; a job is done without them. They have the
   * variables, secrets, files and volumes of the component, and their own `env` before these.
   */
  sidecars?: readonly Container[] | undefined;
  /** Further labels of the workload and its pods. */
  labels?: {
    [key: string]: string;
  } | undefined;
  /** Annotations of the workload and its pods. */
  annotations?: {
    [key: string]: string;
  } | undefined;
  /** Labels that a node has to have. */
  node_selector?: {
    [key: string]: string;
  } | undefined;
  /** Taints of nodes on which it may run nevertheless, each by its key. */
  tolerations?: readonly Toleration[] | undefined;
  affinity?: Affinity | undefined;
  /** Spreads the pods of the component over zones, nodes or the like. */
  topology_spread?: readonly TopologySpread[] | undefined;
  security_context?: SecurityContext | undefined;
  /** How long a pod has between the signal to end and its end by force; 30 where nothing is said. */
  termination_grace_seconds?: number | undefined;
};

export type AttentionItem = {
  kind: "app" | "cluster" | "project" | "addon_instance" | "provisioning_job" | "cli_token";
  id: string;
  /** That of its cluster for a provisioning job. */
  name: string;
  namespace: string | null;
  project_id: string | null;
  cluster_id: string | null;
  severity: "failed" | "warning";
  /**
   * `held_up`: a rollout whose pods cannot start or get ready, for 30 seconds or more. `rollout_failed`: the
   * newest change of an app has failed, and an earlier version may be running.
   */
  reason: "failed" | "rollout_failed" | "held_up" | "invalid" | "degraded" | "blocked_sync" | "drifted" | "disconnected" | "install_failed" | "error" | "cleanup_degraded" | "namespace_conflict" | "provisioning_failed" | "expires_soon";
  cause: string | null;
  action: "roll_back" | "edit" | "retry" | "see_pods" | null;
  /**
   * How many more objects of the kind have the same reason, cause and action, on the same cluster where they are
   * on one; of images, charts and settings the same one is at fault.
   */
  others: number;
  others_named: readonly {
    id: string;
    name: string;
    namespace: string | null;
    project_id: string | null;
  }[];
  message: string | null;
  since: string | null;
};

export type AuditEntry = {
  id: string;
  at: string;
  actor: {
    id: string | null;
    email: string | null;
  };
  via: "user" | "cli_token" | "system";
  source_address: string | null;
  action: string;
  resource: {
    type: string;
    id: string | null;
    name: string | null;
  };
  /**
   * By field: `before` and `after` of what had another value; `added`, `changed` or `removed` of a secret and of
   * what is not shown; the plain value of what else there is to tell. Fields of a component begin with its name.
   * Values are cut after 200 characters; of more than 50 fields, or of very long ones, `more_changes` counts the
   * rest.
   */
  changes: {
    [key: string]: unknown;
  };
  summary: string | null;
  request_id: string | null;
};

export type AuditEntryExport = {
  data: readonly AuditEntry[];
  total_count: number;
  /** Whether there are more than `total_count`: what filters leave is counted up to 10000. */
  total_capped: boolean;
  next_cursor: ExportEnd;
};

export type AuditEntryPage = {
  data: readonly AuditEntry[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
  /** Whether there are more than `total_count`: what filters leave is counted up to 10000. */
  total_capped: boolean;
};

export type AvailableExport = {
  addon_instance_id: string;
  addon_instance_name: string;
  key: string;
  description: string | null;
  /** Whether reads show that it is there and not what it is. */
  secret: boolean;
  /** Whether the cluster has reported a value for it. */
  published: boolean;
};

export type AvailableExportList = {
  data: readonly AvailableExport[];
  total_count: number;
  next_cursor: Continuation;
};

export type BundleDiff = {
  from: string;
  to: string;
  core: readonly PinChange[];
  profiles: {
    added: readonly string[];
    removed: readonly string[];
    changed: readonly {
      profile: string;
      components: readonly PinChange[];
    }[];
  };
  os: {
    added: readonly string[];
    removed: readonly string[];
  };
  ha_tiers: {
    added: readonly ("single-server" | "ha")[];
    removed: readonly ("single-server" | "ha")[];
  };
  /** Of `limits`, `upgrade` and `backup`, as dotted paths. */
  settings: readonly SettingChange[];
};

export type BundleManifest = {
  bundle: string;
  core: {
    [key: string]: string;
  };
  os: {
    supported: readonly string[];
  };
  ha_tiers: readonly ("single-server" | "ha")[];
  limits: {
    [key: string]: SettingOrGroup;
  };
  upgrade: {
    [key: string]: SettingOrGroup;
  };
  backup: {
    [key: string]: SettingOrGroup;
  };
  profiles: {
    [key: string]: {
      components: {
        [key: string]: string;
      };
    };
  };
};

/** All null until an install has recorded them. */
export type BundleRecord = {
  bundle_version: string | null;
  profiles: readonly string[] | null;
  ha_tier: "single-server" | "ha" | null;
  /** Who owns the volume groups on the nodes, in the installer's own words. */
  volume_group_ownership: string | {
    [key: string]: unknown;
  } | null;
  install_journal: readonly JournalEntry[] | null;
};

export type BundleSummary = {
  version: string;
  ha_tiers: readonly ("single-server" | "ha")[];
  profiles: readonly string[];
};

export type BundleSummaryList = {
  data: readonly BundleSummary[];
  total_count: number;
};

export type CatalogTemplate = {
  name: string;
  namespace: string;
  version: string;
  scope: "project" | "cluster" | "organization" | "global";
  description: string;
  icon: string;
  tags: readonly string[];
  parameters: readonly TemplateParameter[];
  components: readonly TemplateComponent[];
};

export type CatalogTemplatePage = {
  data: readonly CatalogTemplate[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type ChartInspection = {
  chart_metadata: {
    name: string;
    version: string;
    description: string | null;
    app_version: string | null;
    /** Newest first. */
    versions: readonly string[];
  };
  /** Whether the chart brings a schema; else `schema` is inferred from its values. */
  has_schema: boolean;
  schema: {
    [key: string]: unknown;
  };
  /**
   * Paths of what the chart's own schema calls secret, by `x-secret: true` or `format: password`: those that
   * `chart_spec.secret_values` of a component should list.
   */
  secret_values: readonly string[];
  defaults: {
    [key: string]: unknown;
  };
  readme: string | null;
};

/** Credentials of a private chart repository, without the password. */
export type ChartRepository = {
  id: string;
  org_id: string;
  name: string;
  /**
   * A Helm repository or an OCI registry, or a path of it. The credentials are presented at this host alone, for
   * charts at this address and below; of several addresses the longest counts. `http://` is for hosts on the
   * allow-list.
   */
  url: string;
  username: string;
  created_at: string;
  updated_at: string;
};

export type ChartRepositoryInput = {
  name: string;
  /**
   * A Helm repository or an OCI registry, or a path of it. The credentials are presented at this host alone, for
   * charts at this address and below; of several addresses the longest counts. `http://` is for hosts on the
   * allow-list.
   */
  url: string;
  username: string;
  /** Written and never read back. */
  password: string;
};

export type ChartRepositoryList = {
  data: readonly ChartRepository[];
  total_count: number;
};

export type ChartSpec = {
  /**
   * A Helm repository, or the OCI path that the chart's name is appended to. `http://` is for hosts on the
   * allow-list.
   */
  repo: string;
  name: string;
  version?: string | undefined;
  /**
   * How long each hook of the chart may take, such as a migration of a database; 300 where it is left out. Beyond
   * it the change has failed.
   */
  hook_timeout_seconds?: number | undefined;
  values?: {
    [key: string]: unknown;
  } | undefined;
  /**
   * Dotted paths of values that are secret. A text that is given there is kept sealed, as the secret of the
   * component that has the path as its key, and reads as a reference to the Secret that holds it.
   */
  secret_values?: readonly string[] | undefined;
  /**
   * Dotted paths of values that look like secrets and are not, or of maps and lists of such values. A text is
   * sealed as `secret_values` are if its name or one above it is that of a password, a token, a secret, a key or
   * the like, or if it holds a key, a token or an address with a password. In lists, where it cannot be sealed,
   * it is refused.
   */
  plain_values?: readonly string[] | undefined;
  /**
   * The paths that were sealed because they look like secrets. The server keeps the list; one that is sent is
   * ignored.
   */
  sealed_values?: readonly string[] | undefined;
};

export type ChartSpecPatch = {
  repo?: string | null | undefined;
  name?: string | null | undefined;
  version?: string | null | undefined;
  hook_timeout_seconds?: number | null | undefined;
  values?: {
    [key: string]: unknown;
  } | null | undefined;
  secret_values?: readonly string[] | null | undefined;
  plain_values?: readonly string[] | null | undefined;
  sealed_values?: readonly string[] | null | undefined;
};

export type CliToken = {
  id: string;
  name: string;
  scopes: readonly ("bundles:read" | "clusters:read" | "clusters:register" | "install:report" | "read" | "write")[];
  org_id: string | null;
  project_id: string | null;
  expires_at: string;
  /** Whether it expires within 7 days. */
  expires_soon: boolean;
  last_used_at: string | null;
  last_used_address: string | null;
  created_at: string;
  updated_at: string;
};

export type CliTokenPage = {
  data: readonly CliToken[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

/** A provider that clusters can be made at, the fields of its credentials, and its kinds of machines. */
export type CloudProvider = {
  provider: "aws" | "gcp" | "azure" | "do" | "metal" | "ssh";
  name: string;
  /** What a credential of the provider has. Its clusters have a region if `region` is one. */
  fields: readonly {
    /** In the body of a credential. */
    name: string;
    label: string;
    /** Written and never read back. */
    secret: boolean;
    /** Read back as its last four characters. */
    masked: boolean;
    /** A text of several lines, such as a document. */
    multiline: boolean;
    /** A credential can do without it. */
    optional: boolean;
    hint: string | null;
    example: string;
  }[];
  /** Kinds of machines that suit most clusters, the smallest first. Others can be asked for too. */
  instance_types: readonly string[];
  /** Of a cluster that asks for none. */
  default_instance_type: string;
};

export type CloudProviderList = {
  data: readonly CloudProvider[];
  total_count: number;
};

export type Cluster = {
  id: string;
  org_id: string;
  name: string;
  description: string | null;
  status: "pending" | "provisioning" | "awaiting_operator" | "connected" | "disconnected" | "installing" | "install_failed" | "abandoned" | "detaching" | "destroying" | "error";
  /**
   * The stage of an install or upgrade that was reported to have started and not yet to have ended; null between
   * stages and otherwise.
   */
  current_stage: CurrentStage | null;
  message: string | null;
  provider: "aws" | "gcp" | "azure" | "do" | "metal" | "ssh" | null;
  credential_id: string | null;
  region: string | null;
  instance_type: string | null;
  agent_count: number | null;
  disk_size_gb: number | null;
  egress: Egress | null;
  node_count: number | null;
  operator_version: string | null;
  operator_skew: "supported" | "outdated" | "unsupported" | null;
  /** Whether the operator said at its last connection that it can be upgraded from here. */
  operator_self_upgrade: boolean;
  /** The newest upgrade of the operator that was started here; null where there was none. */
  operator_upgrade: ClusterOperatorUpgrade | null;
  /** Nothing on it is touched by the operator. */
  suspended: Suspension | null;
  kubernetes_version: string | null;
  last_heartbeat: string | null;
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  metrics: ClusterCapacity | null;
  created_at: string;
  updated_at: string;
};

export type ClusterCapacity = {
  cpu_cores: number | null;
  memory_bytes: number | null;
  pods: number | null;
};

export type ClusterGitops = {
  cluster_id: string;
  /**
   * `off`: not set up. `waiting`: nothing has been written yet. `in_sync`: the head has all changes. `pending`:
   * changes wait to be written. `failing`: the last try failed, and is repeated. `ahead`: somebody else has
   * pushed; nothing is written until the head is ours again. `unknown`: the head was not seen for three hours.
   */
  state: "off" | "waiting" | "in_sync" | "pending" | "failing" | "ahead" | "unknown";
  url: string | null;
  branch: string | null;
  head: GitopsHead | null;
  /** The commit of somebody else that was found; null unless `ahead`. */
  foreign_head: string | null;
  /** When the head at the host was last seen, which is looked at once an hour; null before the first time. */
  observed_at: string | null;
  pending: GitopsPending;
  error: GitopsError | null;
  next_try_at: string | null;
  signing_key: string | null;
  /** The keys of agents, newest first. */
  keys: readonly GitopsKey[];
};

export type ClusterOperatorUpgrade = {
  upgrade_id: string;
  /**
   * `returned`: the new image did not become ready in time, and the former one runs again. `failed`: it is not
   * known to run. `skipped`: it could not be upgraded from here. `cancelled`: it was not begun.
   */
  phase: "pending" | "running" | "succeeded" | "returned" | "failed" | "skipped" | "cancelled";
  from_version: string | null;
  to_version: string;
  reason: string | null;
  started_at: string | null;
  finished_at: string | null;
};

export type ClusterPage = {
  data: readonly Cluster[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type ClusterSettings = {
  cluster_id: string;
  /** A level of the Pod Security Standards. The API server refuses pods that violate it. */
  pod_security: "privileged" | "baseline" | "restricted";
  /** Namespaces whose pods reach those of isolated projects: ingress controllers, and whatever scrapes metrics. */
  ingress_namespaces: readonly string[];
  /** Charts that are installed with rights on the whole cluster instead of their project's alone. */
  cluster_wide_charts: readonly ClusterWideChart[];
  /** Whether editors of projects may open a shell in containers. Switching it off ends open sessions. */
  exec_enabled: boolean;
};

export type ClusterWideChart = {
  /** A Helm repository, or the OCI path that the chart's name is appended to. */
  repo: string;
  name: string;
};

/** Why not: a code for programs, a sentence for people, and what it is about. */
export type CodedConflict = {
  detail: {
    code: "blocked_sync" | "export_ref_in_use" | "app_paused" | "app_not_paused" | "app_deleting" | "app_suspended" | "project_suspended" | "cluster_suspended" | "ambiguous_template" | "name_taken" | "host_taken" | "email_unverified" | "recreate_required" | "stateful_downgrade" | "exec_disabled" | "not_running";
    message: string;
    [key: string]: unknown;
  };
};

export type ComponentAddition = {
  op: "add";
  name: string;
  type?: "workload" | "addon" | "chart" | undefined;
  depends_on?: readonly string[] | undefined;
  workload_spec?: WorkloadSpec | undefined;
  addon_spec?: AddonSpec | undefined;
  chart_spec?: ChartSpec | undefined;
  /**
   * Beside `host`, `port` and `url`, which a workload with ports exports by itself. A text may hold `${host}`,
   * `${port}`, `${url}`, `${NAME_port}` and `${NAME_url}` of the port NAME, and `${secret.KEY}`, a secret of the
   * component. `|uri` behind the name escapes the value for a URL, and `$${` is the text `${`. An export with a
   * secret in it is secret: components that use it read it from a Secret.
   */
  exports?: {
    [key: string]: string;
  } | undefined;
  /** In requests `exportRefs` is another spelling; both together are refused. */
  export_refs?: readonly ComponentExportRef[] | undefined;
  secrets?: {
    [key: string]: string;
  } | undefined;
};

/** `add` holds a whole component, `remove` only its name, `patch` a merge patch (RFC 7396) of the named one. */
export type ComponentChange = ComponentAddition | ComponentRemoval | ComponentPatch;

export type ComponentExportRef = {
  component: string;
  key?: string | undefined;
  env?: string | undefined;
};

/** `secrets` are written and never read back; reads give their keys. */
export type ComponentInput = {
  name: string;
  type?: "workload" | "addon" | "chart" | undefined;
  depends_on?: readonly string[] | undefined;
  workload_spec?: WorkloadSpec | undefined;
  addon_spec?: AddonSpec | undefined;
  chart_spec?: ChartSpec | undefined;
  /**
   * Beside `host`, `port` and `url`, which a workload with ports exports by itself. A text may hold `${host}`,
   * `${port}`, `${url}`, `${NAME_port}` and `${NAME_url}` of the port NAME, and `${secret.KEY}`, a secret of the
   * component. `|uri` behind the name escapes the value for a URL, and `$${` is the text `${`. An export with a
   * secret in it is secret: components that use it read it from a Secret.
   */
  exports?: {
    [key: string]: string;
  } | undefined;
  /** In requests `exportRefs` is another spelling; both together are refused. */
  export_refs?: readonly ComponentExportRef[] | undefined;
  secrets?: {
    [key: string]: string;
  } | undefined;
};

export type ComponentPatch = {
  op: "patch";
  name: string;
  type?: "workload" | "addon" | "chart" | null | undefined;
  depends_on?: readonly string[] | null | undefined;
  workload_spec?: WorkloadSpecPatch | null | undefined;
  addon_spec?: AddonSpecPatch | null | undefined;
  chart_spec?: ChartSpecPatch | null | undefined;
  exports?: {
    [key: string]: string | null;
  } | null | undefined;
  export_refs?: readonly ComponentExportRef[] | null | undefined;
  secrets?: {
    [key: string]: string | null;
  } | null | undefined;
  /**
   * Confirms that the kind of a component with volumes changes, although the data in them is lost; without it
   * that is a 409 `recreate_required`. It is not stored.
   */
  recreate?: boolean | undefined;
  /**
   * Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it that
   * is a 409 `stateful_downgrade`. It is not stored.
   */
  allow_downgrade?: boolean | undefined;
};

export type ComponentRemoval = {
  op: "remove";
  name: string;
};

export type ComponentRun = {
  id: string;
  component: string;
  status: "pending" | "running" | "succeeded" | "failed";
  exit_code: number | null;
  message: string | null;
  created_at: string | null;
  started_at: string | null;
  finished_at: string | null;
};

/** Never its value. */
export type ComponentSecret = {
  key: string;
  updated_at: string;
  chart_value: "secret_values" | "sealed_values" | null;
};

export type ComponentSecretList = {
  data: readonly ComponentSecret[];
  total_count: number;
};

export type ComponentStatus = {
  name: string;
  /** `waiting` for another component, `completed` where a Job is done; the others as of an app. */
  phase: "waiting" | "deploying" | "running" | "completed" | "degraded" | "failed" | "paused" | "unknown";
  reason: Reason | null;
  message: string | null;
  /** Replicas that it is to have. */
  desired: number;
  /** Replicas that are ready. */
  ready: number;
  /** Replicas of the present version. */
  updated: number;
  /** Restarts of the containers of all its pods. */
  restarts: number;
  image: string | null;
  /** At most 50, those in trouble first. Left out in lists. */
  pods?: readonly PodStatus[] | undefined;
};

export type Container = {
  name: string;
  image: string;
  command?: readonly string[] | undefined;
  args?: readonly string[] | undefined;
  env?: readonly EnvVar[] | undefined;
  resources?: ResourceRequirements | undefined;
};

export type Continuation = string | null;

export type CreatedCluster = {
  id: string;
  org_id: string;
  name: string;
  description: string | null;
  status: "pending" | "provisioning" | "awaiting_operator" | "connected" | "disconnected" | "installing" | "install_failed" | "abandoned" | "detaching" | "destroying" | "error";
  /**
   * The stage of an install or upgrade that was reported to have started and not yet to have ended; null between
   * stages and otherwise.
   */
  current_stage: CurrentStage | null;
  message: string | null;
  provider: "aws" | "gcp" | "azure" | "do" | "metal" | "ssh" | null;
  credential_id: string | null;
  region: string | null;
  instance_type: string | null;
  agent_count: number | null;
  disk_size_gb: number | null;
  egress: Egress | null;
  node_count: number | null;
  operator_version: string | null;
  operator_skew: "supported" | "outdated" | "unsupported" | null;
  /** Whether the operator said at its last connection that it can be upgraded from here. */
  operator_self_upgrade: boolean;
  /** The newest upgrade of the operator that was started here; null where there was none. */
  operator_upgrade: ClusterOperatorUpgrade | null;
  /** Nothing on it is touched by the operator. */
  suspended: Suspension | null;
  kubernetes_version: string | null;
  last_heartbeat: string | null;
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  metrics: ClusterCapacity | null;
  created_at: string;
  updated_at: string;
  connection_token: string | null;
  install_command: string | null;
  provisioning_job_id: string | null;
};

/** A cloud credential without its secret material. */
export type Credential = {
  id: string;
  org_id: string;
  name: string;
  provider: "aws" | "gcp" | "azure" | "do" | "metal" | "ssh";
  region: string | null;
  access_key_id: string | null;
  role_arn: string | null;
  snapshot_bucket: string | null;
  permissions_boundary: string | null;
  created_at: string;
  updated_at: string;
};

export type CredentialCheck = {
  /** Whether a cluster can be made with it: known, permitted and within its quotas. */
  ok: boolean;
  checked_at: string;
  identity: string | null;
  error: {
    code: "bad_credentials" | "permission_denied" | "quota_exceeded" | "not_offered" | "no_capacity" | "throttled" | "unreachable" | "timed_out" | "cancelled" | "leftovers" | "unsupported" | "init_failed" | "bootstrap_failed" | "control_plane_protected" | "local_volumes" | "plan_changed" | "no_snapshot" | "failed";
    message: string;
  } | null;
  permissions: readonly {
    action: string;
    allowed: boolean | null;
  }[];
  quotas: readonly {
    name: string;
    limit: number;
    used: number;
    /** Whether something is left of it. */
    ok: boolean;
  }[];
};

export type CredentialPage = {
  data: readonly Credential[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type CurrentStage = {
  stage: "preflight" | "register" | "k3s-server" | "k3s-agents" | "platform-networking" | "platform-certs" | "platform-storage" | "platform-backup" | "platform-day2" | "agent" | "profiles" | "record" | "verify" | "backup" | "platform-components" | "kubernetes";
  component: string | null;
  started_at: string;
};

export type DeletedObject = {
  component: string | null;
  kind: string;
  name: string;
  namespace: string | null;
};

export type DeletionPreview = {
  target: {
    type: "app" | "component" | "addon_attachment" | "addon_instance" | "project";
    id: string | null;
    name: string;
  };
  /** That go with a project. */
  apps: readonly {
    id: string;
    name: string;
  }[];
  /** That go. */
  addon_instances: readonly {
    id: string;
    name: string;
  }[];
  /** That go, or lose the exports of an addon that is detached. */
  components: readonly string[];
  /** In the cluster, that go. Those of a whole project are its namespace with everything in it. */
  objects: readonly DeletedObject[];
  volumes: readonly VolumeOutlook[];
  /**
   * Whether the cluster has answered. If not, `objects` is empty, and `volumes` has those that components of the
   * type workload declare, with an unknown fate; there may be more.
   */
  volumes_known: boolean;
  message: string | null;
  /** Whether there is more than the answer may hold. */
  truncated: boolean;
  observed_at: string | null;
};

export type DeployedComponent = {
  name: string;
  type?: "workload" | "addon" | "chart" | undefined;
  depends_on?: readonly string[] | undefined;
  workload_spec?: AppWorkloadSpec | undefined;
  addon_spec?: AddonSpec | undefined;
  chart_spec?: ChartSpec | undefined;
  /**
   * Beside `host`, `port` and `url`, which a workload with ports exports by itself. A text may hold `${host}`,
   * `${port}`, `${url}`, `${NAME_port}` and `${NAME_url}` of the port NAME, and `${secret.KEY}`, a secret of the
   * component. `|uri` behind the name escapes the value for a URL, and `$${` is the text `${`. An export with a
   * secret in it is secret: components that use it read it from a Secret.
   */
  exports?: {
    [key: string]: string;
  } | undefined;
  /** In requests `exportRefs` is another spelling; both together are refused. */
  export_refs?: readonly ComponentExportRef[] | undefined;
};

export type Deployment = {
  deployment_id: string;
  /** From 1, without gaps. */
  revision: number;
  operation: "create" | "update" | "scale" | "pause" | "resume" | "redeploy" | "rollback" | "attach_addon" | "detach_addon" | "update_secrets";
  status: "pending" | "succeeded" | "failed" | "superseded";
  message: string | null;
  summary: string | null;
  changes: readonly FieldChange[] | null;
  created_by: string | null;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
  /** In the Git repository of the cluster; null where it has not been written there. */
  commit: DeploymentCommit | null;
  spec: {
    /** Without secrets, which are not part of a revision. */
    components: readonly DeployedComponent[];
    paused: boolean;
  };
};

/** A secret has neither `before` nor `after`. */
export type DeploymentChange = {
  /**
   * A JSON pointer into the specification. Components, variables and whatever else has a name are addressed by
   * it.
   */
  path: string;
  change: "added" | "removed" | "changed";
  before?: unknown;
  after?: unknown;
};

export type DeploymentCommit = {
  /** The id of a commit. */
  id: string;
  url: string | null;
};

export type DeploymentDiff = {
  deployment_id: string;
  revision: number;
  against: {
    deployment_id: string;
    revision: number;
  };
  changes: readonly DeploymentChange[];
};

export type DeploymentListItem = {
  deployment_id: string;
  /** From 1, without gaps. */
  revision: number;
  operation: "create" | "update" | "scale" | "pause" | "resume" | "redeploy" | "rollback" | "attach_addon" | "detach_addon" | "update_secrets";
  status: "pending" | "succeeded" | "failed" | "superseded";
  message: string | null;
  summary: string | null;
  changes: readonly FieldChange[] | null;
  created_by: string | null;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
  /** In the Git repository of the cluster; null where it has not been written there. */
  commit: DeploymentCommit | null;
};

export type DeploymentListItemPage = {
  data: readonly DeploymentListItem[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type DetachingCluster = {
  cluster_id: string;
  name: string;
  /** Of the projects on it. On the cluster they stay, with all that runs in them. */
  namespaces: readonly string[];
  /** How many apps are on it. */
  apps: number;
  /** How many addon instances are on it. */
  addon_instances: number;
};

export type DeviceLogin = {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds to wait between two questions. */
  interval: number;
};

export type DeviceRefusal = {
  error: "authorization_pending" | "slow_down" | "access_denied" | "expired_token";
};

export type DeviceToken = {
  token: string;
};

export type Drift = {
  state: "unknown" | "in_sync" | "drifted" | "blocked_sync";
  summary: string | null;
  detected_at: string | null;
  fields: readonly {
    [key: string]: unknown;
  }[];
  /** What was changed on the cluster and set back, the newest first. */
  repaired: readonly DriftRepair[];
};

export type DriftRepair = {
  object: {
    kind: string;
    name: string;
  };
  pointer: string;
  manager?: string | undefined;
  detected_at: string;
  repaired_at: string;
  /** How often it was set back; the times are those of the last one. */
  times: number;
};

export type EffectiveRegistrySecret = {
  id: string;
  name: string;
  /** The registry: a host, with a port, a path or a scheme where it needs one. */
  server_url: string;
  username: string;
  cluster_id: string | null;
  project_id: string | null;
  created_at: string;
  updated_at: string;
  inherited_from: "cluster" | "project";
};

export type EffectiveRegistrySecretList = {
  data: readonly EffectiveRegistrySecret[];
  total_count: number;
};

/**
 * How the machines reach what is outside of their network: by a proxy, by mirrors, or both. It cannot be changed
 * afterwards, and machines that are added or replaced have the same.
 */
export type Egress = {
  /**
   * The HTTP proxy of the boot script, of k3s and its containerd, of the jobs that install charts, of what calls
   * the cloud, and of the operator on its way to the hub. It takes no user name and no password, which everything
   * on a machine could read.
   */
  proxy?: string | undefined;
  /**
   * Hosts, domains and ranges that are reached without the proxy. What the cluster needs is always among them:
   * its network, pods and services, the metadata service, `.svc`, `.cluster.local` and `localhost`.
   */
  no_proxy?: readonly string[] | undefined;
  /** From where containerd pulls images, without credentials. */
  registry_mirrors?: readonly RegistryMirror[] | undefined;
  /**
   * Authorities that machines trust beside those of their system, for mirrors and downloads. The address of
   * Binnacle needs a certificate that they trust without.
   */
  ca_certificates?: string | undefined;
  /**
   * Where machines download releases of k3s, with the paths that GitHub has: `<release>/k3s`. Checksums are those
   * that Binnacle has.
   */
  k3s_url?: string | undefined;
  /**
   * Machines load the images of k3s from the archive beside it, `k3s-airgap-images-amd64.tar.zst` or `-arm64`,
   * with this checksum. It is of the release that the cluster is made with; after an upgrade of Kubernetes the
   * images are pulled.
   */
  k3s_images_sha256?: {
    x86_64?: string | undefined;
    aarch64?: string | undefined;
  } | undefined;
  /**
   * A Helm repository with the charts `aws-cloud-controller-manager` and `aws-ebs-csi-driver`, in place of those
   * of their projects.
   */
  chart_repository?: string | undefined;
};

/** Exactly one of `value` and `export_ref`. In requests `exportRef` is another spelling of it. */
export type EnvVar = {
  name: string;
  value?: string | undefined;
  export_ref?: ExportRef | undefined;
};

/**
 * What else an event says stands beside these fields, by its type: `install_stage_update` has those of the
 * journal entry, `activity` those of the audit entry, `app` the phase, and `operation` and `summary` where an
 * operation was made. `access` says that your own roles have changed: read again what you show. `reset` is the
 * first event of a resumed stream that cannot be given what it has missed: read again what you show.
 */
export type Event = {
  id: string;
  /** The same as the frame's name. */
  type: "install_stage_update" | "cluster-status" | "project" | "app" | "addon" | "drift" | "build" | "activity" | "access" | "reset";
  time: string;
  org_id: string | null;
  cluster_id?: string | undefined;
  project_id?: string | undefined;
  workload_id?: string | undefined;
  /** The user whose account it is about; that user receives it too. */
  user_id?: string | undefined;
  resource: {
    type: string;
    id: string | null;
    name: string | null;
    namespace?: string | undefined;
  };
  [key: string]: unknown;
};

export type ExportEnd = string | null;

export type ExportRef = {
  component: string;
  key: string;
};

/** What went wrong, as a sentence. */
export type Failure = {
  detail: string;
};

/**
 * Values are cut after 200 characters. Secrets, contents of files, lists and whatever looks like a secret are not
 * shown.
 */
export type FieldChange = {
  component: string | null;
  /** In dotted form. Variables, ports, files and whatever else has a name are addressed by it. */
  field: string;
  change: "added" | "removed" | "changed";
  before: string | number | boolean | null;
  after: string | number | boolean | null;
};

export type FleetCluster = {
  id: string;
  name: string;
  status: "pending" | "provisioning" | "awaiting_operator" | "connected" | "disconnected" | "installing" | "install_failed" | "abandoned" | "detaching" | "destroying" | "error";
  stale: boolean;
  /** The apps on it that you can see. */
  apps: number;
  /** Those of them that are `failed`, `invalid` or `degraded`. */
  failing: number;
  /** Those of them whose rollout is held up. */
  held_up: number;
};

export type FleetClusterList = {
  data: readonly FleetCluster[];
  total_count: number;
  next_cursor: Continuation;
};

export type GitHostKey = {
  type: string;
  /** A line of `known_hosts` without the name. */
  key: string;
  fingerprint: string;
};

/** Where the desired state of the clusters is kept in Git. The token is not shown. */
export type Gitops = {
  /** What kind of host it is. */
  provider: "gitea" | "github" | "gitlab" | "gitolite";
  /** Where the host is: the address of its pages, and `ssh://git@host:port` for gitolite. */
  base_url: string;
  /** The organization, group or user at the host in which the repositories are made; a folder for gitolite. */
  owner: string;
  ssh_url: string | null;
  /** The branch that is written in every repository. */
  branch: string;
  author_email_domain: string | null;
  /** How long a superseded key of a cluster goes on working at the host. */
  key_grace_hours: number;
  /** The keys that the host has to show. They were pinned when it was set. */
  host_keys: readonly GitHostKey[];
  /** The public key of which every commit has a signature, as OpenSSH writes it. */
  signing_key: string;
};

export type GitopsError = {
  code: "unreachable" | "denied" | "host_key_changed" | "address_refused" | "missing_repository" | "refused" | "too_large" | "unreadable" | "git_missing" | "unexpected_answer" | "not_set_up";
  message: string;
  at: string;
};

export type GitopsHead = {
  /** The id of a commit. */
  id: string;
  /** The revision of the cluster's desired state. */
  revision: number;
  /** When it was written. */
  at: string;
  url: string | null;
};

export type GitopsInput = {
  /** What kind of host it is. */
  provider: "gitea" | "github" | "gitlab" | "gitolite";
  /** Where the host is: the address of its pages, and `ssh://git@host:port` for gitolite. */
  base_url: string;
  /** The organization, group or user at the host in which the repositories are made; a folder for gitolite. */
  owner: string;
  ssh_url?: string | null | undefined;
  /**
   * Makes repositories and keys; for gitolite the private key of its administrator, and else one line. Written
   * and never read back. Left out, the stored one stays, unless the provider, the address or the owner changes.
   */
  token?: string | undefined;
  /** The branch that is written in every repository; `main` where it is left out. */
  branch?: string | undefined;
  author_email_domain?: string | null | undefined;
  /**
   * The keys that the host has to show. Left out, those that were pinned stay, and at the first time those that
   * it shows are pinned; compare them with what the host's operator publishes.
   */
  host_keys?: readonly string[] | undefined;
  /** How long a superseded key of a cluster goes on working at the host; 24 where it is left out. */
  key_grace_hours?: number | undefined;
};

export type GitopsKey = {
  id: string;
  fingerprint: string;
  /**
   * `unproven`: nothing has been pushed with it yet, so it supersedes no other. `superseded`: it is removed at
   * `removed_at`.
   */
  state: "unproven" | "current" | "superseded";
  created_at: string;
  proven_at: string | null;
  removed_at: string | null;
};

export type GitopsPending = {
  changes: number;
  since: string | null;
};

export type GitopsProblem = {
  code: "unreachable" | "denied" | "host_key_changed" | "address_refused" | "missing_repository" | "refused" | "too_large" | "unreadable" | "git_missing" | "unexpected_answer" | "not_set_up";
  /** What is missing, and what to do. */
  message: string;
};

export type GitopsTest = {
  /** Whether repositories and keys can be made. */
  ok: boolean;
  tested_at: string;
  problems: readonly GitopsProblem[];
  /** The keys that the host shows now; nothing is pinned by a test. */
  host_keys: readonly GitHostKey[];
};

export type InstallEvent = {
  stage: "preflight" | "register" | "k3s-server" | "k3s-agents" | "platform-networking" | "platform-certs" | "platform-storage" | "platform-backup" | "platform-day2" | "agent" | "profiles" | "record" | "verify" | "backup" | "platform-components" | "kubernetes";
  status: "started" | "completed" | "failed";
  component?: string | null | undefined;
  detail?: string | null | undefined;
  reason_code?: string | null | undefined;
  /** When it happened, not in the future; without it, when the server learns of it. */
  at?: string | undefined;
};

export type InstallInstructions = {
  status: "pending" | "provisioning" | "awaiting_operator" | "connected" | "disconnected" | "installing" | "install_failed" | "abandoned" | "detaching" | "destroying" | "error";
  /** There is none yet for an existing cluster. */
  cli_command: null;
  /** Where the operator connects. */
  hub_url: string;
  /** Where the operator is installed. */
  namespace: string;
  /** The operator's chart, its version pinned. */
  chart_ref: string;
  /** The image that each node pulls, which may run the operator. */
  operator_image: string;
  docs_url: string;
  /**
   * Upgrades the operator's release with the values that it has, for operators that cannot be upgraded from here.
   * Helm 3.14 or newer.
   */
  upgrade_command: string;
};

export type JournalEntry = {
  stage: "preflight" | "register" | "k3s-server" | "k3s-agents" | "platform-networking" | "platform-certs" | "platform-storage" | "platform-backup" | "platform-day2" | "agent" | "profiles" | "record" | "verify" | "backup" | "platform-components" | "kubernetes";
  status: "started" | "completed" | "failed";
  component: string | null;
  detail: string | null;
  reason_code: string | null;
  at: string;
};

/** Of files the size and the digest; the app itself has everything. */
export type ListedComponent = {
  name: string;
  type?: "workload" | "addon" | "chart" | undefined;
  depends_on?: readonly string[] | undefined;
  /** In requests `exportRefs` is another spelling; both together are refused. */
  export_refs?: readonly ComponentExportRef[] | undefined;
  workload_spec?: {
    /** 0 while the app is paused. */
    replicas?: number | undefined;
    kind?: "deployment" | "statefulset" | "daemonset" | "job" | "cronjob" | undefined;
    image?: string | undefined;
    ports?: readonly WorkloadPort[] | undefined;
    resources?: ResourceRequirements | undefined;
    volumes?: readonly WorkloadVolume[] | undefined;
    ingress?: WorkloadIngress | undefined;
    autoscale?: WorkloadAutoscale | undefined;
    /** Cron, for a cronjob and nothing else. */
    schedule?: string | undefined;
    /** Only the variables that take an export. */
    env?: readonly {
      name: string;
      export_ref: ExportRef;
    }[] | undefined;
    files?: readonly ListedFile[] | undefined;
    init_containers?: readonly {
      name: string;
      image: string;
    }[] | undefined;
    sidecars?: readonly {
      name: string;
      image: string;
    }[] | undefined;
  } | undefined;
  addon_spec?: {
    instance?: string | undefined;
    definition_id?: string | undefined;
    chart_version?: string | undefined;
  } | undefined;
  chart_spec?: {
    /**
     * A Helm repository, or the OCI path that the chart's name is appended to. `http://` is for hosts on the
     * allow-list.
     */
    repo: string;
    name: string;
    version?: string | undefined;
  } | undefined;
  ready_replicas: number | null;
};

export type ListedDrift = {
  state: "unknown" | "in_sync" | "drifted" | "blocked_sync";
  summary: string | null;
  detected_at: string | null;
};

export type ListedFile = {
  path: string;
  /** Of its content in UTF-8. */
  size_bytes?: number | undefined;
  /** `sha256:` and the hexadecimal SHA-256 of its content. */
  digest?: string | undefined;
  /** The key of the secret that it holds instead. */
  secret?: string | undefined;
};

export type LoggedOut = {
  message: string;
};

export type MatrixMember = {
  user_id: string;
  name: string;
  email: string;
  role: "member" | "admin";
  clusters: readonly {
    id: string;
    name: string;
    role: "viewer" | "editor" | "admin";
  }[];
  projects: readonly {
    id: string;
    name: string;
    cluster_id: string;
    role: "viewer" | "editor" | "admin";
  }[];
  /** How many more roles the member has. The first 500 on clusters are named, and as many on projects. */
  more_roles: number;
};

export type MatrixMemberList = {
  data: readonly MatrixMember[];
  total_count: number;
  next_cursor: Continuation;
};

export type Me = {
  id: string;
  name: string;
  username: string;
  email: string;
  profile_image_url: string | null;
  /** Whether a superuser has set or confirmed the email address. */
  email_verified: boolean;
  is_superuser: boolean;
  /** A disabled user cannot sign in, and holds no session and no CLI token. */
  disabled: boolean;
  tier: string;
  created_at: string;
  updated_at: string;
  organizations: readonly {
    id: string;
    name: string;
    role: "member" | "admin";
  }[];
  role_bindings: readonly RoleBinding[];
  /**
   * How many more roles you have. The first 1000 organizations by name and the newest 1000 role bindings are
   * listed.
   */
  more_roles: number;
  token: PresentedToken | null;
};

export type Member = {
  user_id: string;
  name: string;
  email: string;
  role: "member" | "admin";
  created_at: string;
  updated_at: string;
};

export type MemberPage = {
  data: readonly Member[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type Metrics = {
  range: string;
  /** Between two points. */
  step: string;
  series: readonly {
    name: string;
    unit: string;
    labels: {
      [key: string]: string;
    };
    /** Each a Unix time in seconds and a value, oldest first. */
    points: readonly (readonly number[])[];
  }[];
};

export type MyAccess = {
  /** A superuser may do everything, whatever the lists say. */
  is_superuser: boolean;
  /** Your memberships, by name. */
  orgs: readonly {
    id: string;
    name: string;
    slug: string;
    role: "member" | "admin";
  }[];
  /** Your role bindings on clusters. They hold on the projects there, too. */
  clusters: readonly {
    id: string;
    org_id: string;
    role: "viewer" | "editor" | "admin";
  }[];
  /** Your role bindings on projects. */
  projects: readonly {
    id: string;
    cluster_id: string;
    org_id: string;
    role: "viewer" | "editor" | "admin";
  }[];
  /**
   * How many more roles you have. The first 1000 organizations by name, and those bindings on the newest 1000
   * clusters and projects, are listed.
   */
  more_roles: number;
};

export type NewCliToken = {
  id: string;
  name: string;
  scopes: readonly ("bundles:read" | "clusters:read" | "clusters:register" | "install:report" | "read" | "write")[];
  org_id: string | null;
  project_id: string | null;
  expires_at: string;
  /** Whether it expires within 7 days. */
  expires_soon: boolean;
  last_used_at: string | null;
  last_used_address: string | null;
  created_at: string;
  updated_at: string;
  /** Shown this once. */
  token: string;
};

export type NextCursor = string | null;

/** `operator` and `agent_token` are null except for the node `control-plane`. */
export type NodeBootstrap = {
  join_token: string;
  agent_token: string | null;
  ca_certificates: string | null;
  /** The content of `registries.yaml` of k3s; null where images are pulled from where they are. */
  registries: {
    [key: string]: unknown;
  } | null;
  operator: {
    chart_url: string;
    hub_url: string;
    hub_proxy: string | null;
    cluster_id: string;
    token: string;
    namespace: string;
    /** The values `image` of the chart; without a registry the chart's default is pulled. */
    image: {
      registry?: string | undefined;
      digest?: string | undefined;
    };
  } | null;
};

export type NodeRequirement = {
  key: string;
  operator: "In" | "NotIn" | "Gt" | "Lt" | "Exists" | "DoesNotExist";
  values?: readonly string[] | undefined;
};

export type OperatorUpgrade = {
  id: string;
  org_id: string;
  /** `failed`: at least one cluster did not get the new operator. `running` until the last of them has ended. */
  status: "running" | "succeeded" | "failed" | "cancelled";
  /** The version of the control plane that started it. */
  to_version: string;
  batch_size: number;
  stop_on_failure: boolean;
  cancel_requested_at: string | null;
  counts: OperatorUpgradeCounts;
  created_by: string | null;
  created_at: string;
  finished_at: string | null;
  /** In the order in which they are upgraded, at most 1000. */
  clusters: readonly UpgradedCluster[];
};

/** How many clusters are in each phase. */
export type OperatorUpgradeCounts = {
  pending: number;
  running: number;
  succeeded: number;
  returned: number;
  failed: number;
  skipped: number;
  cancelled: number;
};

export type OperatorUpgradePreview = {
  /** The version of the control plane. */
  to_version: string;
  /** How many would be upgraded. */
  cluster_count: number;
  /** The versions that those clusters have now, the most frequent first. */
  from_versions: readonly {
    version: string;
    cluster_count: number;
  }[];
  /** How many have an older operator that cannot be upgraded from here at the moment. */
  skipped_count: number;
};

export type OperatorUpgradeSummary = {
  id: string;
  org_id: string;
  /** `failed`: at least one cluster did not get the new operator. `running` until the last of them has ended. */
  status: "running" | "succeeded" | "failed" | "cancelled";
  /** The version of the control plane that started it. */
  to_version: string;
  batch_size: number;
  stop_on_failure: boolean;
  cancel_requested_at: string | null;
  counts: OperatorUpgradeCounts;
  created_by: string | null;
  created_at: string;
  finished_at: string | null;
};

export type OperatorUpgradeSummaryPage = {
  data: readonly OperatorUpgradeSummary[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type OrgOverview = {
  clusters: {
    total: number;
    by_status: {
      pending: number;
      provisioning: number;
      awaiting_operator: number;
      connected: number;
      disconnected: number;
      installing: number;
      install_failed: number;
      abandoned: number;
      detaching: number;
      destroying: number;
      error: number;
    };
    stale: number;
  };
  projects: {
    total: number;
    by_lifecycle: {
      pending: number;
      ready: number;
      degraded: number;
      cleanup_pending: number;
      cleanup_degraded: number;
    };
  };
  apps: {
    total: number;
    by_phase: {
      pending: number;
      deploying: number;
      running: number;
      degraded: number;
      failed: number;
      invalid: number;
      paused: number;
      deleting: number;
    };
    drifted: number;
    /** Those whose drift state is `blocked_sync`. */
    blocked: number;
    /** Those of the deploying ones whose rollout is held up. */
    held_up: number;
    stale: number;
  };
  addon_instances: {
    total: number;
    by_phase: {
      pending: number;
      installing: number;
      ready: number;
      upgrading: number;
      degraded: number;
      failed: number;
      deleting: number;
    };
  };
  attention: {
    /** All objects that need attention, also those that are not named. */
    total: number;
    /** Failures before warnings, and the oldest first. Objects with the same cause are one item. */
    items: readonly AttentionItem[];
  };
};

export type OrgSettings = {
  /** What an operator does about drift. */
  drift_policy?: "heal" | "report" | undefined;
  gitops?: Gitops | undefined;
  [key: string]: unknown;
};

export type OrgSettingsRecord = {
  org_id: string;
  settings: OrgSettings;
};

export type Organization = {
  id: string;
  name: string;
  /** Derived from the name. */
  slug: string;
  description: string | null;
  created_at: string;
  updated_at: string;
};

export type OrganizationPage = {
  data: readonly Organization[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type PendingDeviceLogin = {
  user_code: string;
  /** What the device calls itself; nothing proves it. */
  client_name: string;
  /** What an approval gives to the device: a CLI token, or a session that may do everything you may do. */
  kind: "token" | "session";
  /** The scopes of the token; empty for a session, which has no limits. */
  scopes: readonly ("bundles:read" | "clusters:read" | "clusters:register" | "install:report" | "read" | "write")[];
  org_id: string | null;
  org_name: string | null;
  project_id: string | null;
  project_name: string | null;
  source_address: string | null;
  created_at: string;
  /** Seconds since the device asked. */
  age_seconds: number;
  /** Seconds that are left. */
  expires_in: number;
};

/** `from` is null for a component that is added, `to` for one that is removed. */
export type PinChange = {
  component: string;
  from: string | null;
  to: string | null;
};

export type PlannedChange = {
  action: "create" | "update" | "replace" | "delete" | "import";
  /** The resource in the module. */
  address: string;
  type: string;
  id: string | null;
};

export type PlannedVolume = {
  action: "keep" | "delete";
  /** The disk in the cloud, or the volume of a node. */
  id: string;
  claim: string | null;
  node: string | null;
  reason: string;
};

/** A term means the pods of a component of the app; left out, its own. */
export type PodAffinity = {
  required?: readonly {
    component?: string | undefined;
    topology_key?: string | undefined;
  }[] | undefined;
  preferred?: readonly {
    component?: string | undefined;
    topology_key?: string | undefined;
    weight: number;
  }[] | undefined;
};

/** A term means the pods of a component of the app; left out, its own. */
export type PodAffinityPatch = {
  required?: readonly {
    component?: string | undefined;
    topology_key?: string | undefined;
  }[] | null | undefined;
  preferred?: readonly {
    component?: string | undefined;
    topology_key?: string | undefined;
    weight: number;
  }[] | null | undefined;
};

export type PodStatus = {
  name: string;
  /** As Kubernetes names it. */
  phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  reason: string | null;
  /** Restarts of its containers. */
  restarts: number;
  node: string | null;
  started_at: string | null;
};

/** Why pods do not get ready. Time alone seldom resolves one of these. */
export type PodTrouble = "OOMKilled" | "ImagePullBackOff" | "CreateContainerConfigError" | "StartError" | "CrashLoopBackOff" | "Evicted" | "Unschedulable" | "Error" | "ProbeFailing";

export type PreferredNodeRequirement = {
  key: string;
  operator: "In" | "NotIn" | "Gt" | "Lt" | "Exists" | "DoesNotExist";
  values?: readonly string[] | undefined;
  weight: number;
};

/** What the CLI token of the request may do; null for a session. */
export type PresentedToken = {
  scopes: readonly ("bundles:read" | "clusters:read" | "clusters:register" | "install:report" | "read" | "write")[];
  org_id: string | null;
  project_id: string | null;
  expires_at: string;
};

/** An estimate of what the cluster costs a month after the change. */
export type PriceEstimate = {
  monthly: number | null;
  currency: string;
  /** The date of the price table. */
  prices_of: string;
  note: string;
  items: readonly {
    name: string;
    count: number;
    monthly: number | null;
  }[];
};

/** Exactly one of `port`, with or without `path`, and `command`. */
export type Probe = {
  /** An HTTP GET; without it the port is opened. */
  path?: string | undefined;
  port?: number | undefined;
  command?: readonly string[] | undefined;
  initial_delay_seconds?: number | undefined;
  period_seconds?: number | undefined;
  timeout_seconds?: number | undefined;
  failure_threshold?: number | undefined;
};

/** Exactly one of `port`, with or without `path`, and `command`. */
export type ProbePatch = {
  path?: string | null | undefined;
  port?: number | null | undefined;
  command?: readonly string[] | null | undefined;
  initial_delay_seconds?: number | null | undefined;
  period_seconds?: number | null | undefined;
  timeout_seconds?: number | null | undefined;
  failure_threshold?: number | null | undefined;
};

export type Project = {
  id: string;
  name: string;
  /** The Kubernetes namespace; the project's name. */
  namespace: string;
  cluster_id: string;
  org_id: string;
  /**
   * `pending` until the cluster confirms the project, `ready` from then on, `degraded` for the reason beside it,
   * `cleanup_pending` until the cluster confirms that it is gone, `cleanup_degraded` with the reason
   * `cluster_abandoned` where the cluster was abandoned and nobody confirms it.
   */
  lifecycle: "pending" | "ready" | "degraded" | "cleanup_pending" | "cleanup_degraded";
  lifecycle_reason: "operator_unreachable" | "apply_failed" | "namespace_conflict" | "cleanup_degraded" | "cluster_detached" | "cluster_abandoned" | null;
  lifecycle_message: string | null;
  /** The project's own level of the Pod Security Standards; null follows the cluster's. */
  pod_security: "privileged" | "baseline" | "restricted" | null;
  /**
   * `namespace` lets in traffic from the project's own namespace and from the cluster's `ingress_namespaces`
   * only; `none` lets in everything.
   */
  isolation: "namespace" | "none";
  /** Nothing in it is touched by the operator: by a suspension of the project, or else of its cluster. */
  suspended: Suspension | null;
  observed_at: string | null;
  /** Whether the operator is not connected, or has not confirmed anything for 75 seconds. */
  stale: boolean;
  created_at: string;
  updated_at: string;
};

export type ProjectPage = {
  data: readonly Project[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type ProjectPolicy = {
  project_id: string;
  /** The project's own level of the Pod Security Standards; null follows the cluster's. */
  pod_security: "privileged" | "baseline" | "restricted" | null;
  /**
   * The level in force: the project's own where that is stricter than the cluster's or was allowed by an org
   * admin, else the cluster's.
   */
  effective_pod_security: "privileged" | "baseline" | "restricted";
  /**
   * `namespace` lets in traffic from the project's own namespace and from the cluster's `ingress_namespaces`
   * only; `none` lets in everything.
   */
  isolation: "namespace" | "none";
  /** Of the cluster: who reaches the project beside itself. */
  ingress_namespaces: readonly string[];
};

export type ProvisioningJob = {
  id: string;
  cluster_id: string;
  credential_id: string | null;
  action: "create" | "scale" | "replace" | "upgrade" | "destroy";
  status: "pending" | "running" | "succeeded" | "failed";
  /** How far it has come. */
  phase: "init" | "plan" | "apply" | "bootstrap" | "operator" | "done";
  progress_pct: number;
  error_message: string | null;
  error_code: "bad_credentials" | "permission_denied" | "quota_exceeded" | "not_offered" | "no_capacity" | "throttled" | "unreachable" | "timed_out" | "cancelled" | "leftovers" | "unsupported" | "init_failed" | "bootstrap_failed" | "control_plane_protected" | "local_volumes" | "plan_changed" | "no_snapshot" | "failed" | null;
  node: string | null;
  kubernetes_release: string | null;
  /** Whether nodes go although the data of their local volumes is lost. */
  force: boolean;
  /** Whether it ends with its plan and changes nothing. */
  dry_run: boolean;
  plan_job_id: string | null;
  retry_at: string | null;
  cancel_requested_at: string | null;
  attempts: number;
  desired_node_count: number | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
};

export type ProvisioningJobPage = {
  data: readonly ProvisioningJob[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

export type ProvisioningLogLine = {
  /** Grows with every line; also the id of the event. */
  position: number;
  time: string;
  line: string;
};

export type ProvisioningPlan = {
  job_id: string;
  planned_at: string;
  summary: {
    add: number;
    change: number;
    remove: number;
  };
  changes: readonly PlannedChange[];
  /**
   * Of a destruction the disks that Kubernetes has made; those that are not known to be deletable are kept.
   * Otherwise the volumes whose data goes with a node, of very many the first.
   */
  volumes: readonly PlannedVolume[];
  estimate: PriceEstimate | null;
};

export type RateLimit = {
  id: string;
  tier: string;
  /** Relative to the base URL. A slash is put before a path that begins with none. */
  path: string;
  /** Requests. */
  limit: number;
  /** Seconds. */
  period: number;
  name: string | null;
  created_at: string;
  updated_at: string;
};

export type RateLimitPage = {
  data: readonly RateLimit[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

/**
 * `binnacle explain <reason>` says what it means and what to do. Operators of other versions may report other
 * reasons.
 */
export type Reason = PodTrouble | "RolloutComplete" | "RollingOut" | "WaitingForComponents" | "WaitingForExports" | "WaitingForAddonInstance" | "VolumeGrowing" | "WorkloadMissing" | "Pausing" | "Paused" | "Suspended" | "Deleting" | "ReplicasMissing" | "NoReplicas" | "ComponentFailed" | "PodRejected" | "StateUnknown" | "BlockedSync" | "HostTaken" | "NameTaken" | "EmptyRendering" | "HeldByFinalizers" | "DeletedOnCluster" | "Removed" | "ImmutableField" | "ImmutableVolume" | "ObjectRefused" | "VolumeNotExpandable" | "Forbidden" | "RefusedByCluster" | "ClusterError" | "NamespaceMissing" | "DryRunUnsupported" | "MissingImage" | "MissingSecret" | "UnknownComponent" | "UnknownExport" | "NoComponents" | "TooManyComponents" | "AppTooLarge" | "NameTooLong" | "DuplicateName" | "DuplicateValue" | "DependencyCircle" | "IngressConflict" | "InvalidAutoscale" | "InvalidFile" | "InvalidHost" | "InvalidImage" | "InvalidPath" | "InvalidResources" | "InvalidSchedule" | "UnknownAffinity" | "UnknownPort" | "MissingChart" | "UnknownAddonInstance" | "AddonInstanceDeleted" | "InvalidSecurityContext" | "TooLarge" | "ReleaseReady" | "Waiting" | "Installing" | "Upgrading" | "NotReady" | "ObjectMissing" | "ReleaseTooLarge" | "InstallFailed" | "UpgradeFailed" | "UninstallFailed" | "ReleaseConflict" | "ExportsConflict" | "ForbiddenObject" | "ForbiddenAnnotation" | "UnreadableManifest" | "operator_disconnected" | "operator_unreachable" | "apply_failed" | "namespace_conflict" | "cleanup_degraded" | "cluster_detached" | "cluster_abandoned" | (string & {});

export type RegistryMirror = {
  /** The registry whose images are pulled from elsewhere; `*` is every one without a mirror of its own. */
  registry: string;
  /** They are tried in this order, and then the registry itself. */
  endpoints: readonly string[];
};

/** The password is written and never read back. */
export type RegistrySecret = {
  id: string;
  name: string;
  /** The registry: a host, with a port, a path or a scheme where it needs one. */
  server_url: string;
  username: string;
  cluster_id: string | null;
  project_id: string | null;
  created_at: string;
  updated_at: string;
};

export type RegistrySecretList = {
  data: readonly RegistrySecret[];
  total_count: number;
};

export type RepoCredential = {
  key_id: string;
  repo_url: string;
  branch: string;
  private_key: string;
  fingerprint: string;
  /** Lines of `known_hosts` without the name. */
  host_keys: readonly string[];
  host_key_fingerprints: readonly string[];
  /** Null: it works until a newer one has been proven and the time of grace is over. */
  expires_at: string | null;
};

export type ResourceAmounts = {
  cpu?: string | undefined;
  memory?: string | undefined;
};

export type ResourceAmountsPatch = {
  cpu?: string | null | undefined;
  memory?: string | null | undefined;
};

export type ResourceNode = {
  /** Unique in the answer. */
  id: string;
  parent_id: string | null;
  component: string | null;
  api_version: string | null;
  /** `App`, `Component`, or that of a Kubernetes object. */
  kind: string;
  name: string;
  namespace: string | null;
  /** `missing`: it should be there and is not. `unknown`: its kind does not tell, or it cannot be read. */
  status: "ready" | "progressing" | "failed" | "deleting" | "missing" | "unknown";
  reason: string | null;
  message: string | null;
  desired: number | null;
  ready: number | null;
  restarts: number | null;
  node: string | null;
  created_at: string | null;
};

export type ResourceRequirements = {
  requests?: ResourceAmounts | undefined;
  limits?: ResourceAmounts | undefined;
};

export type ResourceRequirementsPatch = {
  requests?: ResourceAmountsPatch | null | undefined;
  limits?: ResourceAmountsPatch | null | undefined;
};

export type RoleBinding = {
  binding_id: string;
  user_id: string;
  role: "viewer" | "editor" | "admin";
  cluster_id: string | null;
  project_id: string | null;
  created_at: string;
  updated_at: string;
};

export type RoleBindingList = {
  data: readonly RoleBinding[];
  total_count: number;
  next_cursor: Continuation;
};

export type RoleGrant = {
  user_id: string;
  role: "viewer" | "editor" | "admin";
};

export type RotatedToken = {
  token: string;
  token_version: number;
  /** Deploys the new token: the whole command, as the answer to the registration has it. */
  install_command: string;
  enforcement: "in_force" | "pending";
};

export type SearchResult = {
  kind: "app" | "project" | "cluster" | "stack_template" | "addon_instance";
  id: string;
  name: string;
  namespace: string | null;
  project_id: string | null;
  cluster_id: string | null;
  detail: string | null;
};

export type SearchResults = {
  results: readonly SearchResult[];
};

/** Stands where a secret is: the Secret in the cluster that holds it, and the key there. */
export type SecretRef = {
  secret_ref: {
    name: string;
    key: string;
  };
};

/**
 * Of all containers of the component, within the Pod Security level of the project. Nothing in it gives more
 * rights.
 */
export type SecurityContext = {
  run_as_user?: number | undefined;
  run_as_non_root?: boolean | undefined;
  read_only_root_filesystem?: boolean | undefined;
};

/**
 * Of all containers of the component, within the Pod Security level of the project. Nothing in it gives more
 * rights.
 */
export type SecurityContextPatch = {
  run_as_user?: number | null | undefined;
  run_as_non_root?: boolean | null | undefined;
  read_only_root_filesystem?: boolean | null | undefined;
};

export type Session = {
  id: string;
  user_id: string;
  created_at: string;
  expires_at: string;
  source_address: string | null;
  user_agent: string | null;
  client_name: string | null;
  /** When it last got an access token: at the login or by a refresh; to the minute. */
  last_used_at: string;
  last_used_address: string | null;
  /** Whether it is the session of this very request. */
  current: boolean;
};

export type SessionPage = {
  data: readonly Session[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

/** `from` is null for a setting that is added, `to` for one that is removed. */
export type SettingChange = {
  path: string;
  from: string | number | boolean | null;
  to: string | number | boolean | null;
};

export type SettingOrGroup = string | number | boolean | {
  [key: string]: string | number | boolean | {
    [key: string]: string | number | boolean;
  };
};

export type SshKey = {
  private_key: string;
};

export type StackTemplate = {
  id: string;
  org_id: string;
  project_id: string | null;
  cluster_id: string | null;
  namespace: string;
  name: string;
  version: string;
  /** Who sees it: whoever has a role in its project; on its cluster or in any project there; members; everyone. */
  scope: "project" | "cluster" | "organization" | "global";
  description: string | null;
  icon: TemplateIcon;
  tags: TemplateTags;
  created_at: string;
  updated_at: string;
  parameters: readonly TemplateParameter[];
  /** As those of an app. "${name}" anywhere in a value stands for the parameter, "$${" for itself. */
  components: readonly TemplateComponent[];
};

export type StackTemplateDeployment = {
  message: string;
  deploy_name: string;
  namespace: string;
};

export type StackTemplateReading = {
  valid: boolean;
  errors: readonly ValidationItem[];
  template: {
    name: string;
    version?: string | undefined;
    /** Who sees it: whoever has a role in its project; on its cluster or in any project there; members; everyone. */
    scope?: "project" | "cluster" | "organization" | "global" | undefined;
    description?: string | null | undefined;
    icon?: TemplateIcon | undefined;
    tags?: TemplateTags | undefined;
    namespace?: string | undefined;
    parameters?: readonly TemplateParameter[] | undefined;
    /** As those of an app. "${name}" anywhere in a value stands for the parameter, "$${" for itself. */
    components: readonly TemplateComponent[];
  } | null;
};

export type StackTemplateSummary = {
  id: string;
  org_id: string;
  project_id: string | null;
  cluster_id: string | null;
  namespace: string;
  name: string;
  version: string;
  /** Who sees it: whoever has a role in its project; on its cluster or in any project there; members; everyone. */
  scope: "project" | "cluster" | "organization" | "global";
  description: string | null;
  icon: TemplateIcon;
  tags: TemplateTags;
  created_at: string;
  updated_at: string;
};

export type StackTemplateSummaryPage = {
  data: readonly StackTemplateSummary[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

/** The addon keeps data that the older chart version may be unable to read. */
export type StatefulDowngrade = {
  detail: {
    code: "stateful_downgrade";
    message: string;
    from_version: string | null;
    to_version: string | null;
  };
};

export type Suspension = {
  /** What has been suspended, and is to be unsuspended: it, or the project or the cluster that it is in. */
  scope: "app" | "project" | "cluster";
  by: string | null;
  at: string;
  reason: string | null;
  /**
   * `in_effect`: the operator has confirmed that it does not touch it. `pending`: it has not reported on it yet.
   * `not_in_effect`: it goes on reconciling, because it is too old to know of suspensions, or could not store
   * this one; upgrade the operator.
   */
  state: "pending" | "in_effect" | "not_in_effect";
};

export type SystemStatus = {
  build: string | null;
  environment: string;
  /** When the process that answers was started. */
  started_at: string;
  database: {
    version: string;
    size_bytes: number;
    /** Of all clients of the database server. */
    connections: number;
    max_connections: number;
    migration: string | null;
  };
  jobs: {
    pending: number;
    running: number;
    failed: number;
    oldest_pending_seconds: number | null;
  };
  hub: {
    /** Operators that are connected to any hub. */
    sessions: number;
    /** Changes that their cluster has not confirmed. */
    pending: number;
  };
  organizations: number;
  users: number;
  clusters: number;
  apps: number;
};

export type Task = {
  id: string;
  kind: "ping" | "resync_cluster";
  status: "pending" | "running" | "succeeded" | "failed";
  attempts: number;
  result: {
    [key: string]: unknown;
  } | null;
  error_message: string | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
};

export type TaskCreated = {
  id: string;
};

/** `instance`, the name of a standalone one, or `definition_id` with values. */
export type TemplateAddonSpec = {
  instance?: string | undefined;
  definition_id?: string | undefined;
  values?: {
    [key: string]: unknown;
  } | undefined;
  chart_version?: string | undefined;
};

/** `pod_affinity` runs it near other pods, `pod_anti_affinity` away from them. */
export type TemplateAffinity = {
  node_affinity?: {
    /** All of them hold on the node. */
    required?: readonly TemplateNodeRequirement[] | undefined;
    preferred?: readonly TemplatePreferredNodeRequirement[] | undefined;
  } | undefined;
  pod_affinity?: TemplatePodAffinity | undefined;
  pod_anti_affinity?: TemplatePodAffinity | undefined;
};

export type TemplateChartSpec = {
  repo: string;
  name: string;
  version?: string | undefined;
  hook_timeout_seconds?: number | string | undefined;
  values?: {
    [key: string]: unknown;
  } | undefined;
  /**
   * Dotted paths of values that are secret. A text that is given there is kept sealed, as the secret of the
   * component that has the path as its key, and reads as a reference to the Secret that holds it.
   */
  secret_values?: readonly string[] | undefined;
  /**
   * Dotted paths of values that look like secrets and are not, or of maps and lists of such values. A text is
   * sealed as `secret_values` are if its name or one above it is that of a password, a token, a secret, a key or
   * the like, or if it holds a key, a token or an address with a password. In lists, where it cannot be sealed,
   * it is refused.
   */
  plain_values?: readonly string[] | undefined;
  /**
   * The paths that were sealed because they look like secrets. The server keeps the list; one that is sent is
   * ignored.
   */
  sealed_values?: readonly string[] | undefined;
};

/** `secrets` are written and never read back; reads give their keys. */
export type TemplateComponent = {
  name: string;
  type?: "workload" | "addon" | "chart" | (string & {}) | undefined;
  depends_on?: readonly string[] | undefined;
  workload_spec?: TemplateWorkloadSpec | undefined;
  addon_spec?: TemplateAddonSpec | undefined;
  chart_spec?: TemplateChartSpec | undefined;
  /**
   * Beside `host`, `port` and `url`, which a workload with ports exports by itself. A text may hold `${host}`,
   * `${port}`, `${url}`, `${NAME_port}` and `${NAME_url}` of the port NAME, and `${secret.KEY}`, a secret of the
   * component. `|uri` behind the name escapes the value for a URL, and `$${` is the text `${`. An export with a
   * secret in it is secret: components that use it read it from a Secret.
   */
  exports?: {
    [key: string]: string;
  } | undefined;
  /** In requests `exportRefs` is another spelling; both together are refused. */
  export_refs?: readonly TemplateComponentExportRef[] | undefined;
  secrets?: {
    [key: string]: string;
  } | undefined;
};

export type TemplateComponentExportRef = {
  component: string;
  key?: string | undefined;
  env?: string | undefined;
};

export type TemplateContainer = {
  name: string;
  image: string;
  command?: readonly string[] | undefined;
  args?: readonly string[] | undefined;
  env?: readonly TemplateEnvVar[] | undefined;
  resources?: TemplateResourceRequirements | undefined;
};

/** Exactly one of `value` and `export_ref`. In requests `exportRef` is another spelling of it. */
export type TemplateEnvVar = {
  name: string;
  value?: string | undefined;
  export_ref?: TemplateExportRef | undefined;
};

export type TemplateExportRef = {
  component: string;
  key: string;
};

export type TemplateIcon = string | null;

export type TemplateNodeRequirement = {
  key: string;
  operator: "In" | "NotIn" | "Gt" | "Lt" | "Exists" | "DoesNotExist" | (string & {});
  values?: readonly string[] | undefined;
};

export type TemplateParameter = {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "select" | "secret";
  description?: string | undefined;
  required?: boolean | undefined;
  default?: string | number | boolean | undefined;
  /** What a `select` offers. */
  options?: readonly (string | number | boolean)[] | undefined;
  /** For text, in the syntax of RE2. */
  pattern?: string | undefined;
  /** The least number, or the shortest length of text. */
  min?: number | undefined;
  /** The greatest number, or the longest length of text. */
  max?: number | undefined;
  /** Makes the value where none is given. */
  generator?: "random_password" | "random_hex" | "uuid" | undefined;
};

/** A term means the pods of a component of the app; left out, its own. */
export type TemplatePodAffinity = {
  required?: readonly {
    component?: string | undefined;
    topology_key?: string | undefined;
  }[] | undefined;
  preferred?: readonly {
    component?: string | undefined;
    topology_key?: string | undefined;
    weight: number | string;
  }[] | undefined;
};

export type TemplatePreferredNodeRequirement = {
  key: string;
  operator: "In" | "NotIn" | "Gt" | "Lt" | "Exists" | "DoesNotExist" | (string & {});
  values?: readonly string[] | undefined;
  weight: number | string;
};

/** Exactly one of `port`, with or without `path`, and `command`. */
export type TemplateProbe = {
  path?: string | undefined;
  port?: number | string | undefined;
  command?: readonly string[] | undefined;
  initial_delay_seconds?: number | string | undefined;
  period_seconds?: number | string | undefined;
  timeout_seconds?: number | string | undefined;
  failure_threshold?: number | string | undefined;
};

export type TemplateResourceAmounts = {
  cpu?: string | undefined;
  memory?: string | undefined;
};

export type TemplateResourceRequirements = {
  requests?: TemplateResourceAmounts | undefined;
  limits?: TemplateResourceAmounts | undefined;
};

/**
 * Of all containers of the component, within the Pod Security level of the project. Nothing in it gives more
 * rights.
 */
export type TemplateSecurityContext = {
  run_as_user?: number | string | undefined;
  run_as_non_root?: boolean | string | undefined;
  read_only_root_filesystem?: boolean | string | undefined;
};

export type TemplateTags = readonly string[];

export type TemplateToleration = {
  key: string;
  operator?: "Equal" | "Exists" | (string & {}) | undefined;
  value?: string | undefined;
  effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute" | (string & {}) | undefined;
  toleration_seconds?: number | string | undefined;
};

export type TemplateTopologySpread = {
  topology_key: string;
  max_skew?: number | string | undefined;
  when_unsatisfiable?: "ScheduleAnyway" | "DoNotSchedule" | (string & {}) | undefined;
};

export type TemplateWorkloadAutoscale = {
  min: number | string;
  max: number | string;
  cpu_percent: number | string;
};

/** Exactly one of `content` and `secret`. */
export type TemplateWorkloadFile = {
  path: string;
  content?: string | undefined;
  secret?: string | undefined;
};

export type TemplateWorkloadIngress = {
  host: string;
  path?: string | undefined;
  port?: number | string | undefined;
  tls?: boolean | string | undefined;
  class?: string | undefined;
};

export type TemplateWorkloadPort = {
  name: string;
  port: number | string;
  protocol?: "TCP" | "UDP" | "SCTP" | (string & {}) | undefined;
};

export type TemplateWorkloadSpec = {
  kind?: "deployment" | "statefulset" | "daemonset" | "job" | "cronjob" | (string & {}) | undefined;
  image?: string | undefined;
  command?: readonly string[] | undefined;
  args?: readonly string[] | undefined;
  replicas?: number | string | undefined;
  ports?: readonly TemplateWorkloadPort[] | undefined;
  env?: readonly TemplateEnvVar[] | undefined;
  resources?: TemplateResourceRequirements | undefined;
  probes?: {
    liveness?: TemplateProbe | undefined;
    readiness?: TemplateProbe | undefined;
    startup?: TemplateProbe | undefined;
  } | undefined;
  volumes?: readonly TemplateWorkloadVolume[] | undefined;
  ingress?: TemplateWorkloadIngress | undefined;
  autoscale?: TemplateWorkloadAutoscale | undefined;
  schedule?: string | undefined;
  /** Read-only files in every container. Pods are replaced when one of them changes. */
  files?: readonly TemplateWorkloadFile[] | undefined;
  /**
   * Run one after the other, each to its end, before the others start. They have the variables, secrets, files
   * and volumes of the component, and their own `env` before these.
   */
  init_containers?: readonly TemplateContainer[] | undefined;
  /**
   * Start before the container of the component and end after it; a job is done without them. They have the
   * variables, secrets, files and volumes of the component, and their own `env` before these.
   */
  sidecars?: readonly TemplateContainer[] | undefined;
  /** Further labels of the workload and its pods. */
  labels?: {
    [key: string]: string;
  } | undefined;
  /** Annotations of the workload and its pods. */
  annotations?: {
    [key: string]: string;
  } | undefined;
  /** Labels that a node has to have. */
  node_selector?: {
    [key: string]: string;
  } | undefined;
  /** Taints of nodes on which it may run nevertheless, each by its key. */
  tolerations?: readonly TemplateToleration[] | undefined;
  affinity?: TemplateAffinity | undefined;
  /** Spreads the pods of the component over zones, nodes or the like. */
  topology_spread?: readonly TemplateTopologySpread[] | undefined;
  security_context?: TemplateSecurityContext | undefined;
  termination_grace_seconds?: number | string | undefined;
};

export type TemplateWorkloadVolume = {
  name: string;
  mount_path: string;
  size_gb: number | string;
  storage_class?: string | undefined;
  access_mode?: "ReadWriteOnce" | "ReadWriteMany" | "ReadWriteOncePod" | (string & {}) | undefined;
};

export type Tier = {
  name: string;
  created_at: string;
  updated_at: string;
};

export type TierList = {
  data: readonly Tier[];
  total_count: number;
};

export type Toleration = {
  key: string;
  operator?: "Equal" | "Exists" | undefined;
  value?: string | undefined;
  /** Left out, all effects are tolerated. */
  effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute" | undefined;
  toleration_seconds?: number | undefined;
};

export type TopologySpread = {
  topology_key: string;
  max_skew?: number | undefined;
  when_unsatisfiable?: "ScheduleAnyway" | "DoNotSchedule" | undefined;
};

/** A fault of ours; the request id finds it in the logs. */
export type UnexpectedFailure = {
  detail: "Internal Server Error";
  request_id: string;
};

export type UnverifiedEmail = {
  detail: {
    code: "email_unverified";
    message: string;
  };
};

export type UpgradedCluster = {
  cluster_id: string;
  cluster_name: string;
  /**
   * `returned`: the new image did not become ready in time, and the former one runs again. `failed`: it is not
   * known to run. `skipped`: it could not be upgraded from here. `cancelled`: it was not begun.
   */
  phase: "pending" | "running" | "succeeded" | "returned" | "failed" | "skipped" | "cancelled";
  from_version: string | null;
  to_version: string;
  reason: string | null;
  started_at: string | null;
  finished_at: string | null;
};

export type User = {
  id: string;
  name: string;
  username: string;
  email: string;
  profile_image_url: string | null;
  /** Whether a superuser has set or confirmed the email address. */
  email_verified: boolean;
  is_superuser: boolean;
  /** A disabled user cannot sign in, and holds no session and no CLI token. */
  disabled: boolean;
  tier: string;
  created_at: string;
  updated_at: string;
};

export type UserPage = {
  data: readonly User[];
  total_count: number;
  page: number;
  items_per_page: number;
  has_more: boolean;
  next_cursor: NextCursor;
};

/** Every invalid field of the request, all at once. */
export type ValidationFailure = {
  detail: readonly ValidationItem[];
};

export type ValidationItem = {
  /** Where: `body`, `query`, `path` or `cookie`, then the way to the field. */
  loc: readonly (string | number)[];
  msg: string;
  type: "missing" | "extra_forbidden" | "string_type" | "int_type" | "float_type" | "bool_type" | "list_type" | "dict_type" | "uuid_parsing" | "datetime_parsing" | "enum" | "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal" | "string_too_short" | "string_too_long" | "string_pattern_mismatch" | "too_short" | "too_long" | "json_invalid" | "value_error";
};

export type Version = {
  contract: number;
  build: string | null;
};

export type VisibleSecret = {
  kind: "registry" | "component" | "addon";
  inherited_from: "cluster" | "project" | "app" | "addon";
  /** The cluster, project, app or addon instance that it belongs to. */
  source: {
    id: string;
    name: string;
  };
  /** Of the registry secret, the app's component or the addon instance. */
  name: string;
  keys: readonly string[];
  updated_at: string;
};

export type VisibleSecretList = {
  data: readonly VisibleSecret[];
  total_count: number;
  next_cursor: Continuation;
};

export type VolumeOutlook = {
  claim: string;
  component: string | null;
  size: string | null;
  storage_class: string | null;
  volume: string | null;
  reclaim_policy: "Delete" | "Retain" | "Recycle" | null;
  /**
   * `deleted`: claim and data go. `released`: the claim goes, the storage class keeps the volume with the data.
   * `kept`: the claim stays. `unknown`: the cluster has not said.
   */
  fate: "deleted" | "released" | "kept" | "unknown";
  /** How to get the data back. */
  recovery: string;
};

export type WorkloadAutoscale = {
  min: number;
  max: number;
  cpu_percent: number;
};

export type WorkloadAutoscalePatch = {
  min?: number | null | undefined;
  max?: number | null | undefined;
  cpu_percent?: number | null | undefined;
};

/** Exactly one of `content` and `secret`. */
export type WorkloadFile = {
  path: string;
  content?: string | undefined;
  /** The key of a secret of the component. */
  secret?: string | undefined;
};

export type WorkloadIngress = {
  /**
   * In lower case, in punycode where it is not ASCII. One project of a cluster has a host; a wildcard is for
   * administrators of the organization.
   */
  host: string;
  path?: string | undefined;
  port?: number | undefined;
  tls?: boolean | undefined;
  /** The IngressClass whose controller serves the host; the default one of the cluster where it is left out. */
  class?: string | undefined;
};

export type WorkloadIngressPatch = {
  host?: string | null | undefined;
  path?: string | null | undefined;
  port?: number | null | undefined;
  tls?: boolean | null | undefined;
  class?: string | null | undefined;
};

export type WorkloadPort = {
  name: string;
  port: number;
  protocol?: "TCP" | "UDP" | "SCTP" | undefined;
};

export type WorkloadSpec = {
  kind?: "deployment" | "statefulset" | "daemonset" | "job" | "cronjob" | undefined;
  image?: string | undefined;
  command?: readonly string[] | undefined;
  args?: readonly string[] | undefined;
  replicas?: number | undefined;
  ports?: readonly WorkloadPort[] | undefined;
  env?: readonly EnvVar[] | undefined;
  resources?: ResourceRequirements | undefined;
  probes?: {
    liveness?: Probe | undefined;
    readiness?: Probe | undefined;
    startup?: Probe | undefined;
  } | undefined;
  volumes?: readonly WorkloadVolume[] | undefined;
  ingress?: WorkloadIngress | undefined;
  autoscale?: WorkloadAutoscale | undefined;
  /** Cron, for a cronjob and nothing else. */
  schedule?: string | undefined;
  /** Read-only files in every container. Pods are replaced when one of them changes. */
  files?: readonly WorkloadFile[] | undefined;
  /**
   * Run one after the other, each to its end, before the others start. They have the variables, secrets, files
   * and volumes of the component, and their own `env` before these.
   */
  init_containers?: readonly Container[] | undefined;
  /**
   * Start before the container of the component and end after it; a job is done without them. They have the
   * variables, secrets, files and volumes of the component, and their own `env` before these.
   */
  sidecars?: readonly Container[] | undefined;
  /** Further labels of the workload and its pods. */
  labels?: {
    [key: string]: string;
  } | undefined;
  /** Annotations of the workload and its pods. */
  annotations?: {
    [key: string]: string;
  } | undefined;
  /** Labels that a node has to have. */
  node_selector?: {
    [key: string]: string;
  } | undefined;
  /** Taints of nodes on which it may run nevertheless, each by its key. */
  tolerations?: readonly Toleration[] | undefined;
  affinity?: Affinity | undefined;
  /** Spreads the pods of the component over zones, nodes or the like. */
  topology_spread?: readonly TopologySpread[] | undefined;
  security_context?: SecurityContext | undefined;
  /** How long a pod has between the signal to end and its end by force; 30 where nothing is said. */
  termination_grace_seconds?: number | undefined;
};

export type WorkloadSpecPatch = {
  kind?: "deployment" | "statefulset" | "daemonset" | "job" | "cronjob" | null | undefined;
  image?: string | null | undefined;
  command?: readonly string[] | null | undefined;
  args?: readonly string[] | null | undefined;
  replicas?: number | null | undefined;
  ports?: readonly {
    name: string;
    port: number;
    protocol?: "TCP" | "UDP" | "SCTP" | undefined;
  }[] | null | undefined;
  env?: readonly EnvVar[] | null | undefined;
  resources?: ResourceRequirementsPatch | null | undefined;
  probes?: {
    liveness?: ProbePatch | null | undefined;
    readiness?: ProbePatch | null | undefined;
    startup?: ProbePatch | null | undefined;
  } | null | undefined;
  volumes?: readonly WorkloadVolume[] | null | undefined;
  ingress?: WorkloadIngressPatch | null | undefined;
  autoscale?: WorkloadAutoscalePatch | null | undefined;
  schedule?: string | null | undefined;
  files?: readonly WorkloadFile[] | null | undefined;
  init_containers?: readonly Container[] | null | undefined;
  sidecars?: readonly Container[] | null | undefined;
  labels?: {
    [key: string]: string | null;
  } | null | undefined;
  annotations?: {
    [key: string]: string | null;
  } | null | undefined;
  node_selector?: {
    [key: string]: string | null;
  } | null | undefined;
  tolerations?: readonly {
    key: string;
    operator?: "Equal" | "Exists" | undefined;
    value?: string | undefined;
    /** Left out, all effects are tolerated. */
    effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute" | undefined;
    toleration_seconds?: number | undefined;
  }[] | null | undefined;
  affinity?: AffinityPatch | null | undefined;
  topology_spread?: readonly {
    topology_key: string;
    max_skew?: number | undefined;
    when_unsatisfiable?: "ScheduleAnyway" | "DoNotSchedule" | undefined;
  }[] | null | undefined;
  security_context?: SecurityContextPatch | null | undefined;
  termination_grace_seconds?: number | null | undefined;
};

export type WorkloadVolume = {
  name: string;
  mount_path: string;
  size_gb: number;
  /** The default one of the cluster where it is left out. A volume keeps the class that it was made with. */
  storage_class?: string | undefined;
  /**
   * How many may mount it: the pods of one node (`ReadWriteOnce`, where it is left out), those of all nodes
   * (`ReadWriteMany`, which few storage classes have) or one pod (`ReadWriteOncePod`). A volume keeps the mode
   * that it was made with.
   */
  access_mode?: "ReadWriteOnce" | "ReadWriteMany" | "ReadWriteOncePod" | undefined;
};

export type WrittenBundleRecord = {
  bundle_version: string;
  profiles: readonly string[];
  ha_tier: "single-server" | "ha";
  /** Who owns the volume groups on the nodes, in the installer's own words. */
  volume_group_ownership?: string | {
    [key: string]: unknown;
  } | null | undefined;
  install_journal?: readonly WrittenJournalEntry[] | null | undefined;
};

export type WrittenJournalEntry = {
  stage: "preflight" | "register" | "k3s-server" | "k3s-agents" | "platform-networking" | "platform-certs" | "platform-storage" | "platform-backup" | "platform-day2" | "agent" | "profiles" | "record" | "verify" | "backup" | "platform-components" | "kubernetes";
  status: "started" | "completed" | "failed";
  component?: string | null | undefined;
  detail?: string | null | undefined;
  reason_code?: string | null | undefined;
  /** When it happened, not in the future; without it, when the server learns of it. */
  at?: string | undefined;
};

export type WrittenRegistrySecret = {
  name: string;
  /** The registry: a host, with a port, a path or a scheme where it needs one. */
  server_url: string;
  username: string;
  password: string;
};

/** What goes into every operation, what comes of it, and the statuses with which it can fail. */
export interface Operations {
  /** Give up a cluster that never comes back; org admin. `POST /clusters/{id}/abandon` */
  abandonCluster: {
    input: {
      id: string;
      body: {
        /** The cluster's name, as a confirmation. */
        name: string;
      };
    };
    answer: AbandonedCluster;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Add a user, by id, by username or by email address; org admin. `POST /orgs/{id}/members` */
  addMember: {
    input: {
      id: string;
      body: {
        user_id?: string | undefined;
        email?: string | undefined;
        username?: string | undefined;
        role: "member" | "admin";
      };
    };
    answer: Member;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Inject the name of an addon instance of the project as an export_ref. `POST
   * /apps/{namespace}/{name}/attach-addon`
   */
  attachAddon: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      body: {
        addon_instance_id: string;
        component_name?: string | undefined;
      };
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Attach an image pull secret to every project of a cluster. `POST /clusters/{id}/registry-secrets` */
  attachClusterRegistrySecret: {
    input: {
      id: string;
      body: WrittenRegistrySecret;
    };
    answer: RegistrySecret;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Attach an image pull secret to a project. `POST /projects/{id}/registry-secrets` */
  attachProjectRegistrySecret: {
    input: {
      id: string;
      body: WrittenRegistrySecret;
    };
    answer: RegistrySecret;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Fetch what a new machine needs to join its cluster. `POST /node-bootstrap` */
  bootstrapNode: {
    input: {
      body: {
        cluster_id: string;
        node: string;
        token: string;
      };
    };
    answer: NodeBootstrap;
    failures: 400 | 401 | 408 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Browse the registry of community templates. `GET /stack-templates/registry` */
  browseTemplateRegistry: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** In name, description and tags. */
      search?: string | undefined;
      tag?: string | undefined;
    };
    answer: CatalogTemplatePage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 502 | 503;
  };
  /**
   * Begin no more clusters of an upgrade of operators; org admin. `POST
   * /orgs/{org_id}/operator-upgrades/{id}/cancel`
   */
  cancelOperatorUpgrade: {
    input: {
      org_id: string;
      id: string;
    };
    answer: OperatorUpgrade;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Stop a provisioning job; org admin. `POST /provisioning-jobs/{id}/cancel` */
  cancelProvisioningJob: {
    input: {
      id: string;
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change a member's role; org admin. `PUT /orgs/{id}/members/{user_id}` */
  changeMember: {
    input: {
      id: string;
      user_id: string;
      body: {
        role: "member" | "admin";
      };
    };
    answer: Member;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Ask the provider whether a credential suffices; org admin. `POST /credentials/{id}/check` */
  checkCredential: {
    input: {
      id: string;
    };
    answer: CredentialCheck;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Ask whether the device has been approved, and get its CLI token or its session. `POST /auth/cli/device/token` */
  claimDeviceToken: {
    input: {
      body: {
        device_code: string;
      };
    };
    answer: DeviceToken | AccessToken;
    failures: 400 | 403 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Run an addon in a project; project editor. `POST /addon-instances` */
  createAddonInstance: {
    input: {
      body: {
        name: string;
        project_id: string;
        addon_definition_id: string;
        /** Laid over the definition's default values. */
        values?: {
          [key: string]: unknown;
        } | undefined;
        /** One of the versions that the definition offers. */
        chart_version?: string | undefined;
        notes?: string | null | undefined;
      };
    };
    answer: AddonInstance;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Mint a new agent JWT for the cluster's operator. `POST /clusters/{id}/agent-credentials` */
  createAgentCredentials: {
    input: {
      id: string;
    };
    answer: AgentCredentials;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 502 | 503;
  };
  /** Create an app in a project. `POST /apps` */
  createApp: {
    input: {
      /**
       * Makes every check and changes nothing: the answer is the app as it would be, without an `ETag`, or the
       * refusal. It leaves no audit entry, revision or event.
       */
      dry_run?: boolean | undefined;
      body: {
        name: string;
        project_id: string;
        description?: string | null | undefined;
        components: readonly ComponentInput[];
      };
    };
    answer: App;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Store the credentials of a private chart repository; org admin. `POST /orgs/{id}/chart-repositories` */
  createChartRepository: {
    input: {
      id: string;
      body: ChartRepositoryInput;
    };
    answer: ChartRepository;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Make a CLI token that acts as you, limited to its scopes. `POST /cli-tokens` */
  createCliToken: {
    input: {
      body: {
        name: string;
        /**
         * `read` is every read that you may make, without secret values; `write` is every change that you may
         * make, and no read. Neither is for accounts, sessions, tokens, members, roles and credentials.
         */
        scopes: readonly ("bundles:read" | "clusters:read" | "clusters:register" | "install:report" | "read" | "write")[];
        expires_in_days?: number | undefined;
        /** Binds the token to this organization: everything else is a 404 for it. */
        org_id?: string | undefined;
        /** Binds the token to this project: everything else is a 404 for it. */
        project_id?: string | undefined;
      };
    };
    answer: NewCliToken;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Register a cluster, or start provisioning one; org admin. `POST /orgs/{org_id}/clusters` */
  createCluster: {
    input: {
      org_id: string;
      body: {
        name: string;
        description?: string | null | undefined;
        /** With `credential_id`, for provisioning; `aws`, others are coming soon. */
        provider?: "aws" | "gcp" | "azure" | "do" | "metal" | "ssh" | undefined;
        credential_id?: string | undefined;
        region?: string | undefined;
        instance_type?: string | undefined;
        /** Agent nodes beside the one control-plane node. */
        agent_count?: number | undefined;
        disk_size_gb?: number | undefined;
        egress?: Egress | undefined;
      };
    };
    answer: CreatedCluster;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Store a cloud credential; org admin. `POST /orgs/{id}/credentials` */
  createCredential: {
    input: {
      id: string;
      body: {
        name: string;
        provider: "aws" | "gcp" | "azure" | "do" | "metal" | "ssh";
        region?: string | undefined;
        access_key_id?: string | undefined;
        /** Written and never read back. */
        secret_access_key?: string | undefined;
        role_arn?: string | undefined;
        snapshot_bucket?: string | undefined;
        permissions_boundary?: string | undefined;
      };
    };
    answer: Credential;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Create an organization; superuser only. `POST /orgs` */
  createOrg: {
    input: {
      body: {
        name: string;
        description?: string | null | undefined;
      };
    };
    answer: Organization;
    failures: 400 | 401 | 403 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Create a project on a cluster. `POST /projects` */
  createProject: {
    input: {
      body: {
        /** Unique on the cluster. `default`, `binnacle-system` and `kube-…` are refused. */
        name: string;
        cluster_id: string;
        /** The project's own level of the Pod Security Standards; null follows the cluster's. */
        pod_security?: "privileged" | "baseline" | "restricted" | null | undefined;
        /**
         * `namespace` lets in traffic from the project's own namespace and from the cluster's
         * `ingress_namespaces` only; `none` lets in everything.
         */
        isolation?: "namespace" | "none" | undefined;
      };
    };
    answer: Project;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Limit a path for a tier; superuser only. `POST /tier/{tier_name}/rate_limit` */
  createRateLimit: {
    input: {
      tier_name: string;
      body: {
        /** Relative to the base URL. A slash is put before a path that begins with none. */
        path: string;
        /** Requests. */
        limit: number;
        /** Seconds. */
        period: number;
        name?: string | undefined;
      };
    };
    answer: RateLimit;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Create a stack template. `POST /stack-templates` */
  createStackTemplate: {
    input: {
      body: {
        name: string;
        version?: string | undefined;
        /**
         * Who sees it: whoever has a role in its project; on its cluster or in any project there; members;
         * everyone.
         */
        scope?: "project" | "cluster" | "organization" | "global" | undefined;
        description?: string | null | undefined;
        icon?: TemplateIcon | undefined;
        tags?: TemplateTags | undefined;
        namespace: string;
        parameters?: readonly TemplateParameter[] | undefined;
        /** As those of an app. "${name}" anywhere in a value stands for the parameter, "$${" for itself. */
        components: readonly TemplateComponent[];
        /** Else the organization of the project with that namespace, else the only one you belong to. */
        org_id?: string | undefined;
        /** The project of a template of scope `project`. Else the only one with that namespace that you can see. */
        project_id?: string | undefined;
        /** The cluster of a template of scope `cluster`. Else that of the only project with that namespace. */
        cluster_id?: string | undefined;
      };
    };
    answer: StackTemplate;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Make a stack template of an app. `POST /stack-templates/from-app/{namespace}/{name}` */
  createStackTemplateFromApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      body: {
        name: string;
        version?: string | undefined;
        /**
         * Who sees it: whoever has a role in its project; on its cluster or in any project there; members;
         * everyone.
         */
        scope?: "project" | "cluster" | "organization" | "global" | undefined;
        description?: string | null | undefined;
        icon?: TemplateIcon | undefined;
        tags?: TemplateTags | undefined;
        /** Of scope `project`: the app's own project where left out. */
        project_id?: string | undefined;
        /** Of scope `cluster`: the app's own cluster where left out. */
        cluster_id?: string | undefined;
        preserve_export_refs?: boolean | undefined;
      };
    };
    answer: StackTemplate;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Make a stack template of a Helm chart. `POST /stack-templates/from-chart` */
  createStackTemplateFromChart: {
    input: {
      body: {
        name: string;
        version?: string | undefined;
        /**
         * Who sees it: whoever has a role in its project; on its cluster or in any project there; members;
         * everyone.
         */
        scope?: "project" | "cluster" | "organization" | "global" | undefined;
        description?: string | null | undefined;
        icon?: TemplateIcon | undefined;
        tags?: TemplateTags | undefined;
        namespace: string;
        /** Else the organization of the project with that namespace, else the only one you belong to. */
        org_id?: string | undefined;
        /** The project of a template of scope `project`. Else the only one with that namespace that you can see. */
        project_id?: string | undefined;
        /** The cluster of a template of scope `cluster`. Else that of the only project with that namespace. */
        cluster_id?: string | undefined;
        /** A Helm repository, `https://…`, or an OCI one, `oci://…`. `http://…` is for hosts on the allow-list. */
        repo: string;
        chart: string;
        /** The newest stable one where left out. */
        chart_version?: string | undefined;
        parameters?: readonly {
          name: string;
          /** That of the chart's own value where left out. */
          type?: "string" | "integer" | "number" | "boolean" | "select" | "secret" | undefined;
          description?: string | undefined;
          required?: boolean | undefined;
          default?: string | number | boolean | undefined;
          /** What a `select` offers. */
          options?: readonly (string | number | boolean)[] | undefined;
          /** For text, in the syntax of RE2. */
          pattern?: string | undefined;
          /** The least number, or the shortest length of text. */
          min?: number | undefined;
          /** The greatest number, or the longest length of text. */
          max?: number | undefined;
          /** Makes the value where none is given. */
          generator?: "random_password" | "random_hex" | "uuid" | undefined;
          /** The way to the value, with dots. */
          path: string;
        }[] | undefined;
      };
    };
    answer: StackTemplate;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 502 | 503;
  };
  /** Check a stack template that is written in YAML, or create it. `POST /stack-templates/from-yaml` */
  createStackTemplateFromYaml: {
    input: {
      body: {
        /** The file. */
        file?: string | Blob | undefined;
        /** The same, as text. */
        yaml_content?: string | undefined;
        create?: boolean | undefined;
        namespace?: string | undefined;
        /** Else the organization of the project with that namespace, else the only one you belong to. */
        org_id?: string | undefined;
        /** The project of a template of scope `project`. Else the only one with that namespace that you can see. */
        project_id?: string | undefined;
        /** The cluster of a template of scope `cluster`. Else that of the only project with that namespace. */
        cluster_id?: string | undefined;
      };
    };
    answer: StackTemplateReading | StackTemplate;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Queue a task; limited per caller by the caller's tier. `POST /tasks/task` */
  createTask: {
    input: {
      body: {
        kind: "ping" | "resync_cluster";
        payload?: {
          [key: string]: unknown;
        } | undefined;
      };
    };
    answer: TaskCreated;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Create a user; by a superuser or an administrator of any organization. `POST /user` */
  createUser: {
    input: {
      body: {
        name: string;
        username: string;
        email: string;
        password: string;
        profile_image_url?: string | undefined;
      };
    };
    answer: User;
    failures: 400 | 401 | 403 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Approve or deny a device by the code it shows. `POST /auth/cli/device/approval` */
  decideDeviceLogin: {
    input: {
      body: {
        user_code: string;
        approved: boolean;
      };
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Delete an addon instance; project editor. `DELETE /addon-instances/{id}` */
  deleteAddonInstance: {
    input: {
      id: string;
    };
    answer: null;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** Delete an app and its components. `DELETE /apps/{namespace}/{name}` */
  deleteApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: null;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Delete the credentials of a private chart repository; org admin. `DELETE
   * /orgs/{id}/chart-repositories/{repository_id}`
   */
  deleteChartRepository: {
    input: {
      id: string;
      repository_id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Revoke one of your CLI tokens; a superuser revokes anybody's. `DELETE /cli-tokens/{id}` */
  deleteCliToken: {
    input: {
      id: string;
      /** Whose; your own unless given. Only superusers may name somebody else. */
      user_id?: string | undefined;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Delete a cluster; org admin. `DELETE /clusters/{id}` */
  deleteCluster: {
    input: {
      id: string;
      /**
       * The dry run whose plan was looked at. The job fails as `plan_changed` before anything is changed where it
       * would change anything else; 409 where that is known already.
       */
      plan_job_id?: string | undefined;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Remove one secret of a component. `DELETE /apps/{namespace}/{name}/components/{component}/secrets/{key}` */
  deleteComponentSecret: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      component: string;
      key: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: null;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Delete a cloud credential; org admin. `DELETE /credentials/{id}` */
  deleteCredential: {
    input: {
      id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Delete an organization; superuser only. `DELETE /orgs/{id}` */
  deleteOrg: {
    input: {
      id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Delete a project with its apps and addon instances; org admin. `DELETE /projects/{id}` */
  deleteProject: {
    input: {
      id: string;
    };
    answer: Project;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Lift one limit; superuser only. `DELETE /tier/{tier_name}/rate_limit/{id}` */
  deleteRateLimit: {
    input: {
      tier_name: string;
      id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Delete a stack template. `DELETE /stack-templates/{namespace}/{name}` */
  deleteStackTemplate: {
    input: {
      namespace: string;
      name: string;
      /** Whose template is meant, where several organizations have one of this name. */
      org_id?: string | undefined;
    };
    answer: null;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Delete your own record. `DELETE /user/{id}` */
  deleteUser: {
    input: {
      id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Make an app of a stack template. `POST /stack-templates/{namespace}/{name}/deploy` */
  deployStackTemplate: {
    input: {
      namespace: string;
      name: string;
      /** Whose template is meant, where several organizations have one of this name. */
      org_id?: string | undefined;
      body: {
        project_id: string;
        /** Of the app; a taken one is a 409 `name_taken`. */
        name?: string | undefined;
        parameters?: {
          [key: string]: unknown;
        } | undefined;
        /** Seconds. */
        timeout?: number | undefined;
      };
    };
    answer: StackTemplateDeployment;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 502 | 503;
  };
  /**
   * Take the injected export_ref out of every component. `DELETE
   * /apps/{namespace}/{name}/attach-addon/{addon_instance_id}`
   */
  detachAddon: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      addon_instance_id: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: null;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Let a cluster of your own go without deleting what runs; org admin. `POST /clusters/{id}/detach` */
  detachCluster: {
    input: {
      id: string;
      body: {
        /** The cluster's name, as a confirmation. */
        name: string;
      };
    };
    answer: DetachingCluster;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Remove an image pull secret of a cluster. `DELETE /clusters/{id}/registry-secrets/{secret_id}` */
  detachClusterRegistrySecret: {
    input: {
      id: string;
      secret_id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Remove an image pull secret of a project. `DELETE /projects/{id}/registry-secrets/{secret_id}` */
  detachProjectRegistrySecret: {
    input: {
      id: string;
      secret_id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Compare two bundles. `GET /bundles/{version}/diff/{other}` */
  diffBundles: {
    input: {
      version: string;
      other: string;
    };
    answer: BundleDiff;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Compare the specifications of two deployments of an app, field by field. `GET
   * /apps/{namespace}/{name}/deployments/{deployment_id}/diff`
   */
  diffDeployments: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      deployment_id: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** The deployment of the same app to compare with. */
      against: string;
    };
    answer: DeploymentDiff;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** End one of your sessions; a superuser ends anybody's. `DELETE /sessions/{id}` */
  endSession: {
    input: {
      id: string;
      /** Whose; your own unless given. Only superusers may name somebody else. */
      user_id?: string | undefined;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Run a command in a container of a component, over a WebSocket; project editor. `GET
   * /apps/{namespace}/{name}/components/{component}/exec`
   */
  execComponent: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      component: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** One of the component's pods; without it, one that runs. */
      pod?: string | undefined;
      /** Without it, the first of the pod, or the one that the pod names for it. */
      container?: string | undefined;
      /** Given once for each word; only the first may not be empty. It is in the audit log. */
      command?: readonly string[] | undefined;
      /** With a terminal. */
      tty?: boolean | undefined;
      cols?: number | undefined;
      rows?: number | undefined;
    };
    answer: never;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 421 | 422 | 426 | 429 | 431 | 500 | 502 | 503 | 504;
  };
  /** Read the whole audit log of a time, to keep it elsewhere; org admin. `GET /orgs/{org_id}/audit-log/export` */
  exportAuditLog: {
    input: {
      org_id: string;
      /** Only what follows this entry: the `next_cursor` of an answer, or an entry's id. */
      cursor?: string | undefined;
      /** Only from this time on. */
      since?: string | undefined;
      /** Only before this time. */
      until?: string | undefined;
    };
    answer: AuditEntryExport;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Read an addon of the catalog. `GET /addon-definitions/{id}` */
  getAddonDefinition: {
    input: {
      id: string;
    };
    answer: AddonDefinition;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read an addon instance. `GET /addon-instances/{id}` */
  getAddonInstance: {
    input: {
      id: string;
    };
    answer: AddonInstance;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read an app: its components, phase and drift. `GET /apps/{namespace}/{name}` */
  getApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: App;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read series of the app, its components and the cluster's capacity. `GET /apps/{namespace}/{name}/metrics` */
  getAppMetrics: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** How far back, as `90s`, `15m`, `1h`, `7d` or `2w`: from one minute to 30 days. */
      range?: string | undefined;
    };
    answer: Metrics;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** Read the objects of an app in the cluster, as a tree. `GET /apps/{namespace}/{name}/resources` */
  getAppResources: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: AppResources;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** Read a bundle's manifest. `GET /bundles/{version}` */
  getBundle: {
    input: {
      version: string;
    };
    answer: BundleManifest;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a private chart repository, without its password. `GET /orgs/{id}/chart-repositories/{repository_id}` */
  getChartRepository: {
    input: {
      id: string;
      repository_id: string;
    };
    answer: ChartRepository;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a cluster: its details, status and last known capacity. `GET /clusters/{id}` */
  getCluster: {
    input: {
      id: string;
    };
    answer: Cluster;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read which bundle and profiles are installed, and the install journal. `GET /clusters/{id}/bundle` */
  getClusterBundle: {
    input: {
      id: string;
    };
    answer: BundleRecord;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read how far the desired state of a cluster has been written to Git. `GET /clusters/{id}/gitops` */
  getClusterGitops: {
    input: {
      id: string;
    };
    answer: ClusterGitops;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read the cluster's capacity over time. `GET /clusters/{id}/metrics` */
  getClusterMetrics: {
    input: {
      id: string;
      /** How far back, as `90s`, `15m`, `1h`, `7d` or `2w`: from one minute to 30 days. */
      range?: string | undefined;
    };
    answer: Metrics;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** Read what holds for every project of a cluster. `GET /clusters/{id}/settings` */
  getClusterSettings: {
    input: {
      id: string;
    };
    answer: ClusterSettings;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a run: whether it has ended, and with which exit code. `GET /apps/{namespace}/{name}/runs/{run_id}` */
  getComponentRun: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      run_id: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: ComponentRun;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** Read a cloud credential, without its secret; org admin. `GET /credentials/{id}` */
  getCredential: {
    input: {
      id: string;
    };
    answer: Credential;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a deployment: how it has ended, and why. `GET /apps/{namespace}/{name}/deployments/{deployment_id}` */
  getDeployment: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      deployment_id: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: Deployment;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read what asks for approval, before approving it. `GET /auth/cli/device/{user_code}` */
  getDeviceLogin: {
    input: {
      user_code: string;
    };
    answer: PendingDeviceLogin;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /**
   * Read all clusters of an organization at once, by name, with the little that a map shows. `GET
   * /orgs/{org_id}/fleet`
   */
  getFleet: {
    input: {
      org_id: string;
      /** The `next_cursor` of an answer, for what follows it. */
      cursor?: string | undefined;
    };
    answer: FleetClusterList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Removed; always 410. `GET /clusters/{id}/install-command` */
  getInstallCommand: {
    input: {
      id: string;
    };
    answer: never;
    failures: 400 | 401 | 403 | 408 | 410 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read how the cluster is connected, without any secret. `GET /clusters/{id}/install-instructions` */
  getInstallInstructions: {
    input: {
      id: string;
    };
    answer: InstallInstructions;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read your profile, organizations and role bindings. `GET /user/me` */
  getMe: {
    input: Record<never, never>;
    answer: Me;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read your memberships and role bindings with the places they hold in. `GET /user/me/access` */
  getMyAccess: {
    input: Record<never, never>;
    answer: MyAccess;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read an upgrade of operators, with its clusters; org admin. `GET /orgs/{org_id}/operator-upgrades/{id}` */
  getOperatorUpgrade: {
    input: {
      org_id: string;
      id: string;
    };
    answer: OperatorUpgrade;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read an organization. `GET /orgs/{id}` */
  getOrg: {
    input: {
      id: string;
    };
    answer: Organization;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Count what you can see of an organization, and list what needs attention. `GET /orgs/{id}/overview` */
  getOrgOverview: {
    input: {
      id: string;
    };
    answer: OrgOverview;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Read an organization's settings. `GET /org/settings` */
  getOrgSettings: {
    input: {
      org_id: string;
    };
    answer: OrgSettingsRecord;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a project. `GET /projects/{id}` */
  getProject: {
    input: {
      id: string;
    };
    answer: Project;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read what fences a project's namespace. `GET /projects/{id}/policy` */
  getProjectPolicy: {
    input: {
      id: string;
    };
    answer: ProjectPolicy;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read the status and the current phase of a provisioning job. `GET /provisioning-jobs/{id}` */
  getProvisioningJob: {
    input: {
      id: string;
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read what Terraform and the bootstrap have printed. `GET /provisioning-jobs/{id}/logs` */
  getProvisioningLogs: {
    input: {
      id: string;
    };
    answer: {
      logs: string | null;
    };
    item: ProvisioningLogLine;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Read what a provisioning job adds, changes and removes. `GET /provisioning-jobs/{id}/plan` */
  getProvisioningPlan: {
    input: {
      id: string;
    };
    answer: ProvisioningPlan;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read one limit. `GET /tier/{tier_name}/rate_limit/{id}` */
  getRateLimit: {
    input: {
      tier_name: string;
      id: string;
    };
    answer: RateLimit;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Read all members of an organization with their roles on its clusters and projects; org admin. `GET
   * /orgs/{id}/role-matrix`
   */
  getRoleMatrix: {
    input: {
      id: string;
      /** The `next_cursor` of an answer, for what follows it. */
      cursor?: string | undefined;
    };
    answer: MatrixMemberList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /**
   * List the secrets that a project sees and where each is inherited from; keys, never values. `GET
   * /projects/{id}/secrets-overview`
   */
  getSecretsOverview: {
    input: {
      id: string;
      /** The `next_cursor` of an answer, for what follows it. */
      cursor?: string | undefined;
    };
    answer: VisibleSecretList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Read the private SSH key of a provisioned cluster's nodes; org admin. `GET /clusters/{id}/ssh-key` */
  getSshKey: {
    input: {
      id: string;
    };
    answer: SshKey;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a stack template with its parameters and components. `GET /stack-templates/{namespace}/{name}` */
  getStackTemplate: {
    input: {
      namespace: string;
      name: string;
      /** Whose template is meant, where several organizations have one of this name. */
      org_id?: string | undefined;
    };
    answer: StackTemplate;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read how the installation is. `GET /system/status` */
  getSystemStatus: {
    input: Record<never, never>;
    answer: SystemStatus;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a task of yours. `GET /tasks/task/{id}` */
  getTask: {
    input: {
      id: string;
    };
    answer: Task;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read a user. `GET /user/{id}` */
  getUser: {
    input: {
      id: string;
    };
    answer: User;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read the contract number and the build of the running control plane. `GET /version` */
  getVersion: {
    input: Record<never, never>;
    answer: Version;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Grant a member of the organization a role on a cluster and its projects. `POST /clusters/{id}/rbac` */
  grantClusterRole: {
    input: {
      id: string;
      body: RoleGrant;
    };
    answer: RoleBinding;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Grant a member of the organization a role on a project. `POST /projects/{id}/rbac` */
  grantProjectRole: {
    input: {
      id: string;
      body: RoleGrant;
    };
    answer: RoleBinding;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Look into a Helm chart: its values and their schema. `GET /stack-templates/inspect-chart` */
  inspectChart: {
    input: {
      /** A Helm repository, `https://…`, or an OCI one, `oci://…`. `http://…` is for hosts on the allow-list. */
      repo: string;
      name: string;
      /** The newest stable one where left out. */
      version?: string | undefined;
      /** Whose credentials are used; those of the only organization you belong to where left out. */
      org_id?: string | undefined;
    };
    answer: ChartInspection;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 502 | 503;
  };
  /** List the addons of the catalog, by name. `GET /addon-definitions` */
  listAddonDefinitions: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: AddonDefinitionPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the addon instances of a project or an organization, newest first. `GET /addon-instances` */
  listAddonInstances: {
    input: {
      org_id?: string | undefined;
      project_id?: string | undefined;
      /** Only those in one of these phases. */
      phase?: readonly ("pending" | "installing" | "ready" | "upgrading" | "degraded" | "failed" | "deleting")[] | undefined;
      /** Only those with this text in their name or namespace. Upper and lower case are the same. */
      search?: string | undefined;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: AddonInstanceListItemPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the revisions of an addon instance, newest first. `GET /addon-instances/{id}/revisions` */
  listAddonRevisions: {
    input: {
      id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: AddonRevisionPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Read what Kubernetes says about the objects of an app. `GET /apps/{namespace}/{name}/events` */
  listAppEvents: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: AppEvents;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** List the apps you can see, each with what an overview shows of it. `GET /app-summaries` */
  listAppSummaries: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Only those of this organization. */
      org_id?: string | undefined;
      /** Only those of this project. */
      project_id?: string | undefined;
      /** Only those on this cluster. */
      cluster_id?: string | undefined;
      /** Only those in one of these phases. */
      phase?: readonly ("pending" | "deploying" | "running" | "degraded" | "failed" | "invalid" | "paused" | "deleting")[] | undefined;
      /** Only those in this drift state. */
      drift?: "unknown" | "in_sync" | "drifted" | "blocked_sync" | undefined;
      /** Only those with this text in their name, namespace or an image. Upper and lower case are the same. */
      search?: string | undefined;
      /** `-` is descending. */
      sort?: "name" | "-name" | "phase" | "project" | "cluster" | "deployed_at" | "-deployed_at" | undefined;
    };
    answer: AppSummaryPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the apps you can see, newest first. `GET /apps` */
  listApps: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Only the apps of this project. */
      project_id?: string | undefined;
    };
    answer: AppListItemPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Read who changed what in the organization; org admin. `GET /orgs/{id}/audit-log` */
  listAuditLog: {
    input: {
      id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /**
       * The `next_cursor` of an answer, for what follows it, whatever was added meanwhile. `page` does not count
       * then.
       */
      cursor?: string | undefined;
      /** Only actions that begin like this: `app.` has all of apps. */
      action?: string | undefined;
      /** Only changes by this user. */
      actor_id?: string | undefined;
      /** Only of such resources. */
      resource_type?: string | undefined;
      /** Only of this resource. */
      resource_id?: string | undefined;
      /** Only from this time on. */
      since?: string | undefined;
      /** Only before this time. */
      until?: string | undefined;
    };
    answer: AuditEntryPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the export keys of the project's standalone addon instances. `GET /projects/{id}/available-exports` */
  listAvailableExports: {
    input: {
      id: string;
      /** The `next_cursor` of an answer, for what follows it. */
      cursor?: string | undefined;
    };
    answer: AvailableExportList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the platform bundles, oldest first. `GET /bundles` */
  listBundles: {
    input: Record<never, never>;
    answer: BundleSummaryList;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the private chart repositories of an organization, newest first. `GET /orgs/{id}/chart-repositories` */
  listChartRepositories: {
    input: {
      id: string;
    };
    answer: ChartRepositoryList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List your CLI tokens; a superuser lists anybody's. `GET /cli-tokens` */
  listCliTokens: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Whose; your own unless given. Only superusers may name somebody else. */
      user_id?: string | undefined;
    };
    answer: CliTokenPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /**
   * List the providers that clusters can be made at, with the fields of their credentials and their kinds of
   * machines. `GET /cloud-providers`
   */
  listCloudProviders: {
    input: Record<never, never>;
    answer: CloudProviderList;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the image pull secrets of a cluster. `GET /clusters/{id}/registry-secrets` */
  listClusterRegistrySecrets: {
    input: {
      id: string;
    };
    answer: RegistrySecretList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the roles granted on a cluster. `GET /clusters/{id}/rbac` */
  listClusterRoles: {
    input: {
      id: string;
      /** The `next_cursor` of an answer, for what follows it. */
      cursor?: string | undefined;
    };
    answer: RoleBindingList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List an organization's clusters, newest first. `GET /orgs/{org_id}/clusters` */
  listClusters: {
    input: {
      org_id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Only those in one of these states. */
      status?: readonly ("pending" | "provisioning" | "awaiting_operator" | "connected" | "disconnected" | "installing" | "install_failed" | "abandoned" | "detaching" | "destroying" | "error")[] | undefined;
      /** Only those with this text in their name. Upper and lower case are the same. */
      search?: string | undefined;
    };
    answer: ClusterPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the keys of a component's secrets. `GET /apps/{namespace}/{name}/components/{component}/secrets` */
  listComponentSecrets: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      component: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: ComponentSecretList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List an organization's cloud credentials, newest first; org admin. `GET /orgs/{id}/credentials` */
  listCredentials: {
    input: {
      id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: CredentialPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List what was done to an app, newest first. `GET /apps/{namespace}/{name}/deployments` */
  listDeployments: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: DeploymentListItemPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /**
   * List the image pull secrets that apply in a project, and where each is inherited from. `GET
   * /projects/{id}/effective-registry-secrets`
   */
  listEffectiveRegistrySecrets: {
    input: {
      id: string;
    };
    answer: EffectiveRegistrySecretList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List an organization's members with their roles. `GET /orgs/{id}/members` */
  listMembers: {
    input: {
      id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: MemberPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the upgrades of operators, newest first; org admin. `GET /orgs/{org_id}/operator-upgrades` */
  listOperatorUpgrades: {
    input: {
      org_id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: OperatorUpgradeSummaryPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the organizations you belong to. `GET /orgs` */
  listOrgs: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** All organizations there are; for superusers only. */
      all?: boolean | undefined;
    };
    answer: OrganizationPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the apps of a project, newest first. `GET /projects/{id}/apps` */
  listProjectApps: {
    input: {
      id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: AppListItemPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the image pull secrets of a project itself. `GET /projects/{id}/registry-secrets` */
  listProjectRegistrySecrets: {
    input: {
      id: string;
    };
    answer: RegistrySecretList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the roles granted on a project itself. `GET /projects/{id}/rbac` */
  listProjectRoles: {
    input: {
      id: string;
      /** The `next_cursor` of an answer, for what follows it. */
      cursor?: string | undefined;
    };
    answer: RoleBindingList;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the projects you can see. `GET /projects` */
  listProjects: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Only those of this organization. */
      org_id?: string | undefined;
      /** Only those on this cluster. */
      cluster_id?: string | undefined;
      /** Only those in one of these states. */
      lifecycle?: readonly ("pending" | "ready" | "degraded" | "cleanup_pending" | "cleanup_degraded")[] | undefined;
      /** Only those with this text in their name. Upper and lower case are the same. */
      search?: string | undefined;
    };
    answer: ProjectPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List a cluster's provisioning jobs, newest first. `GET /clusters/{id}/provisioning-jobs` */
  listProvisioningJobs: {
    input: {
      id: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: ProvisioningJobPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List a tier's limits. `GET /tier/{tier_name}/rate_limits` */
  listRateLimits: {
    input: {
      tier_name: string;
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
    };
    answer: RateLimitPage;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List your sessions that are open; a superuser lists anybody's. `GET /sessions` */
  listSessions: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Whose; your own unless given. Only superusers may name somebody else. */
      user_id?: string | undefined;
    };
    answer: SessionPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the stack templates that you can see. `GET /stack-templates` */
  listStackTemplates: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      namespace?: string | undefined;
      /**
       * Who sees it: whoever has a role in its project; on its cluster or in any project there; members;
       * everyone.
       */
      scope?: "project" | "cluster" | "organization" | "global" | undefined;
    };
    answer: StackTemplateSummaryPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List the tiers. `GET /tiers` */
  listTiers: {
    input: Record<never, never>;
    answer: TierList;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** List users: all for a superuser, otherwise those who share an organization with you. `GET /users` */
  listUsers: {
    input: {
      /** From 1. */
      page?: number | undefined;
      items_per_page?: number | undefined;
      /** The `next_cursor` of an answer, for what follows it. `page` does not count then. */
      cursor?: string | undefined;
      /** Only those with this text in their name, username or email address. Upper and lower case are the same. */
      search?: string | undefined;
    };
    answer: UserPage;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Sign in with a username or an email address, and a password. `POST /login` */
  login: {
    input: {
      body: {
        username: string;
        password: string;
        /** OAuth2 password flow; ignored. */
        grant_type?: string | undefined;
        /** OAuth2 password flow; ignored. */
        scope?: string | undefined;
        /** OAuth2 password flow; ignored. */
        client_id?: string | undefined;
        /** OAuth2 password flow; ignored. */
        client_secret?: string | undefined;
      };
    };
    answer: AccessToken;
    failures: 400 | 401 | 403 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** End the session: refuse both tokens from now on and clear the cookie. `POST /logout` */
  logout: {
    input: Record<never, never>;
    answer: LoggedOut;
    failures: 400 | 401 | 403 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Set all workloads to 0 replicas and remember their counts. `POST /apps/{namespace}/{name}/pause` */
  pauseApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Plan a change of size, the replacement of a node or a destruction without making it; org admin. `POST
   * /clusters/{id}/plan`
   */
  planCluster: {
    input: {
      id: string;
      body: {
        action: "scale" | "replace" | "destroy";
        /** The control plane and its agents together. */
        desired_node_count?: number | undefined;
        node?: string | undefined;
      };
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read what would go with an addon instance; project editor. `GET /addon-instances/{id}/deletion-preview` */
  previewAddonInstanceDeletion: {
    input: {
      id: string;
    };
    answer: DeletionPreview;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Read what would go with an app, with one of its components, or with an attached addon; project editor. `GET
   * /apps/{namespace}/{name}/deletion-preview`
   */
  previewAppDeletion: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** Only this component is removed. */
      component?: string | undefined;
      /** Only this addon instance is detached; not together with `component`. */
      addon_instance_id?: string | undefined;
    };
    answer: DeletionPreview;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Read what an upgrade of all operators would upgrade now; org admin. `GET
   * /orgs/{org_id}/operator-upgrade-preview`
   */
  previewOperatorUpgrade: {
    input: {
      org_id: string;
    };
    answer: OperatorUpgradePreview;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Read what would go with a project; org admin. `GET /projects/{id}/deletion-preview` */
  previewProjectDeletion: {
    input: {
      id: string;
    };
    answer: DeletionPreview;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 431 | 500 | 503;
  };
  /** Record which bundle and profiles are installed. `PUT /clusters/{id}/bundle` */
  recordClusterBundle: {
    input: {
      id: string;
      body: WrittenBundleRecord;
    };
    answer: BundleRecord;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Refresh and apply again what is recorded. `POST /apps/{namespace}/{name}/redeploy` */
  redeployApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      body?: {
        force?: boolean | undefined;
      } | undefined;
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Exchange the refresh cookie for a new access token. `POST /refresh` */
  refreshAccessToken: {
    input: Record<never, never>;
    answer: AccessToken;
    failures: 400 | 401 | 403 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Remove a member and all the roles granted to them in the organization; org admin. `DELETE
   * /orgs/{id}/members/{user_id}`
   */
  removeMember: {
    input: {
      id: string;
      user_id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Replace a user's role on a cluster. `PUT /clusters/{id}/rbac` */
  replaceClusterRole: {
    input: {
      id: string;
      body: RoleGrant;
    };
    answer: RoleBinding;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Give a node of a provisioned cluster a new machine; org admin. `POST /clusters/{id}/nodes/{name}/replace` */
  replaceNode: {
    input: {
      id: string;
      name: string;
      body: {
        /**
         * Takes nodes away although the data of their local volumes is lost, or although it is not known whether
         * they have any.
         */
        force?: boolean | undefined;
        /**
         * The dry run whose plan was looked at. The job fails as `plan_changed` before anything is changed where
         * it would change anything else; 409 where that is known already.
         */
        plan_job_id?: string | undefined;
      };
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Replace a user's role on a project. `PUT /projects/{id}/rbac` */
  replaceProjectRole: {
    input: {
      id: string;
      body: RoleGrant;
    };
    answer: RoleBinding;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Report that a stage of an install or upgrade has started, completed or failed. `POST
   * /clusters/{id}/install-events`
   */
  reportInstallEvent: {
    input: {
      id: string;
      body: InstallEvent;
    };
    answer: JournalEntry;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Report how far a new machine has come, with the next lines of its log. `POST /node-reports` */
  reportNode: {
    input: {
      body: {
        cluster_id: string;
        node: string;
        token: string;
        /** The step that it is in. */
        stage: "secrets" | "install" | "configure" | "start" | "join" | "ready";
        /** `completed` once it is a node of the cluster; `failed` where the step has failed. */
        status: "running" | "completed" | "failed";
        /** Why it has failed. */
        message?: string | undefined;
        /** The number of lines before these. */
        first_line: number;
        lines: readonly string[];
      };
    };
    answer: {
      /** The number of lines that were received so far. */
      next_line: number;
    };
    failures: 400 | 401 | 408 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Restore the counts of before the pause. `POST /apps/{namespace}/{name}/resume` */
  resumeApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Run a failed provisioning job again; org admin. `POST /provisioning-jobs/{id}/retry` */
  retryProvisioningJob: {
    input: {
      id: string;
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Revoke a role on a cluster. `DELETE /clusters/{id}/rbac` */
  revokeClusterRole: {
    input: {
      id: string;
      /** The binding to revoke. */
      binding_id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Revoke the CLI token that this request presents, whatever its scopes. `DELETE /cli-tokens/self` */
  revokePresentedCliToken: {
    input: Record<never, never>;
    answer: null;
    failures: 400 | 401 | 403 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Revoke a role on a project. `DELETE /projects/{id}/rbac` */
  revokeProjectRole: {
    input: {
      id: string;
      /** The binding to revoke. */
      binding_id: string;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Bring back the values and the chart version of a revision; project editor. `POST
   * /addon-instances/{id}/rollback`
   */
  rollBackAddonInstance: {
    input: {
      id: string;
      body: {
        revision_number?: number | undefined;
        revision_id?: string | undefined;
        /**
         * Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it
         * that is a 409 `stateful_downgrade`.
         */
        allow_downgrade?: boolean | undefined;
      };
    };
    answer: AddonInstance;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Restore the specification of an earlier deployment, as a new revision. `POST
   * /apps/{namespace}/{name}/rollback`
   */
  rollbackApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      body: {
        deployment_id?: string | undefined;
        /** -1 is the one before the current. */
        revision?: number | undefined;
        /**
         * Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it
         * that is a 409 `stateful_downgrade`.
         */
        allow_downgrade?: boolean | undefined;
      };
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Restore the specification of this deployment, as a new revision. `POST
   * /apps/{namespace}/{name}/deployments/{deployment_id}/rollback`
   */
  rollbackToDeployment: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      deployment_id: string;
      /** The project that the app belongs to. */
      project_id: string;
      body?: {
        /**
         * Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it
         * that is a 409 `stateful_downgrade`.
         */
        allow_downgrade?: boolean | undefined;
      } | undefined;
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Revoke every earlier agent JWT and mint a new one. `POST /clusters/{id}/rotate-token` */
  rotateClusterToken: {
    input: {
      id: string;
    };
    answer: RotatedToken;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Run the image of a workload once, with another command if you like; project editor. `POST
   * /apps/{namespace}/{name}/components/{component}/run`
   */
  runComponent: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      component: string;
      /** The project that the app belongs to. */
      project_id: string;
      body?: {
        command?: readonly string[] | undefined;
        args?: readonly string[] | undefined;
        env?: readonly {
          name: string;
          value: string;
        }[] | undefined;
      } | undefined;
    };
    answer: ComponentRun;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 502 | 503 | 504;
  };
  /** Set how many replicas a component runs. `POST /apps/{namespace}/{name}/scale` */
  scaleApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      body: {
        component_name: string;
        replicas: number;
      };
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change the number of a provisioned cluster's nodes; org admin. `POST /clusters/{id}/scale` */
  scaleCluster: {
    input: {
      id: string;
      body: {
        /** The control plane and its agents together. */
        desired_node_count: number;
        /**
         * Takes nodes away although the data of their local volumes is lost, or although it is not known whether
         * they have any.
         */
        force?: boolean | undefined;
        /**
         * The dry run whose plan was looked at. The job fails as `plan_changed` before anything is changed where
         * it would change anything else; 409 where that is known already.
         */
        plan_job_id?: string | undefined;
      };
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Find what you can see by a part of its name. `GET /search` */
  search: {
    input: {
      /** A part of the name. Upper and lower case are the same. */
      q: string;
      /** Only in this organization, and global stack templates. */
      org_id?: string | undefined;
    };
    answer: SearchResults;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Disable or enable a user; superuser only. `PATCH /user/{id}/disabled` */
  setUserDisabled: {
    input: {
      id: string;
      body: {
        disabled: boolean;
      };
    };
    answer: User;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Move a user to another tier; superuser only. `PATCH /user/{id}/tier` */
  setUserTier: {
    input: {
      id: string;
      body: {
        tier: string;
      };
    };
    answer: User;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Begin a device login (RFC 8628): get a code for a person to approve. `POST /auth/cli/device` */
  startDeviceLogin: {
    input: {
      body: {
        client_name: string;
        kind?: "token" | "session" | undefined;
        /**
         * `read` is every read that you may make, without secret values; `write` is every change that you may
         * make, and no read. Neither is for accounts, sessions, tokens, members, roles and credentials.
         */
        requested_scopes?: readonly ("bundles:read" | "clusters:read" | "clusters:register" | "install:report" | "read" | "write")[] | undefined;
        /** Binds the token to this organization: everything else is a 404 for it. */
        org_id?: string | undefined;
        /** Binds the token to this project: everything else is a 404 for it. */
        project_id?: string | undefined;
      };
    };
    answer: DeviceLogin;
    failures: 400 | 408 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /**
   * Upgrade the operators of clusters to the version of the control plane; org admin. `POST
   * /orgs/{org_id}/operator-upgrades`
   */
  startOperatorUpgrade: {
    input: {
      org_id: string;
      body?: {
        /** All, where it is left out. */
        cluster_ids?: readonly string[] | undefined;
        /** How many at a time. */
        batch_size?: number | undefined;
        /** Begin no more after a failure. */
        stop_on_failure?: boolean | undefined;
      } | undefined;
    };
    answer: OperatorUpgrade;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Follow the logs of an app. `GET /apps/{namespace}/{name}/logs` */
  streamAppLogs: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      component?: string | undefined;
      /** Of each container, at first. */
      tail_lines?: number | undefined;
      /** No older lines. */
      since_seconds?: number | undefined;
      /** Stay and send new lines; else end after those there are. */
      follow?: boolean | undefined;
      /** The log of each container's run before the current one, as after a crash; nothing is followed then. */
      previous?: boolean | undefined;
    };
    answer: never;
    item: unknown;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 502 | 503 | 504;
  };
  /** Follow the logs of one component. `GET /apps/{namespace}/{name}/components/{component}/logs/stream` */
  streamComponentLogs: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      component: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** Of each container, at first. */
      tail_lines?: number | undefined;
      /** No older lines. */
      since_seconds?: number | undefined;
      /** Stay and send new lines; else end after those there are. */
      follow?: boolean | undefined;
      /** The log of each container's run before the current one, as after a crash; nothing is followed then. */
      previous?: boolean | undefined;
    };
    answer: never;
    item: unknown;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 502 | 503 | 504;
  };
  /** Follow what happens, as server-sent events. `GET /events/stream` */
  streamEvents: {
    input: {
      /** Only events of this cluster. */
      cluster_id?: string | undefined;
      /** Only events of this project. */
      project_id?: string | undefined;
      /** Only events of this workload. */
      workload_id?: string | undefined;
      /** Only events about resources of this kind. */
      resource_type?: "cluster" | "project" | "workload" | "build" | "addon" | "app" | "activity" | "all" | undefined;
      /**
       * Gives the frames an `id`. Connect again with `resumable=true` and the last of them as `Last-Event-ID`, to
       * any server: you get what you have missed.
       */
      resumable?: boolean | undefined;
    };
    answer: never;
    item: Event;
    failures: 400 | 401 | 403 | 408 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Follow the logs of a run. `GET /apps/{namespace}/{name}/runs/{run_id}/logs` */
  streamRunLogs: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      run_id: string;
      /** The project that the app belongs to. */
      project_id: string;
      /** Of each container, at first. */
      tail_lines?: number | undefined;
      /** No older lines. */
      since_seconds?: number | undefined;
      /** Stay and send new lines; else end after those there are. */
      follow?: boolean | undefined;
      /** The log of each container's run before the current one, as after a crash; nothing is followed then. */
      previous?: boolean | undefined;
    };
    answer: never;
    item: unknown;
    failures: 400 | 401 | 403 | 404 | 408 | 421 | 422 | 429 | 431 | 500 | 502 | 503 | 504;
  };
  /** Keep the operator from touching an app, whoever deploys meanwhile. `POST /apps/{namespace}/{name}/suspend` */
  suspendApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      body?: {
        /** Why, for whoever finds it suspended. No place for secrets: viewers read it. */
        reason?: string | undefined;
      } | undefined;
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Keep the operator from touching anything on a cluster; admin of the cluster. `POST /clusters/{id}/suspend` */
  suspendCluster: {
    input: {
      id: string;
      body?: {
        /** Why, for whoever finds it suspended. No place for secrets: viewers read it. */
        reason?: string | undefined;
      } | undefined;
    };
    answer: Cluster;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Keep the operator from touching anything in a project; admin of the project. `POST /projects/{id}/suspend` */
  suspendProject: {
    input: {
      id: string;
      body?: {
        /** Why, for whoever finds it suspended. No place for secrets: viewers read it. */
        reason?: string | undefined;
      } | undefined;
    };
    answer: Project;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Test the Git host of an organization; org admin. `POST /orgs/{id}/gitops/test` */
  testGitops: {
    input: {
      id: string;
      body?: {
        gitops?: GitopsInput | undefined;
      } | undefined;
    };
    answer: GitopsTest;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** End the suspension of an app and apply what was stored meanwhile. `POST /apps/{namespace}/{name}/unsuspend` */
  unsuspendApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * End the suspension of a cluster and apply what was stored meanwhile; admin of the cluster. `POST
   * /clusters/{id}/unsuspend`
   */
  unsuspendCluster: {
    input: {
      id: string;
    };
    answer: Cluster;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * End the suspension of a project and apply what was stored meanwhile; admin of the project. `POST
   * /projects/{id}/unsuspend`
   */
  unsuspendProject: {
    input: {
      id: string;
    };
    answer: Project;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change the values or the chart version of an addon instance; project editor. `PATCH /addon-instances/{id}` */
  updateAddonInstance: {
    input: {
      id: string;
      body: {
        /** Laid over the definition's default values. */
        values?: {
          [key: string]: unknown;
        } | undefined;
        /** One of the versions that the definition offers. */
        chart_version?: string | undefined;
        notes?: string | null | undefined;
        /**
         * Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it
         * that is a 409 `stateful_downgrade`.
         */
        allow_downgrade?: boolean | undefined;
      };
    };
    answer: AddonInstance;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Add, remove and patch components; all or nothing. `PATCH /apps/{namespace}/{name}` */
  updateApp: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      /** The project that the app belongs to. */
      project_id: string;
      /**
       * Makes every check and changes nothing: the answer is the app as it would be, without an `ETag`, or the
       * refusal. It leaves no audit entry, revision or event.
       */
      dry_run?: boolean | undefined;
      body: {
        components?: readonly ComponentChange[] | undefined;
        description?: string | null | undefined;
      };
    };
    answer: App;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change a private chart repository; org admin. `PATCH /orgs/{id}/chart-repositories/{repository_id}` */
  updateChartRepository: {
    input: {
      id: string;
      repository_id: string;
      body: {
        name?: string | undefined;
        /**
         * A Helm repository or an OCI registry, or a path of it. The credentials are presented at this host
         * alone, for charts at this address and below; of several addresses the longest counts. `http://` is for
         * hosts on the allow-list.
         */
        url?: string | undefined;
        username?: string | undefined;
        /** Written and never read back. */
        password?: string | undefined;
      };
    };
    answer: ChartRepository;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change a cluster's name and description. `PATCH /clusters/{id}` */
  updateCluster: {
    input: {
      id: string;
      body: {
        name?: string | undefined;
        description?: string | null | undefined;
      };
    };
    answer: Cluster;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change what holds for every project of a cluster; org admin. `PATCH /clusters/{id}/settings` */
  updateClusterSettings: {
    input: {
      id: string;
      body: {
        /** A level of the Pod Security Standards. The API server refuses pods that violate it. */
        pod_security?: "privileged" | "baseline" | "restricted" | undefined;
        /**
         * Namespaces whose pods reach those of isolated projects: ingress controllers, and whatever scrapes
         * metrics.
         */
        ingress_namespaces?: readonly string[] | undefined;
        /** Charts that are installed with rights on the whole cluster instead of their project's alone. */
        cluster_wide_charts?: readonly ClusterWideChart[] | undefined;
        /** Whether editors of projects may open a shell in containers. Switching it off ends open sessions. */
        exec_enabled?: boolean | undefined;
      };
    };
    answer: ClusterSettings;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Set secrets of a component; keys left out stay. `PATCH
   * /apps/{namespace}/{name}/components/{component}/secrets`
   */
  updateComponentSecrets: {
    input: {
      /** The project's Kubernetes namespace. */
      namespace: string;
      name: string;
      component: string;
      /** The project that the app belongs to. */
      project_id: string;
      body: {
        [key: string]: string;
      };
    };
    answer: ComponentSecretList;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Rotate or rename a cloud credential; org admin. `PATCH /credentials/{id}` */
  updateCredential: {
    input: {
      id: string;
      body: {
        name?: string | undefined;
        region?: string | undefined;
        access_key_id?: string | undefined;
        /** Written and never read back. */
        secret_access_key?: string | undefined;
        role_arn?: string | undefined;
        snapshot_bucket?: string | undefined;
        permissions_boundary?: string | undefined;
      };
    };
    answer: Credential;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change an organization; org admin. `PUT /orgs/{id}` */
  updateOrg: {
    input: {
      id: string;
      body: {
        name: string;
        description?: string | null | undefined;
      };
    };
    answer: Organization;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change an organization's settings; org admin. `PATCH /org/settings` */
  updateOrgSettings: {
    input: {
      org_id: string;
      body: {
        settings: {
          drift_policy?: "heal" | "report" | null | undefined;
          gitops?: GitopsInput | null | undefined;
          [key: string]: unknown;
        };
      };
    };
    answer: OrgSettingsRecord;
    failures: 400 | 401 | 403 | 404 | 408 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Change what fences a project's namespace; project admin. `PATCH /projects/{id}/policy` */
  updateProjectPolicy: {
    input: {
      id: string;
      body: {
        /** The project's own level of the Pod Security Standards; null follows the cluster's. */
        pod_security?: "privileged" | "baseline" | "restricted" | null | undefined;
        /**
         * `namespace` lets in traffic from the project's own namespace and from the cluster's
         * `ingress_namespaces` only; `none` lets in everything.
         */
        isolation?: "namespace" | "none" | undefined;
      };
    };
    answer: ProjectPolicy;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change one limit; superuser only. `PATCH /tier/{tier_name}/rate_limit/{id}` */
  updateRateLimit: {
    input: {
      tier_name: string;
      id: string;
      body: {
        /** Relative to the base URL. A slash is put before a path that begins with none. */
        path?: string | undefined;
        /** Requests. */
        limit?: number | undefined;
        /** Seconds. */
        period?: number | undefined;
        name?: string | null | undefined;
      };
    };
    answer: RateLimit;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Change a stack template in place; its version stays. `PUT /stack-templates/{namespace}/{name}` */
  updateStackTemplate: {
    input: {
      namespace: string;
      name: string;
      /** Whose template is meant, where several organizations have one of this name. */
      org_id?: string | undefined;
      body: {
        description?: string | null | undefined;
        icon?: TemplateIcon | undefined;
        tags?: TemplateTags | undefined;
        parameters?: readonly TemplateParameter[] | undefined;
        /** As those of an app. "${name}" anywhere in a value stands for the parameter, "$${" for itself. */
        components?: readonly TemplateComponent[] | undefined;
      };
    };
    answer: StackTemplate;
    versioned: true;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 421 | 422 | 429 | 431 | 500 | 503;
  };
  /** Change your own record. `PATCH /user/{id}` */
  updateUser: {
    input: {
      id: string;
      body: {
        name?: string | undefined;
        username?: string | undefined;
        email?: string | undefined;
        profile_image_url?: string | null | undefined;
        password?: string | undefined;
        current_password?: string | undefined;
        /** With a new password only: leave the CLI tokens as they are. */
        keep_tokens?: boolean | undefined;
      };
    };
    answer: User;
    failures: 400 | 401 | 403 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /**
   * Bring a provisioned cluster to another release of k3s, machine by machine; org admin. `POST
   * /clusters/{id}/kubernetes-upgrade`
   */
  upgradeKubernetes: {
    input: {
      id: string;
      body: {
        release: string;
        /**
         * Takes nodes away although the data of their local volumes is lost, or although it is not known whether
         * they have any.
         */
        force?: boolean | undefined;
      };
    };
    answer: ProvisioningJob;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
  /** Confirm that a user's email address is theirs; superuser only. `POST /user/{id}/email-verification` */
  verifyUserEmail: {
    input: {
      id: string;
      body?: {
        email?: string | undefined;
      } | undefined;
    };
    answer: null;
    failures: 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 431 | 500 | 503;
  };
}
