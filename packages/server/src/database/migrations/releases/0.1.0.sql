-- The schema of release 0.1.0, as pg_dump wrote it, with the record of its migrations. It stays as it is.

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE FUNCTION public.app_search_text(name text, namespace text, components jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
      select lower(concat_ws(E'
', name, namespace, (
        select string_agg(image #>> '{}', E'
') from (
          select jsonb_path_query(components, '$[*].workload_spec.image') as image
          union all select jsonb_path_query(components, '$[*].workload_spec.init_containers[*].image')
          union all select jsonb_path_query(components, '$[*].workload_spec.sidecars[*].image')
        ) images
      )))
    $_$;

CREATE FUNCTION public.count_rows() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    declare
      whole constant uuid := '00000000-0000-0000-0000-000000000000';
      sign constant int := case tg_op when 'INSERT' then 1 else -1 end;
    begin
      if tg_nargs = 0 then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, whole, sign * count(*) from changed having count(*) > 0;
      elsif tg_argv[0] = 'org_id' then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, coalesce(org_id, whole), sign * count(*) from changed group by 2;
      elsif tg_argv[0] = 'cluster_id' then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, coalesce(cluster_id, whole), sign * count(*) from changed group by 2;
      elsif tg_argv[0] = 'project_id' then
        insert into row_counts (relation, scope, delta)
          select tg_table_name, coalesce(project_id, whole), sign * count(*) from changed group by 2;
      else
        raise exception 'count_rows() has no statement for the column %', tg_argv[0];
      end if;
      return null;
    end $$;

CREATE FUNCTION public.describe_app() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    begin
      new.search_text := app_search_text(new.name, new.namespace, new.components);
      new.listed_components := listed_components_of(new.components);
      if tg_op = 'INSERT' or new.revision is distinct from old.revision then
        new.deployed_at := new.updated_at;
      end if;
      return new;
    end $$;

CREATE FUNCTION public.listed_components_of(components jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
      select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'name', c -> 'name', 'type', c -> 'type', 'depends_on', c -> 'depends_on', 'export_refs', c -> 'export_refs',
        'workload_spec', (
          select jsonb_build_object(
            'kind', w -> 'kind', 'image', w -> 'image', 'replicas', w -> 'replicas', 'ports', w -> 'ports',
            'resources', w -> 'resources', 'volumes', w -> 'volumes', 'ingress', w -> 'ingress',
            'autoscale', w -> 'autoscale', 'schedule', w -> 'schedule',
            'env', (
              select jsonb_agg(v order by place)
              from jsonb_array_elements(w -> 'env') with ordinality as variable (v, place) where v ? 'export_ref'
            ),
            'files', (
              select jsonb_agg(jsonb_build_object(
                'path', f -> 'path', 'secret', f -> 'secret', 'size_bytes', octet_length(f ->> 'content'),
                'digest', 'sha256:' || encode(sha256(convert_to(f ->> 'content', 'UTF8')), 'hex')
              ) order by place)
              from jsonb_array_elements(w -> 'files') with ordinality as file (f, place)
            ),
            'init_containers', (
              select jsonb_agg(jsonb_build_object('name', i -> 'name', 'image', i -> 'image') order by place)
              from jsonb_array_elements(w -> 'init_containers') with ordinality as container (i, place)
            ),
            'sidecars', (
              select jsonb_agg(jsonb_build_object('name', i -> 'name', 'image', i -> 'image') order by place)
              from jsonb_array_elements(w -> 'sidecars') with ordinality as container (i, place)
            )
          ) from (select c -> 'workload_spec' as w) workload where w is not null
        ),
        'addon_spec', (
          select jsonb_build_object(
            'instance', a -> 'instance', 'definition_id', a -> 'definition_id', 'chart_version', a -> 'chart_version'
          ) from (select c -> 'addon_spec' as a) addon where a is not null
        ),
        'chart_spec', (
          select jsonb_build_object('repo', h -> 'repo', 'name', h -> 'name', 'version', h -> 'version')
          from (select c -> 'chart_spec' as h) chart where h is not null
        )
      )) order by place), '[]')::text
      from jsonb_array_elements(components) with ordinality as component (c, place)
    $$;

CREATE TABLE public.addon_instances (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    project_id uuid NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    definition_id uuid NOT NULL,
    "values" jsonb NOT NULL,
    chart_version text NOT NULL,
    generation bigint NOT NULL,
    revision_number integer NOT NULL,
    phase text NOT NULL,
    phase_reason text,
    phase_message text,
    observed_generation bigint,
    exports jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    phase_since timestamp with time zone DEFAULT now() NOT NULL,
    component_statuses jsonb DEFAULT '[]'::jsonb NOT NULL,
    drift_state text DEFAULT 'unknown'::text NOT NULL,
    drift_summary text,
    drift_fields jsonb DEFAULT '[]'::jsonb NOT NULL,
    drift_detected_at timestamp with time zone,
    reported_at timestamp with time zone,
    drift_repairs jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT addon_instances_drift_state_check CHECK ((drift_state = ANY (ARRAY['unknown'::text, 'in_sync'::text, 'drifted'::text, 'blocked_sync'::text]))),
    CONSTRAINT addon_instances_phase_check CHECK ((phase = ANY (ARRAY['pending'::text, 'installing'::text, 'ready'::text, 'upgrading'::text, 'degraded'::text, 'failed'::text, 'deleting'::text])))
);

