import type { AddonInstanceTable, AppDeploymentTable, AppTable, ClusterTable, ProjectTable } from "./fleet-tables.ts";
import type { CloudCredentialTable, ProvisioningJobTable } from "./provisioning-tables.ts";
import type { OrgTable } from "./tables.ts";
import type { StackTemplateTable } from "./template-tables.ts";

/**
 * The columns of tables. Statements name the columns that they need: some are long, and a statement with `*` answers with other
 * columns once a newer version has added one.
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
  suspended_at: true,
  suspended_by: true,
  suspended_reason: true,
  suspension_reported: true,
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
  self_upgrade: true,
  suspends: true,
  detaches: true,
  suspended_at: true,
  suspended_by: true,
  suspended_reason: true,
  suspension_ended_at: true,
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
  sealed_agent_token: true,
  kubernetes_release: true,
  snapshot_bucket: true,
  deletion_requested_at: true,
  abandoned_at: true,
  detach_requested_at: true,
  detach_message: true,
  detach_asked_at: true,
} satisfies Columns<ClusterTable, "egress" | "install_journal" | "volume_group_ownership">;
export const SHORT_CLUSTER_COLUMNS = namesOf(clusterColumns);

/** A journal may be long. The status of a cluster depends on the stages in it, and only while this one is the last. */
export const journalOf = (row: string) => `case when ${row}.stage = 'record' then (
    select jsonb_agg(jsonb_build_object('stage', e -> 'stage', 'status', e -> 'status') order by place)
    from jsonb_array_elements(${row}.install_journal) with ordinality as entry (e, place)
  ) end`;

/** The newest upgrade of the operator that was started here, as an object. */
export const operatorUpgradeOf = (row: string) => `(
    select jsonb_build_object('upgrade_id', e.upgrade_id, 'phase', e.phase, 'from_version', e.from_version, 'to_version', u.to_version,
      'reason', e.reason, 'started_at', e.started_at, 'finished_at', e.finished_at)
    from operator_upgrade_clusters e join operator_upgrades u on u.id = e.upgrade_id
    where e.cluster_id = ${row}.id order by e.upgrade_id desc limit 1
  )`;

/** The text of the columns of `ClusterConnection`, of which `row` is the alias. Each is found by a primary key. */
export const connectionOf = (row: string) => `
  (select last_heartbeat from clusters where id = ${row}.cluster_id) as last_heartbeat,
  (select lease_until from cluster_sessions where cluster_id = ${row}.cluster_id) as session_lease_until`;

const suspensionOf = (scope: "project" | "cluster", row: string) => `jsonb_build_object('scope', '${scope}',
    'at', ${row}.suspended_at, 'by', ${row}.suspended_by, 'reason', ${row}.suspended_reason, 'reported', held_project.suspension_reported)`;

/** The text of the columns of `Holding`: the suspension of a project or else of its cluster. `projectId` and `clusterId` are their ids. */
export const holdingOf = (projectId: string, clusterId: string) => `
  (select suspends from clusters where id = ${clusterId}) as operator_suspends,
  (select case when held_project.suspended_at is not null then ${suspensionOf("project", "held_project")}
      when held_cluster.suspended_at is not null then ${suspensionOf("cluster", "held_cluster")} end
    from projects held_project join clusters held_cluster on held_cluster.id = held_project.cluster_id
    where held_project.id = ${projectId}) as surrounding_suspension`;

/** The same of `Surroundings`, for apps and addon instances. */
export const surroundingsOf = (row: string) => `${connectionOf(row)},
  (select lifecycle_reason from projects where id = ${row}.project_id) as project_reason,
  (select lifecycle_message from projects where id = ${row}.project_id) as project_message,
  ${holdingOf(`${row}.project_id`, `${row}.cluster_id`)}`;

/** Whether the operator has confirmed the suspension of a cluster: for all of its projects; with none, that it knows of suspensions. */
export const clusterSuspensionOf = (row: string) => `case when ${row}.suspended_at is not null then (
    select case when count(*) = 0 then nullif(${row}.suspends, false)
      when bool_or(not held.suspension_reported) then false
      when bool_and(held.suspension_reported is true) then true end
    from projects held where held.cluster_id = ${row}.id and held.lifecycle not in ('cleanup_pending', 'cleanup_degraded')
  ) end`;

const orgColumns = { ...times, id: true, name: true, slug: true, description: true } satisfies Columns<
  OrgTable,
  "settings"
>;
export const SHORT_ORG_COLUMNS = namesOf(orgColumns);

const projectColumns = {
  ...times,
  id: true,
  org_id: true,
  cluster_id: true,
  name: true,
  namespace: true,
  lifecycle: true,
  lifecycle_reason: true,
  lifecycle_message: true,
  pod_security: true,
  weaker_pod_security_allowed: true,
  isolation: true,
  suspended_at: true,
  suspended_by: true,
  suspended_reason: true,
  suspension_reported: true,
  suspension_ended_at: true,
  reported_at: true,
} satisfies Columns<ProjectTable, never>;
export const PROJECT_COLUMNS = namesOf(projectColumns);

const credentialColumns = {
  ...times,
  id: true,
  org_id: true,
  name: true,
  provider: true,
  region: true,
  settings: true,
  sealed_secret: true,
} satisfies Columns<CloudCredentialTable, never>;
export const CREDENTIAL_COLUMNS = namesOf(credentialColumns);

const jobColumns = {
  ...times,
  id: true,
  cluster_id: true,
  org_id: true,
  credential_id: true,
  action: true,
  status: true,
  phase: true,
  progress_pct: true,
  error_message: true,
  error_code: true,
  attempts: true,
  desired_node_count: true,
  dry_run: true,
  node: true,
  replaced_machine: true,
  force: true,
  kubernetes_release: true,
  plan_digest: true,
  plan_job_id: true,
  plan_confirmed_at: true,
  throttles: true,
  throttled_since: true,
  snapshot_wait_since: true,
  retry_at: true,
  cancel_requested_at: true,
  waits_until: true,
  started_at: true,
  finished_at: true,
} satisfies Columns<ProvisioningJobTable, "plan">;
export const SHORT_JOB_COLUMNS = namesOf(jobColumns);
/** Of the jobs of a cluster the newest of these decides its status: neither a plan nor one that was out of date has changed anything. */
export const DECISIVE_JOB = "not dry_run and error_code is distinct from 'plan_changed'";

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
