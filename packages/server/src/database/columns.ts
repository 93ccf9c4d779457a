import type {
  AddonInstanceTable,
  AppDeploymentTable,
  AppTable,
  ClusterTable,
  StackTemplateTable,
} from "./fleet-tables.ts";

/**
 * The columns of tables in which a tenant or an operator can make some long. Statements that read many rows, or whose rows pass
 * where others wait, name the columns that they need.
 */
type Columns<T, Long extends keyof T> = Readonly<Record<Exclude<keyof T, Long>, true>>;
type Key<C> = Extract<keyof C, string>;

const namesOf = <C extends object>(columns: C) => Object.keys(columns) as Key<C>[];

const times = { created_at: true, updated_at: true } as const;
const places = { id: true, org_id: true, cluster_id: true, project_id: true, namespace: true, name: true } as const;
const states = {
  generation: true,
  phase: true,
  phase_since: true,
  phase_reason: true,
  phase_message: true,
  observed_generation: true,
  drift_state: true,
  drift_summary: true,
  drift_detected_at: true,
  reported_at: true,
} as const;

export const LONG_APP_COLUMNS = ["components", "component_statuses", "drift_fields", "drift_repairs"] as const;
const appColumns = {
  ...places,
  ...states,
  ...times,
  description: true,
  replicas_before_pause: true,
  revision: true,
  forced_generation: true,
} satisfies Columns<AppTable, (typeof LONG_APP_COLUMNS)[number]>;
export const SHORT_APP_COLUMNS = namesOf(appColumns);
export const APP_COLUMNS = [...SHORT_APP_COLUMNS, ...LONG_APP_COLUMNS];

export const LONG_ADDON_COLUMNS = ["values", "exports", "component_statuses", "drift_fields", "drift_repairs"] as const;
const addonColumns = {
  ...places,
  ...states,
  ...times,
  definition_id: true,
  chart_version: true,
  revision_number: true,
} satisfies Columns<AddonInstanceTable, (typeof LONG_ADDON_COLUMNS)[number]>;
export const SHORT_ADDON_COLUMNS = namesOf(addonColumns);

const clusterColumns = {
  ...times,
  id: true,
  org_id: true,
  name: true,
  description: true,
  provider: true,
  credential_id: true,
  region: true,
  instance_type: true,
  agent_count: true,
  disk_size_gb: true,
  token_version: true,
  token_floor: true,
  revision: true,
  first_connected_at: true,
  last_heartbeat: true,
  operator_version: true,
  kubernetes_version: true,
  node_count: true,
  capacity: true,
  stage: true,
  stage_status: true,
  stage_component: true,
  stage_at: true,
  bundle_version: true,
  profiles: true,
  ha_tier: true,
  sealed_ssh_key: true,
  ssh_public_key: true,
  sealed_join_token: true,
  deletion_requested_at: true,
  abandoned_at: true,
} satisfies Columns<ClusterTable, "install_journal" | "volume_group_ownership">;
export const SHORT_CLUSTER_COLUMNS = namesOf(clusterColumns);

/** A journal may be long. The status of a cluster depends on the stages in it, and only while this one is the last. */
export const journalOf = (row: string) => `case when ${row}.stage = 'record' then (
    select jsonb_agg(jsonb_build_object('stage', e -> 'stage', 'status', e -> 'status') order by place)
    from jsonb_array_elements(${row}.install_journal) with ordinality as entry (e, place)
  ) end`;

const deploymentColumns = {
  ...times,
  id: true,
  app_id: true,
  revision: true,
  generation: true,
  operation: true,
  status: true,
  message: true,
  created_by: true,
  deadline_at: true,
  finished_at: true,
  changed_secrets: true,
  changes: true,
  summary: true,
} satisfies Columns<AppDeploymentTable, "spec">;
export const LISTED_DEPLOYMENT_COLUMNS = namesOf(deploymentColumns);

const templateColumns = {
  ...times,
  id: true,
  org_id: true,
  project_id: true,
  cluster_id: true,
  namespace: true,
  name: true,
  version: true,
  scope: true,
  description: true,
  icon: true,
  tags: true,
  generation: true,
} satisfies Columns<StackTemplateTable, "components" | "parameters">;
export const LISTED_TEMPLATE_COLUMNS = namesOf(templateColumns);

/** The text of columns, of which `row` is the alias of the table. */
export const columnsOf = (row: string, columns: readonly string[]): string =>
  columns.map((column) => `${row}.${column}`).join(", ");

/** The parts of a row that its owner can make long. */
export interface Long {
  /** Each with its name. */
  readonly columns: Readonly<Record<string, string>>;
  readonly isLong: string;
}

/** As stored, which PostgreSQL knows without reading the value. What it compresses may be a hundred times as long. */
const LONG_FROM_BYTES = 4096;
export const longOf = (row: string, columns: readonly string[]): Long => ({
  columns: Object.fromEntries(columns.map((column) => [column, `${row}.${column}`])),
  isLong: `${columns.map((column) => `pg_column_size(${row}.${column})`).join(" + ")} > ${LONG_FROM_BYTES}`,
});