CREATE TABLE public.addon_revisions (
    id uuid NOT NULL,
    addon_instance_id uuid NOT NULL,
    revision_number integer NOT NULL,
    "values" jsonb NOT NULL,
    chart_version text NOT NULL,
    notes text,
    created_by text,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.addon_secrets (
    id uuid NOT NULL,
    addon_instance_id uuid NOT NULL,
    path text NOT NULL,
    sealed_value text NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.app_deployments (
    id uuid NOT NULL,
    app_id uuid NOT NULL,
    revision integer NOT NULL,
    generation bigint NOT NULL,
    operation text NOT NULL,
    status text NOT NULL,
    message text,
    spec jsonb NOT NULL,
    created_by text,
    deadline_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    changed_secrets text[] DEFAULT '{}'::text[] NOT NULL,
    summary text,
    changes jsonb,
    CONSTRAINT app_deployments_operation_check CHECK ((operation = ANY (ARRAY['create'::text, 'update'::text, 'scale'::text, 'pause'::text, 'resume'::text, 'redeploy'::text, 'rollback'::text, 'attach_addon'::text, 'detach_addon'::text, 'update_secrets'::text]))),
    CONSTRAINT app_deployments_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'superseded'::text])))
);

CREATE TABLE public.app_secrets (
    id uuid NOT NULL,
    app_id uuid NOT NULL,
    component text NOT NULL,
    key text NOT NULL,
    sealed_value text NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.apps (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    project_id uuid NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    description text,
    components jsonb NOT NULL,
    replicas_before_pause jsonb,
    generation bigint NOT NULL,
    revision integer NOT NULL,
    phase text NOT NULL,
    phase_reason text,
    phase_message text,
    observed_generation bigint,
    component_statuses jsonb DEFAULT '[]'::jsonb NOT NULL,
    drift_state text DEFAULT 'unknown'::text NOT NULL,
    drift_summary text,
    drift_fields jsonb DEFAULT '[]'::jsonb NOT NULL,
    drift_detected_at timestamp with time zone,
    forced_generation bigint,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    phase_since timestamp with time zone DEFAULT now() NOT NULL,
    reported_at timestamp with time zone,
    search_text text DEFAULT ''::text NOT NULL,
    deployed_at timestamp with time zone,
    listed_components text DEFAULT '[]'::text NOT NULL,
    drift_repairs jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT apps_drift_state_check CHECK ((drift_state = ANY (ARRAY['unknown'::text, 'in_sync'::text, 'drifted'::text, 'blocked_sync'::text]))),
    CONSTRAINT apps_phase_check CHECK ((phase = ANY (ARRAY['pending'::text, 'deploying'::text, 'running'::text, 'degraded'::text, 'failed'::text, 'invalid'::text, 'paused'::text, 'deleting'::text])))
);

CREATE TABLE public.audit_log (
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    org_id uuid,
    actor_id uuid,
    actor_email text,
    via text NOT NULL,
    source_address text,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    resource_name text,
    changes jsonb NOT NULL,
    request_id text,
    summary text,
    CONSTRAINT audit_log_via_check CHECK ((via = ANY (ARRAY['user'::text, 'cli_token'::text, 'system'::text])))
);

CREATE TABLE public.chart_hosts (
    project_id uuid NOT NULL,
    host text NOT NULL,
    cluster_id uuid NOT NULL
);

CREATE TABLE public.chart_repositories (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    username text NOT NULL,
    sealed_password text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.cli_tokens (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    token_digest bytea NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    org_id uuid,
    project_id uuid,
    last_used_address text,
    expiry_announced_at timestamp with time zone,
    CONSTRAINT cli_tokens_one_place CHECK ((num_nonnulls(org_id, project_id) <= 1))
);

CREATE TABLE public.cloud_credentials (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    name text NOT NULL,
    provider text NOT NULL,
    region text,
    access_key_id text,
    sealed_secret text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT cloud_credentials_provider_check CHECK ((provider = ANY (ARRAY['aws'::text, 'gcp'::text, 'azure'::text, 'do'::text, 'metal'::text, 'ssh'::text])))
);

CREATE TABLE public.cluster_sessions (
    cluster_id uuid NOT NULL,
    hub_id text NOT NULL,
    epoch bigint NOT NULL,
    token_version integer NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    hub_url text
)
WITH (fillfactor='50');

CREATE TABLE public.cluster_settings (
    cluster_id uuid NOT NULL,
    pod_security text,
    ingress_namespaces text[],
    cluster_wide_charts jsonb,
    updated_at timestamp with time zone NOT NULL,
    exec_enabled boolean,
    CONSTRAINT cluster_settings_pod_security_check CHECK ((pod_security = ANY (ARRAY['privileged'::text, 'baseline'::text, 'restricted'::text])))
);

CREATE TABLE public.clusters (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    provider text,
    credential_id uuid,
    region text,
    instance_type text,
    agent_count integer,
    disk_size_gb integer,
    token_version integer DEFAULT 0 NOT NULL,
    token_floor integer DEFAULT 0 NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    first_connected_at timestamp with time zone,
    last_heartbeat timestamp with time zone,
    operator_version text,
    kubernetes_version text,
    node_count integer,
    capacity jsonb,
    stage text,
    stage_status text,
    stage_component text,
    stage_at timestamp with time zone,
    bundle_version text,
    profiles text[],
    ha_tier text,
    volume_group_ownership jsonb,
    install_journal jsonb,
    sealed_ssh_key text,
    deletion_requested_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    sealed_join_token text,
    ssh_public_key text,
    abandoned_at timestamp with time zone,
    self_upgrade boolean DEFAULT false NOT NULL,
    CONSTRAINT clusters_ha_tier_check CHECK ((ha_tier = ANY (ARRAY['single-server'::text, 'ha'::text]))),
    CONSTRAINT clusters_provider_check CHECK ((provider = ANY (ARRAY['aws'::text, 'gcp'::text, 'azure'::text, 'do'::text, 'metal'::text, 'ssh'::text]))),
    CONSTRAINT clusters_stage_status_check CHECK ((stage_status = ANY (ARRAY['started'::text, 'completed'::text, 'failed'::text])))
)
WITH (fillfactor='50');

CREATE TABLE public.desired_resources (
    cluster_id uuid NOT NULL,
    kind text NOT NULL,
    resource_id uuid NOT NULL,
    key text NOT NULL,
    generation bigint NOT NULL,
    revision bigint NOT NULL,
    removed_at timestamp with time zone,
    acked_generation bigint,
    acked_hash text,
    updated_at timestamp with time zone NOT NULL,
    traceparent text,
    CONSTRAINT desired_resources_kind_check CHECK ((kind = ANY (ARRAY['project'::text, 'app'::text, 'addon_instance'::text, 'registry_secrets'::text])))
);

CREATE TABLE public.device_logins (
    id uuid NOT NULL,
    device_code_digest bytea NOT NULL,
    user_code text NOT NULL,
    client_name text NOT NULL,
    scopes text[] NOT NULL,
    status text NOT NULL,
    user_id uuid,
    interval_seconds integer NOT NULL,
    last_asked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    kind text DEFAULT 'token'::text NOT NULL,
    source_address text,
    org_id uuid,
    project_id uuid,
    CONSTRAINT device_logins_kind_check CHECK ((kind = ANY (ARRAY['token'::text, 'session'::text]))),
    CONSTRAINT device_logins_one_place CHECK ((num_nonnulls(org_id, project_id) <= 1)),
    CONSTRAINT device_logins_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'claimed'::text])))
);

