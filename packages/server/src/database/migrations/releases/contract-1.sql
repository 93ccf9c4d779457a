-- The schema of contract 1, as pg_dump wrote it, with the record of its migrations. It stays as it is.

CREATE FUNCTION public.count_rows() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    declare
      sign int := case tg_op when 'INSERT' then 1 else -1 end;
      scope text := case when tg_nargs = 0 then quote_literal('00000000-0000-0000-0000-000000000000') else quote_ident(tg_argv[0]) end;
    begin
      execute format(
        'insert into row_counts (relation, scope, delta) select %L, coalesce(%s::uuid, ''00000000-0000-0000-0000-000000000000''), %s * count(*) from changed group by 2',
        tg_table_name, scope, sign);
      return null;
    end $$;

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
    CONSTRAINT audit_log_via_check CHECK ((via = ANY (ARRAY['user'::text, 'cli_token'::text, 'system'::text])))
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
    updated_at timestamp with time zone NOT NULL
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
    CONSTRAINT cloud_credentials_provider_check CHECK ((provider = ANY (ARRAY['aws'::text, 'gcp'::text, 'azure'::text, 'do'::text, 'metal'::text, 'ssh'::text])))
);

CREATE TABLE public.cluster_sessions (
    cluster_id uuid NOT NULL,
    hub_id text NOT NULL,
    epoch bigint NOT NULL,
    token_version integer NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL
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
    CONSTRAINT clusters_ha_tier_check CHECK ((ha_tier = ANY (ARRAY['single-server'::text, 'ha'::text]))),
    CONSTRAINT clusters_provider_check CHECK ((provider = ANY (ARRAY['aws'::text, 'gcp'::text, 'azure'::text, 'do'::text, 'metal'::text, 'ssh'::text]))),
    CONSTRAINT clusters_stage_status_check CHECK ((stage_status = ANY (ARRAY['started'::text, 'completed'::text, 'failed'::text])))
);

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
    CONSTRAINT device_logins_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'claimed'::text])))
);

CREATE TABLE public.idempotency_keys (
    user_id uuid NOT NULL,
    key text NOT NULL,
    sealed_answer text,
    created_at timestamp with time zone NOT NULL
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
);

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.login_tallies (
    key text NOT NULL,
    tally jsonb NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

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
    CONSTRAINT projects_lifecycle_check CHECK ((lifecycle = ANY (ARRAY['pending'::text, 'ready'::text, 'degraded'::text, 'cleanup_pending'::text]))),
    CONSTRAINT projects_lifecycle_reason_check CHECK ((lifecycle_reason = ANY (ARRAY['operator_unreachable'::text, 'apply_failed'::text, 'namespace_conflict'::text, 'cleanup_degraded'::text])))
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
    CONSTRAINT provisioning_jobs_action_check CHECK ((action = ANY (ARRAY['create'::text, 'scale'::text, 'destroy'::text]))),
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
);

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
    ended_at timestamp with time zone
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
    CONSTRAINT users_email_check CHECK ((email = lower(email)))
);

INSERT INTO public.kysely_migration VALUES ('0001_foundation', '2026-11-16T08:23:06.547Z');
INSERT INTO public.kysely_migration VALUES ('0002_jobs', '2026-11-16T08:23:06.552Z');
INSERT INTO public.kysely_migration VALUES ('0003_fleet', '2026-11-16T08:23:06.590Z');

INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);

SELECT pg_catalog.setval('public.provisioning_log_lines_position_seq', 1, false);

SELECT pg_catalog.setval('public.session_epochs', 1, false);

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

ALTER TABLE ONLY public.clusters
    ADD CONSTRAINT clusters_name_taken UNIQUE (org_id, name);

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

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, key);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.login_tallies
    ADD CONSTRAINT login_tallies_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_member_already PRIMARY KEY (org_id, user_id);

ALTER TABLE ONLY public.metric_samples
    ADD CONSTRAINT metric_samples_pkey PRIMARY KEY (cluster_id, at);

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

