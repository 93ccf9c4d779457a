import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { counted } from "./counted.ts";

const STATEMENTS = [
  sql`create table cloud_credentials (
    id uuid primary key,
    org_id uuid not null constraint cloud_credentials_org references orgs on delete cascade,
    name text not null,
    provider text not null check (provider in ('aws', 'gcp', 'azure', 'do', 'metal', 'ssh')),
    region text,
    access_key_id text,
    sealed_secret text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint cloud_credentials_name_taken unique (org_id, name)
  )`,

  // What is recorded about a cluster. Its status is not: that is a function of these facts.
  sql`create table clusters (
    id uuid primary key,
    org_id uuid not null constraint clusters_org references orgs,
    name text not null,
    description text,
    provider text check (provider in ('aws', 'gcp', 'azure', 'do', 'metal', 'ssh')),
    credential_id uuid constraint clusters_credential references cloud_credentials,
    region text,
    instance_type text,
    agent_count integer,
    disk_size_gb integer,
    token_version integer not null default 0,
    token_floor integer not null default 0,
    revision bigint not null default 0,
    first_connected_at timestamptz,
    last_heartbeat timestamptz,
    operator_version text,
    kubernetes_version text,
    node_count integer,
    capacity jsonb,
    stage text,
    stage_status text check (stage_status in ('started', 'completed', 'failed')),
    stage_component text,
    stage_at timestamptz,
    bundle_version text,
    profiles text[],
    ha_tier text check (ha_tier in ('single-server', 'ha')),
    volume_group_ownership jsonb,
    install_journal jsonb,
    sealed_ssh_key text,
    deletion_requested_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint clusters_name_taken unique (org_id, name)
  )`,
  sql`create index clusters_by_org on clusters (org_id, id desc)`,
  sql`create index clusters_by_credential on clusters (credential_id) where credential_id is not null`,

  // Which hub process holds a cluster's connection. The epoch fences: what an earlier session still says does not count.
  sql`create sequence session_epochs`,
  sql`create table cluster_sessions (
    cluster_id uuid primary key references clusters on delete cascade,
    hub_id text not null,
    epoch bigint not null,
    token_version integer not null,
    lease_until timestamptz not null,
    started_at timestamptz not null
  )`,

  sql`create table provisioning_jobs (
    id uuid primary key,
    cluster_id uuid not null references clusters on delete cascade,
    org_id uuid not null references orgs on delete cascade,
    credential_id uuid,
    action text not null check (action in ('create', 'scale', 'destroy')),
    status text not null check (status in ('pending', 'running', 'succeeded', 'failed')),
    phase text not null check (phase in ('init', 'plan', 'apply', 'bootstrap', 'operator', 'done')),
    progress_pct integer not null default 0 check (progress_pct between 0 and 100),
    error_message text,
    attempts integer not null default 0,
    desired_node_count integer,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz
  )`,
  sql`create index provisioning_jobs_by_cluster on provisioning_jobs (cluster_id, id desc)`,
  sql`create table provisioning_log_lines (
    job_id uuid not null references provisioning_jobs on delete cascade,
    position bigint generated always as identity,
    at timestamptz not null,
    line text not null,
    primary key (job_id, position)
  )`,

  sql`create table projects (
    id uuid primary key,
    org_id uuid not null references orgs,
    cluster_id uuid not null constraint projects_cluster references clusters,
    name text not null,
    namespace text not null,
    lifecycle text not null default 'pending' check (lifecycle in ('pending', 'ready', 'degraded', 'cleanup_pending')),
    lifecycle_reason text check (lifecycle_reason in ('operator_unreachable', 'apply_failed', 'namespace_conflict', 'cleanup_degraded')),
    lifecycle_message text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint projects_namespace_taken unique (cluster_id, namespace)
  )`,
  sql`create index projects_by_org on projects (org_id, id desc)`,
  sql`create index projects_by_cluster on projects (cluster_id, id desc)`,
  sql`create index projects_unconfirmed on projects (created_at) where lifecycle = 'pending'`,
  sql`create index projects_uncleaned on projects (updated_at)
    where lifecycle = 'cleanup_pending' and lifecycle_reason is null`,

  sql`create table role_bindings (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    role text not null check (role in ('viewer', 'editor', 'admin')),
    cluster_id uuid references clusters on delete cascade,
    project_id uuid references projects on delete cascade,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check (num_nonnulls(cluster_id, project_id) = 1),
    constraint role_bindings_cluster_taken unique (user_id, cluster_id),
    constraint role_bindings_project_taken unique (user_id, project_id)
  )`,
  sql`create index role_bindings_by_cluster on role_bindings (cluster_id) where cluster_id is not null`,
  sql`create index role_bindings_by_project on role_bindings (project_id) where project_id is not null`,

  sql`create table registry_secrets (
    id uuid primary key,
    cluster_id uuid references clusters on delete cascade,
    project_id uuid references projects on delete cascade,
    name text not null,
    server_url text not null,
    username text not null,
    sealed_password text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check (num_nonnulls(cluster_id, project_id) = 1),
    constraint registry_secrets_cluster_name_taken unique (cluster_id, name),
    constraint registry_secrets_project_name_taken unique (project_id, name)
  )`,

  /*
   * What a cluster is to hold, one row a dispatched resource: its generation, and the cluster's revision at which it last
   * changed. A removed resource stays as a tombstone until the operator has confirmed that it is gone.
   */
  sql`create table desired_resources (
    cluster_id uuid not null references clusters on delete cascade,
    kind text not null check (kind in ('project', 'app', 'addon_instance', 'registry_secrets')),
    resource_id uuid not null,
    key text not null,
    generation bigint not null,
    revision bigint not null,
    removed_at timestamptz,
    acked_generation bigint,
    acked_hash text,
    updated_at timestamptz not null,
    primary key (cluster_id, kind, resource_id)
  )`,
  sql`create index desired_resources_untold on desired_resources (cluster_id, revision)
    where removed_at is not null or acked_generation is distinct from generation`,
  sql`create table metric_samples (
    cluster_id uuid not null references clusters on delete cascade,
    at timestamptz not null,
    sample jsonb not null,
    primary key (cluster_id, at)
  )`,
  sql`create index metric_samples_by_age on metric_samples (at)`,

  sql`create table apps (
    id uuid primary key,
    org_id uuid not null references orgs,
    cluster_id uuid not null references clusters,
    project_id uuid not null references projects on delete cascade,
    namespace text not null,
    name text not null,
    description text,
    components jsonb not null,
    replicas_before_pause jsonb,
    generation bigint not null,
    revision integer not null,
    phase text not null check (phase in ('pending', 'deploying', 'running', 'degraded', 'failed', 'invalid', 'paused', 'deleting')),
    phase_reason text,
    phase_message text,
    observed_generation bigint,
    component_statuses jsonb not null default '[]',
    drift_state text not null default 'unknown' check (drift_state in ('unknown', 'in_sync', 'drifted', 'blocked_sync')),
    drift_summary text,
    drift_fields jsonb not null default '[]',
    drift_detected_at timestamptz,
    -- The generation with which the operator takes over fields that another manager owns.
    forced_generation bigint,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint apps_name_taken unique (project_id, name)
  )`,
  sql`create index apps_by_org on apps (org_id, id desc)`,
  sql`create index apps_by_project on apps (project_id, id desc)`,
  sql`create table app_secrets (
    id uuid primary key,
    app_id uuid not null references apps on delete cascade,
    component text not null,
    key text not null,
    sealed_value text not null,
    updated_at timestamptz not null,
    constraint app_secrets_key unique (app_id, component, key)
  )`,
  sql`create table app_deployments (
    id uuid primary key,
    app_id uuid not null references apps on delete cascade,
    revision integer not null,
    generation bigint not null,
    operation text not null check (operation in ('create', 'update', 'scale', 'pause', 'resume', 'redeploy', 'rollback', 'attach_addon', 'detach_addon', 'update_secrets')),
    status text not null check (status in ('pending', 'succeeded', 'failed', 'superseded')),
    message text,
    spec jsonb not null,
    created_by text,
    deadline_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    finished_at timestamptz,
    constraint app_deployments_revision unique (app_id, revision)
  )`,
  sql`create index app_deployments_overdue on app_deployments (deadline_at) where status = 'pending' and deadline_at is not null`,

  sql`create table addon_instances (
    id uuid primary key,
    org_id uuid not null references orgs,
    cluster_id uuid not null references clusters,
    project_id uuid not null references projects on delete cascade,
    namespace text not null,
    name text not null,
    definition_id uuid not null,
    "values" jsonb not null,
    chart_version text not null,
    generation bigint not null,
    revision_number integer not null,
    phase text not null check (phase in ('pending', 'installing', 'ready', 'upgrading', 'degraded', 'failed', 'deleting')),
    phase_reason text,
    phase_message text,
    observed_generation bigint,
    exports jsonb not null default '{}',
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint addon_instances_name_taken unique (project_id, name)
  )`,
  sql`create index addon_instances_by_org on addon_instances (org_id, id desc)`,
  sql`create index addon_instances_by_project on addon_instances (project_id, id desc)`,
  sql`create table addon_secrets (
    id uuid primary key,
    addon_instance_id uuid not null references addon_instances on delete cascade,
    path text not null,
    sealed_value text not null,
    updated_at timestamptz not null,
    constraint addon_secrets_path unique (addon_instance_id, path)
  )`,
  sql`create table addon_revisions (
    id uuid primary key,
    addon_instance_id uuid not null references addon_instances on delete cascade,
    revision_number integer not null,
    "values" jsonb not null,
    chart_version text not null,
    notes text,
    created_by text,
    created_at timestamptz not null,
    constraint addon_revisions_number unique (addon_instance_id, revision_number)
  )`,

  sql`create table stack_templates (
    id uuid primary key,
    org_id uuid not null references orgs on delete cascade,
    namespace text not null,
    name text not null,
    version text not null,
    scope text not null check (scope in ('project', 'cluster', 'organization', 'global')),
    description text,
    icon text,
    tags text[] not null default '{}',
    components jsonb not null,
    parameters jsonb not null,
    generation integer not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint stack_templates_name_taken unique (org_id, namespace, name)
  )`,
  sql`create index stack_templates_by_name on stack_templates (namespace, name)`,
  sql`create index stack_templates_by_org on stack_templates (org_id, id desc)`,

  ...counted("clusters", "org_id"),
  ...counted("projects", "org_id"),
  ...counted("projects", "cluster_id", "count_by_cluster"),
  ...counted("projects", undefined, "count_all"),
  ...counted("apps", "project_id"),
  ...counted("addon_instances", "project_id"),
];

export const fleet: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of STATEMENTS) await statement.execute(database);
  },
};