CREATE TABLE public.event_log (
    recorded bigint NOT NULL,
    "position" bigint,
    topic text NOT NULL,
    org_id uuid,
    bytes integer NOT NULL,
    message text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.event_log_head (
    log_id text DEFAULT substr(md5(((random())::text || (clock_timestamp())::text)), 1, 8) NOT NULL,
    "position" bigint NOT NULL
);

CREATE TABLE public.event_log_pruned (
    org_id uuid NOT NULL,
    "position" bigint NOT NULL
);

ALTER TABLE public.event_log ALTER COLUMN recorded ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.event_log_recorded_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.idempotency_keys (
    user_id uuid NOT NULL,
    key text NOT NULL,
    sealed_answer text,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.infrastructure_states (
    id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    serial bigint NOT NULL,
    lineage text NOT NULL,
    sealed_state text NOT NULL,
    job_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.ingress_hosts (
    app_id uuid NOT NULL,
    host text NOT NULL,
    cluster_id uuid NOT NULL,
    project_id uuid NOT NULL
);

CREATE TABLE public.jobs (
    id uuid NOT NULL,
    kind text NOT NULL,
    lane text,
    payload jsonb NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    max_attempts integer,
    run_at timestamp with time zone NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    worker_id text,
    lease_until timestamp with time zone,
    result jsonb,
    error_message text,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT jobs_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT jobs_finished_at_the_end CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT jobs_leased_while_running CHECK (((status = 'running'::text) = (lease_until IS NOT NULL))),
    CONSTRAINT jobs_limited_once_claimed CHECK (((status <> 'running'::text) OR (max_attempts IS NOT NULL))),
    CONSTRAINT jobs_max_attempts_check CHECK ((max_attempts > 0)),
    CONSTRAINT jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'failed'::text])))
)
WITH (fillfactor='50');

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL,
    oldest_release text,
    applied_by text
);

CREATE TABLE public.login_tallies (
    key text NOT NULL,
    tally jsonb NOT NULL,
    updated_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.memberships (
    org_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['member'::text, 'admin'::text])))
);

CREATE TABLE public.metric_samples (
    cluster_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    sample jsonb NOT NULL
);

CREATE TABLE public.node_boots (
    cluster_id uuid NOT NULL,
    node text NOT NULL,
    job_id uuid NOT NULL,
    status text NOT NULL,
    stage text,
    message text,
    lines integer DEFAULT 0 NOT NULL,
    log_bytes integer DEFAULT 0 NOT NULL,
    window_at timestamp with time zone,
    window_reports integer DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT node_boots_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text])))
);

CREATE TABLE public.node_tokens (
    token_hash text NOT NULL,
    cluster_id uuid NOT NULL,
    node text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    purpose text DEFAULT 'bootstrap'::text NOT NULL,
    job_id uuid,
    used_from text,
    CONSTRAINT node_tokens_purpose_check CHECK ((purpose = ANY (ARRAY['bootstrap'::text, 'report'::text])))
);