CREATE INDEX addon_instances_by_project ON public.addon_instances USING btree (project_id, id DESC);

CREATE INDEX app_deployments_overdue ON public.app_deployments USING btree (deadline_at) WHERE ((status = 'pending'::text) AND (deadline_at IS NOT NULL));

CREATE INDEX apps_by_org ON public.apps USING btree (org_id, id DESC);

CREATE INDEX apps_by_project ON public.apps USING btree (project_id, id DESC);

CREATE INDEX audit_log_by_org ON public.audit_log USING btree (org_id, id DESC);

CREATE INDEX cli_tokens_by_user ON public.cli_tokens USING btree (user_id, id DESC);

CREATE INDEX clusters_by_credential ON public.clusters USING btree (credential_id) WHERE (credential_id IS NOT NULL);

CREATE INDEX clusters_by_org ON public.clusters USING btree (org_id, id DESC);

CREATE INDEX desired_resources_untold ON public.desired_resources USING btree (cluster_id, revision) WHERE ((removed_at IS NOT NULL) OR (acked_generation IS DISTINCT FROM generation));

CREATE INDEX device_logins_by_expiry ON public.device_logins USING btree (expires_at);

CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX jobs_by_end ON public.jobs USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX jobs_due ON public.jobs USING btree (run_at, id) WHERE (status = 'pending'::text);

CREATE INDEX jobs_lane_order ON public.jobs USING btree (lane, run_at, id) WHERE ((status = 'pending'::text) AND (lane IS NOT NULL));

CREATE INDEX jobs_leased ON public.jobs USING btree (lease_until) WHERE (status = 'running'::text);

CREATE UNIQUE INDEX jobs_one_running_per_lane ON public.jobs USING btree (lane) WHERE ((status = 'running'::text) AND (lane IS NOT NULL));

CREATE INDEX login_tallies_by_age ON public.login_tallies USING btree (updated_at);

CREATE INDEX memberships_by_age ON public.memberships USING btree (org_id, created_at DESC, user_id DESC);

CREATE INDEX memberships_by_user ON public.memberships USING btree (user_id);

CREATE INDEX metric_samples_by_age ON public.metric_samples USING btree (at);

CREATE INDEX projects_by_cluster ON public.projects USING btree (cluster_id, id DESC);

CREATE INDEX projects_by_org ON public.projects USING btree (org_id, id DESC);

CREATE INDEX projects_uncleaned ON public.projects USING btree (updated_at) WHERE ((lifecycle = 'cleanup_pending'::text) AND (lifecycle_reason IS NULL));

CREATE INDEX projects_unconfirmed ON public.projects USING btree (created_at) WHERE (lifecycle = 'pending'::text);

CREATE INDEX provisioning_jobs_by_cluster ON public.provisioning_jobs USING btree (cluster_id, id DESC);

CREATE INDEX role_bindings_by_cluster ON public.role_bindings USING btree (cluster_id) WHERE (cluster_id IS NOT NULL);

CREATE INDEX role_bindings_by_project ON public.role_bindings USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX row_counts_by_scope ON public.row_counts USING btree (relation, scope) INCLUDE (delta);

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_by_user ON public.sessions USING btree (user_id);

CREATE INDEX stack_templates_by_name ON public.stack_templates USING btree (namespace, name);

CREATE INDEX stack_templates_by_org ON public.stack_templates USING btree (org_id, id DESC);

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

ALTER TABLE ONLY public.cli_tokens
    ADD CONSTRAINT cli_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cloud_credentials
    ADD CONSTRAINT cloud_credentials_org FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cluster_sessions
    ADD CONSTRAINT cluster_sessions_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

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

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.metric_samples
    ADD CONSTRAINT metric_samples_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.clusters(id) ON DELETE CASCADE;

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
    ADD CONSTRAINT stack_templates_org_id_fkey FOREIGN KEY (org_id) REFERENCES public.orgs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_tier_name_fkey FOREIGN KEY (tier_name) REFERENCES public.tiers(name);