CREATE TABLE public.operator_upgrade_clusters (
    upgrade_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    phase text NOT NULL,
    from_version text,
    reason text,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT operator_upgrade_clusters_phase_check CHECK ((phase = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'returned'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
);

CREATE TABLE public.operator_upgrades (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    to_version text NOT NULL,
    digest text,
    batch_size integer NOT NULL,
    stop_on_failure boolean NOT NULL,
    status text NOT NULL,
    cancel_requested_at timestamp with time zone,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT operator_upgrades_status_check CHECK ((status = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
);

CREATE TABLE public.orgs (
    id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    description text,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.projects (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    name text NOT NULL,
    namespace text NOT NULL,
    lifecycle text DEFAULT 'pending'::text NOT NULL,
    lifecycle_reason text,
    lifecycle_message text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    pod_security text,
    weaker_pod_security_allowed boolean DEFAULT false NOT NULL,
    isolation text DEFAULT 'namespace'::text NOT NULL,
    quota jsonb,
    reported_at timestamp with time zone,
    CONSTRAINT projects_isolation_check CHECK ((isolation = ANY (ARRAY['namespace'::text, 'none'::text]))),
    CONSTRAINT projects_lifecycle_check CHECK ((lifecycle = ANY (ARRAY['pending'::text, 'ready'::text, 'degraded'::text, 'cleanup_pending'::text, 'cleanup_degraded'::text]))),
    CONSTRAINT projects_lifecycle_reason_check CHECK ((lifecycle_reason = ANY (ARRAY['operator_unreachable'::text, 'apply_failed'::text, 'namespace_conflict'::text, 'cleanup_degraded'::text, 'cluster_abandoned'::text]))),
    CONSTRAINT projects_pod_security_check CHECK ((pod_security = ANY (ARRAY['privileged'::text, 'baseline'::text, 'restricted'::text])))
);

CREATE TABLE public.provisioning_jobs (
    id uuid NOT NULL,
    cluster_id uuid NOT NULL,
    org_id uuid NOT NULL,
    credential_id uuid,
    action text NOT NULL,
    status text NOT NULL,
    phase text NOT NULL,
    progress_pct integer DEFAULT 0 NOT NULL,
    error_message text,
    attempts integer DEFAULT 0 NOT NULL,
    desired_node_count integer,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    error_code text,
    dry_run boolean DEFAULT false NOT NULL,
    plan jsonb,
    cancel_requested_at timestamp with time zone,
    waits_until timestamp with time zone,
    node text,
    replaced_machine text,
    force boolean DEFAULT false NOT NULL,
    CONSTRAINT provisioning_jobs_action_check CHECK ((action = ANY (ARRAY['create'::text, 'scale'::text, 'replace'::text, 'destroy'::text]))),
    CONSTRAINT provisioning_jobs_error_code_check CHECK ((error_code = ANY (ARRAY['bad_credentials'::text, 'permission_denied'::text, 'quota_exceeded'::text, 'not_offered'::text, 'no_capacity'::text, 'unreachable'::text, 'timed_out'::text, 'cancelled'::text, 'leftovers'::text, 'unsupported'::text, 'init_failed'::text, 'bootstrap_failed'::text, 'control_plane_protected'::text, 'local_volumes'::text, 'failed'::text]))),
    CONSTRAINT provisioning_jobs_phase_check CHECK ((phase = ANY (ARRAY['init'::text, 'plan'::text, 'apply'::text, 'bootstrap'::text, 'operator'::text, 'done'::text]))),
    CONSTRAINT provisioning_jobs_progress_pct_check CHECK (((progress_pct >= 0) AND (progress_pct <= 100))),
    CONSTRAINT provisioning_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'failed'::text])))
);

CREATE TABLE public.provisioning_log_lines (
    job_id uuid NOT NULL,
    "position" bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    line text NOT NULL
);

ALTER TABLE public.provisioning_log_lines ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.provisioning_log_lines_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.rate_limits (
    id uuid NOT NULL,
    tier_name text NOT NULL,
    path text NOT NULL,
    limit_count integer NOT NULL,
    period_seconds integer NOT NULL,
    name text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT rate_limits_limit_count_check CHECK ((limit_count >= 0)),
    CONSTRAINT rate_limits_period_seconds_check CHECK ((period_seconds > 0))
);

CREATE TABLE public.rate_usage (
    user_id uuid NOT NULL,
    tier_name text NOT NULL,
    path text NOT NULL,
    window_started_at timestamp with time zone NOT NULL,
    spent integer NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.refused_sign_ins (
    user_id uuid NOT NULL,
    window_started_at timestamp with time zone NOT NULL,
    refused integer NOT NULL
);

CREATE TABLE public.registry_secrets (
    id uuid NOT NULL,
    cluster_id uuid,
    project_id uuid,
    name text NOT NULL,
    server_url text NOT NULL,
    username text NOT NULL,
    sealed_password text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT registry_secrets_check CHECK ((num_nonnulls(cluster_id, project_id) = 1))
);

CREATE TABLE public.role_bindings (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    cluster_id uuid,
    project_id uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT role_bindings_check CHECK ((num_nonnulls(cluster_id, project_id) = 1)),
    CONSTRAINT role_bindings_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'editor'::text, 'admin'::text])))
);

CREATE TABLE public.row_counts (
    relation text NOT NULL,
    scope uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    delta bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

CREATE SEQUENCE public.session_epochs
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    source_address text,
    user_agent text,
    last_used_at timestamp with time zone NOT NULL,
    last_used_address text,
    client_name text
);

CREATE TABLE public.stack_templates (
    id uuid NOT NULL,
    org_id uuid NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    scope text NOT NULL,
    description text,
    icon text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    components jsonb NOT NULL,
    parameters jsonb NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    project_id uuid,
    cluster_id uuid,
    CONSTRAINT stack_templates_place CHECK ((((scope = 'project'::text) OR (project_id IS NULL)) AND ((scope = 'cluster'::text) OR (cluster_id IS NULL)))),
    CONSTRAINT stack_templates_scope_check CHECK ((scope = ANY (ARRAY['project'::text, 'cluster'::text, 'organization'::text, 'global'::text])))
);

CREATE TABLE public.tiers (
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.users (
    id uuid NOT NULL,
    name text NOT NULL,
    username text NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    profile_image_url text,
    is_superuser boolean DEFAULT false NOT NULL,
    tier_name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    email_verified boolean DEFAULT false NOT NULL,
    email_vouched_by uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    disabled boolean DEFAULT false NOT NULL,
    CONSTRAINT users_email_check CHECK ((email = lower(email)))
);

INSERT INTO public.event_log_head VALUES ('4b74d282', 0);

INSERT INTO public.kysely_migration VALUES ('0001_foundation', '2026-11-19T06:12:53.335Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0002_jobs', '2026-11-19T06:12:53.340Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0003_fleet', '2026-11-19T06:12:53.385Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0004_accounts', '2026-11-19T06:12:53.390Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0005_template_scope', '2026-11-19T06:12:53.394Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0006_ingress_hosts', '2026-11-19T06:12:53.398Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0007_chart_repositories', '2026-11-19T06:12:53.400Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0009_project_policy', '2026-11-19T06:12:53.403Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0010_traces', '2026-11-19T06:12:53.404Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0011_component_status', '2026-11-19T06:12:53.407Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0013_freshness', '2026-11-19T06:12:53.411Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0015_bound_tokens', '2026-11-19T06:12:53.414Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0016_app_names', '2026-11-19T06:12:53.415Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0017_exec', '2026-11-19T06:12:53.416Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0018_console_reads', '2026-11-19T06:12:53.421Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0019_provisioner', '2026-11-19T06:12:53.426Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0020_static_counts', '2026-11-19T06:12:53.426Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0021_listed_components', '2026-11-19T06:12:53.429Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0022_chart_hosts', '2026-11-19T06:12:53.431Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0026_no_quota', '2026-11-19T06:12:53.433Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0027_bootstrap', '2026-11-19T06:12:53.438Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0029_change_summaries', '2026-11-19T06:12:53.439Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0030_drift_repairs', '2026-11-19T06:12:53.440Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0032_abandoned_clusters', '2026-11-19T06:12:53.442Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0035_credential_settings', '2026-11-19T06:12:53.444Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0037_hub_addresses', '2026-11-19T06:12:53.444Z', NULL, NULL);
INSERT INTO public.kysely_migration VALUES ('0038_migration_records', '2026-11-19T06:12:53.445Z', '0.1.0', '0.1.0');
INSERT INTO public.kysely_migration VALUES ('0039_operator_upgrades', '2026-11-19T06:12:53.452Z', '0.1.0', '0.1.0');
INSERT INTO public.kysely_migration VALUES ('0040_event_log', '2026-11-19T06:12:53.457Z', '0.1.0', '0.1.0');
INSERT INTO public.kysely_migration VALUES ('0041_rows_that_change_often', '2026-11-19T06:12:53.460Z', '0.1.0', '0.1.0');
INSERT INTO public.kysely_migration VALUES ('0042_guarded_machines', '2026-11-19T06:12:53.464Z', '0.1.0', '0.1.0');
INSERT INTO public.kysely_migration VALUES ('0043_wide_views', '2026-11-19T06:12:53.472Z', '0.1.0', '0.1.0');

ALTER TABLE ONLY public.addon_instances
    ADD CONSTRAINT addon_instances_name_taken UNIQUE (project_id, name);

ALTER TABLE ONLY public.addon_instances
    ADD CONSTRAINT addon_instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.addon_revisions
    ADD CONSTRAINT addon_revisions_number UNIQUE (addon_instance_id, revision_number);

ALTER TABLE ONLY public.addon_revisions
    ADD CONSTRAINT addon_revisions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.addon_secrets
    ADD CONSTRAINT addon_secrets_path UNIQUE (addon_instance_id, path);

ALTER TABLE ONLY public.addon_secrets
    ADD CONSTRAINT addon_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.app_deployments
    ADD CONSTRAINT app_deployments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.app_deployments
    ADD CONSTRAINT app_deployments_revision UNIQUE (app_id, revision);

ALTER TABLE ONLY public.app_secrets
    ADD CONSTRAINT app_secrets_key UNIQUE (app_id, component, key);

ALTER TABLE ONLY public.app_secrets
    ADD CONSTRAINT app_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_name_taken UNIQUE (project_id, name);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.chart_hosts
    ADD CONSTRAINT chart_hosts_pkey PRIMARY KEY (project_id, host);

ALTER TABLE ONLY public.chart_repositories
    ADD CONSTRAINT chart_repositories_name_taken UNIQUE (org_id, name);

ALTER TABLE ONLY public.chart_repositories
    ADD CONSTRAINT chart_repositories_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.chart_repositories
    ADD CONSTRAINT chart_repositories_url_taken UNIQUE (org_id, url);

ALTER TABLE ONLY public.cli_tokens
    ADD CONSTRAINT cli_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.cli_tokens
    ADD CONSTRAINT cli_tokens_token_digest_key UNIQUE (token_digest);

ALTER TABLE ONLY public.cloud_credentials
    ADD CONSTRAINT cloud_credentials_name_taken UNIQUE (org_id, name);

ALTER TABLE ONLY public.cloud_credentials
    ADD CONSTRAINT cloud_credentials_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.cluster_sessions
    ADD CONSTRAINT cluster_sessions_pkey PRIMARY KEY (cluster_id);

ALTER TABLE ONLY public.cluster_settings
    ADD CONSTRAINT cluster_settings_pkey PRIMARY KEY (cluster_id);

ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.desired_resources
    ADD CONSTRAINT desired_resources_pkey PRIMARY KEY (cluster_id, kind, resource_id);

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_device_code_digest_key UNIQUE (device_code_digest);

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_user_code_key UNIQUE (user_code);

ALTER TABLE ONLY public.event_log
    ADD CONSTRAINT event_log_pkey PRIMARY KEY (recorded);

ALTER TABLE ONLY public.event_log_pruned
    ADD CONSTRAINT event_log_pruned_pkey PRIMARY KEY (org_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, key);

ALTER TABLE ONLY public.infrastructure_states
    ADD CONSTRAINT infrastructure_states_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.ingress_hosts
    ADD CONSTRAINT ingress_hosts_pkey PRIMARY KEY (app_id, host);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.login_tallies
    ADD CONSTRAINT login_tallies_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_member_already PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.metric_samples
    ADD CONSTRAINT metric_samples_pkey PRIMARY KEY (cluster_id, at);

ALTER TABLE ONLY public.node_boots
    ADD CONSTRAINT node_boots_pkey PRIMARY KEY (cluster_id, node);

ALTER TABLE ONLY public.node_tokens
    ADD CONSTRAINT node_tokens_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.operator_upgrade_clusters
    ADD CONSTRAINT operator_upgrade_clusters_pkey PRIMARY KEY (upgrade_id, cluster_id);

ALTER TABLE ONLY public.operator_upgrades
    ADD CONSTRAINT operator_upgrades_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_name_taken UNIQUE (name);

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orgs
    ADD CONSTRAINT orgs_slug_taken UNIQUE (slug);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_namespace_taken UNIQUE (cluster_id, namespace);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.provisioning_jobs
    ADD CONSTRAINT provisioning_jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.provisioning_log_lines
    ADD CONSTRAINT provisioning_log_lines_pkey PRIMARY KEY (job_id, "position");

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_path_taken UNIQUE (tier_name, path);

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rate_usage
    ADD CONSTRAINT rate_usage_pkey PRIMARY KEY (user_id, tier_name, path);

ALTER TABLE ONLY public.refused_sign_ins
    ADD CONSTRAINT refused_sign_ins_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.registry_secrets
    ADD CONSTRAINT registry_secrets_cluster_name_taken UNIQUE (cluster_id, name);

ALTER TABLE ONLY public.registry_secrets
    ADD CONSTRAINT registry_secrets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.registry_secrets
    ADD CONSTRAINT registry_secrets_project_name_taken UNIQUE (project_id, name);

ALTER TABLE ONLY public.role_bindings
    ADD CONSTRAINT role_bindings_cluster_taken UNIQUE (user_id, cluster_id);

ALTER TABLE ONLY public.role_bindings
    ADD CONSTRAINT role_bindings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.role_bindings
    ADD CONSTRAINT role_bindings_project_taken UNIQUE (user_id, project_id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.stack_templates
    ADD CONSTRAINT stack_templates_name_taken UNIQUE (org_id, namespace, name);

ALTER TABLE ONLY public.stack_templates
    ADD CONSTRAINT stack_templates_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tiers
    ADD CONSTRAINT tiers_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_taken UNIQUE (email);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_username_taken UNIQUE (username);

CREATE INDEX addon_instances_by_org ON public.addon_instances USING btree (org_id, id DESC);

CREATE INDEX addon_instances_by_phase ON public.addon_instances USING btree (org_id, phase);

CREATE INDEX addon_instances_by_project ON public.addon_instances USING btree (project_id, id DESC);

CREATE INDEX app_deployments_overdue ON public.app_deployments USING btree (deadline_at) WHERE ((status = 'pending'::text) AND (deadline_at IS NOT NULL));

CREATE INDEX apps_by_deployment ON public.apps USING btree (deployed_at, id);

CREATE INDEX apps_by_name ON public.apps USING btree (name, id);

CREATE INDEX apps_by_org ON public.apps USING btree (org_id, id DESC);

CREATE INDEX apps_by_project ON public.apps USING btree (project_id, id DESC);

CREATE INDEX apps_by_search_text ON public.apps USING gin (search_text public.gin_trgm_ops);

CREATE INDEX apps_name_prefix ON public.apps USING btree (project_id, name COLLATE "C");

CREATE INDEX apps_unsettled ON public.apps USING btree (phase, org_id, drift_state, cluster_id) WHERE ((phase <> 'running'::text) OR (drift_state = ANY (ARRAY['drifted'::text, 'blocked_sync'::text])));

CREATE INDEX audit_log_by_actor ON public.audit_log USING btree (org_id, actor_id, id DESC) WHERE (actor_id IS NOT NULL);

CREATE INDEX audit_log_by_org ON public.audit_log USING btree (org_id, id DESC);

CREATE INDEX audit_log_by_resource ON public.audit_log USING btree (org_id, resource_id, id DESC) WHERE (resource_id IS NOT NULL);

CREATE INDEX audit_log_by_time ON public.audit_log USING btree (org_id, at);

CREATE INDEX chart_hosts_by_host ON public.chart_hosts USING btree (cluster_id, host);

CREATE INDEX cli_tokens_by_expiry ON public.cli_tokens USING btree (expires_at);

CREATE INDEX cli_tokens_by_org ON public.cli_tokens USING btree (org_id) WHERE (org_id IS NOT NULL);

CREATE INDEX cli_tokens_by_project ON public.cli_tokens USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX cli_tokens_by_user ON public.cli_tokens USING btree (user_id, id DESC);

CREATE INDEX cli_tokens_unannounced ON public.cli_tokens USING btree (expires_at) WHERE (expiry_announced_at IS NULL);

CREATE INDEX clusters_abandoned ON public.clusters USING btree (id) WHERE (abandoned_at IS NOT NULL);

CREATE INDEX clusters_by_credential ON public.clusters USING btree (credential_id) WHERE (credential_id IS NOT NULL);

CREATE INDEX clusters_by_org ON public.clusters USING btree (org_id, id DESC);

CREATE UNIQUE INDEX clusters_name_taken ON public.clusters USING btree (org_id, name) WHERE (abandoned_at IS NULL);

CREATE INDEX desired_resources_untold ON public.desired_resources USING btree (cluster_id, revision) WHERE ((removed_at IS NOT NULL) OR (acked_generation IS DISTINCT FROM generation));

CREATE INDEX device_logins_by_expiry ON public.device_logins USING btree (expires_at);

CREATE INDEX device_logins_by_source ON public.device_logins USING btree (source_address, expires_at) WHERE (status = 'pending'::text);

CREATE INDEX event_log_org ON public.event_log USING btree (org_id, "position");

CREATE UNIQUE INDEX event_log_position ON public.event_log USING btree ("position");

CREATE INDEX event_log_without_position ON public.event_log USING btree (recorded) WHERE ("position" IS NULL);

CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX infrastructure_states_by_cluster ON public.infrastructure_states USING btree (cluster_id, id DESC);

CREATE INDEX ingress_hosts_by_host ON public.ingress_hosts USING btree (cluster_id, host);

CREATE INDEX jobs_by_end ON public.jobs USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX jobs_due ON public.jobs USING btree (run_at, id) WHERE (status = 'pending'::text);

CREATE INDEX jobs_lane_order ON public.jobs USING btree (lane, run_at, id) WHERE ((status = 'pending'::text) AND (lane IS NOT NULL));

CREATE INDEX jobs_leased ON public.jobs USING btree (lease_until) WHERE (status = 'running'::text);

CREATE UNIQUE INDEX jobs_one_running_per_lane ON public.jobs USING btree (lane) WHERE ((status = 'running'::text) AND (lane IS NOT NULL));

CREATE INDEX login_tallies_by_age ON public.login_tallies USING btree (updated_at);

CREATE INDEX memberships_by_age ON public.memberships USING btree (org_id, created_at DESC, user_id DESC);

CREATE INDEX memberships_by_user ON public.memberships USING btree (user_id);

CREATE INDEX metric_samples_by_age ON public.metric_samples USING btree (at);

CREATE INDEX node_tokens_by_cluster ON public.node_tokens USING btree (cluster_id);

CREATE UNIQUE INDEX operator_upgrade_clusters_active ON public.operator_upgrade_clusters USING btree (cluster_id) WHERE (phase = ANY (ARRAY['pending'::text, 'running'::text]));

CREATE INDEX operator_upgrade_clusters_newest ON public.operator_upgrade_clusters USING btree (cluster_id, upgrade_id DESC);

CREATE INDEX operator_upgrades_by_org ON public.operator_upgrades USING btree (org_id, id DESC);

CREATE INDEX operator_upgrades_finished ON public.operator_upgrades USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX projects_by_cluster ON public.projects USING btree (cluster_id, id DESC);

CREATE INDEX projects_by_lifecycle ON public.projects USING btree (org_id, lifecycle);

CREATE INDEX projects_by_namespace ON public.projects USING btree (namespace);

CREATE INDEX projects_by_org ON public.projects USING btree (org_id, id DESC);

CREATE INDEX projects_uncleaned ON public.projects USING btree (updated_at) WHERE ((lifecycle = 'cleanup_pending'::text) AND (lifecycle_reason IS NULL));

CREATE INDEX projects_unconfirmed ON public.projects USING btree (created_at) WHERE (lifecycle = 'pending'::text);

CREATE INDEX provisioning_jobs_by_cluster ON public.provisioning_jobs USING btree (cluster_id, id DESC);

CREATE INDEX provisioning_jobs_waiting ON public.provisioning_jobs USING btree (waits_until) WHERE ((waits_until IS NOT NULL) AND (status = 'running'::text));

CREATE INDEX role_bindings_by_cluster ON public.role_bindings USING btree (cluster_id) WHERE (cluster_id IS NOT NULL);

CREATE INDEX role_bindings_by_project ON public.role_bindings USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX row_counts_by_scope ON public.row_counts USING btree (relation, scope) INCLUDE (delta);

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);

CREATE INDEX stack_templates_by_cluster ON public.stack_templates USING btree (cluster_id) WHERE (cluster_id IS NOT NULL);

CREATE INDEX stack_templates_by_name ON public.stack_templates USING btree (namespace, name);

CREATE INDEX stack_templates_by_org ON public.stack_templates USING btree (org_id, id DESC);

CREATE INDEX stack_templates_by_project ON public.stack_templates USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE TRIGGER count_all_deleted AFTER DELETE ON public.projects REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows();

CREATE TRIGGER count_all_inserted AFTER INSERT ON public.projects REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows();

CREATE TRIGGER count_by_cluster_deleted AFTER DELETE ON public.projects REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('cluster_id');

CREATE TRIGGER count_by_cluster_inserted AFTER INSERT ON public.projects REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('cluster_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.addon_instances REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('project_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.apps REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('project_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.audit_log REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.clusters REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.memberships REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.orgs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows();

CREATE TRIGGER count_deleted AFTER DELETE ON public.projects REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_deleted AFTER DELETE ON public.users REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows();

CREATE TRIGGER count_inserted AFTER INSERT ON public.addon_instances REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('project_id');

CREATE TRIGGER count_inserted AFTER INSERT ON public.apps REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('project_id');

CREATE TRIGGER count_inserted AFTER INSERT ON public.audit_log REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_inserted AFTER INSERT ON public.clusters REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_inserted AFTER INSERT ON public.memberships REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_inserted AFTER INSERT ON public.orgs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows();

CREATE TRIGGER count_inserted AFTER INSERT ON public.projects REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows('org_id');

CREATE TRIGGER count_inserted AFTER INSERT ON public.users REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_rows();

CREATE TRIGGER describe_app BEFORE INSERT OR UPDATE OF components, revision ON public.apps FOR EACH ROW EXECUTE FUNCTION public.describe_app();

ALTER TABLE ONLY public.addon_instances
    ADD CONSTRAINT addon_instances_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);

ALTER TABLE ONLY public.addon_instances
    ADD CONSTRAINT addon_instances_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id);

ALTER TABLE ONLY public.addon_instances
    ADD CONSTRAINT addon_instances_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.addon_revisions
    ADD CONSTRAINT addon_revisions_addon_instance_id_fkey FOREIGN KEY (addon_instance_id) REFERENCES public.addon_instances(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.addon_secrets
    ADD CONSTRAINT addon_secrets_addon_instance_id_fkey FOREIGN KEY (addon_instance_id) REFERENCES public.addon_instances(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.app_deployments
    ADD CONSTRAINT app_deployments_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.apps(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.app_secrets
    ADD CONSTRAINT app_secrets_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.apps(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.chart_hosts
    ADD CONSTRAINT chart_hosts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.chart_repositories
    ADD CONSTRAINT chart_repositories_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cli_tokens
    ADD CONSTRAINT cli_tokens_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cli_tokens
    ADD CONSTRAINT cli_tokens_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cli_tokens
    ADD CONSTRAINT cli_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cloud_credentials
    ADD CONSTRAINT cloud_credentials_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cluster_sessions
    ADD CONSTRAINT cluster_sessions_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cluster_settings
    ADD CONSTRAINT cluster_settings_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_credential FOREIGN KEY (credential_id) REFERENCES public.cloud_credentials(id);

ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_org FOREIGN KEY (org_id) REFERENCES public.orgs(id);

ALTER TABLE ONLY public.desired_resources
    ADD CONSTRAINT desired_resources_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_logins
    ADD CONSTRAINT device_logins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.infrastructure_states
    ADD CONSTRAINT infrastructure_states_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.ingress_hosts
    ADD CONSTRAINT ingress_hosts_app_id_fkey FOREIGN KEY (app_id) REFERENCES public.apps(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.metric_samples
    ADD CONSTRAINT metric_samples_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.node_boots
    ADD CONSTRAINT node_boots_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.node_boots
    ADD CONSTRAINT node_boots_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.provisioning_jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.node_tokens
    ADD CONSTRAINT node_tokens_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.node_tokens
    ADD CONSTRAINT node_tokens_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.provisioning_jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.operator_upgrade_clusters
    ADD CONSTRAINT operator_upgrade_clusters_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.operator_upgrade_clusters
    ADD CONSTRAINT operator_upgrade_clusters_upgrade_id_fkey FOREIGN KEY (upgrade_id) REFERENCES public.operator_upgrades(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.operator_upgrades
    ADD CONSTRAINT operator_upgrades_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.operator_upgrades
    ADD CONSTRAINT operator_upgrades_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_cluster FOREIGN KEY (cluster_id) REFERENCES public.clusters(id);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id);

ALTER TABLE ONLY public.provisioning_jobs
    ADD CONSTRAINT provisioning_jobs_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.provisioning_jobs
    ADD CONSTRAINT provisioning_jobs_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.provisioning_log_lines
    ADD CONSTRAINT provisioning_log_lines_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.provisioning_jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_tier_name_fkey FOREIGN KEY (tier_name) REFERENCES public.tiers(name);

ALTER TABLE ONLY public.rate_usage
    ADD CONSTRAINT rate_usage_tier_name_fkey FOREIGN KEY (tier_name) REFERENCES public.tiers(name);

ALTER TABLE ONLY public.rate_usage
    ADD CONSTRAINT rate_usage_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.refused_sign_ins
    ADD CONSTRAINT refused_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_secrets
    ADD CONSTRAINT registry_secrets_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.registry_secrets
    ADD CONSTRAINT registry_secrets_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.role_bindings
    ADD CONSTRAINT role_bindings_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.role_bindings
    ADD CONSTRAINT role_bindings_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.role_bindings
    ADD CONSTRAINT role_bindings_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.stack_templates
    ADD CONSTRAINT stack_templates_cluster FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.stack_templates
    ADD CONSTRAINT stack_templates_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.stack_templates
    ADD CONSTRAINT stack_templates_project FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tier_name_fkey FOREIGN KEY (tier_name) REFERENCES public.tiers(name);
