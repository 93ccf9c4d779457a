import {
  baseUrl,
  filled,
  hostWithPort,
  integer,
  LOG_LEVEL,
  list,
  oneOf,
  optional,
  setting,
  url,
  type Variable,
} from "@binnacle/process";
import { TRACES_ENDPOINT } from "@binnacle/tracing";
import { parseVaultKeys } from "../vault/vault.ts";
import {
  addressRange,
  cidrRange,
  email,
  flag,
  imageRegistry,
  longSecret,
  nonEmptyList,
  origin,
  password,
} from "./parsers.ts";

export const ENVIRONMENTS = ["local", "staging", "production"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

const ROLES = ["api", "hub", "worker"] as const;

/** Settings may be shown and logged. */
export const SETTINGS = {
  environment: setting(
    "BINNACLE_ENVIRONMENT",
    "local",
    oneOf(ENVIRONMENTS),
    "`local`, `staging` or `production`; only `local` does without the secrets below",
  ),
  roles: setting(
    "BINNACLE_ROLES",
    "api,hub,worker",
    nonEmptyList(oneOf(ROLES)),
    "What this process does, comma-separated: `api` answers requests, `hub` holds the connections of operators, `worker` runs jobs",
  ),
  host: setting(
    "BINNACLE_HOST",
    "127.0.0.1",
    filled,
    "Address to listen on; `local` takes only those of this machine, such as `127.0.0.1`, `::1` or `localhost`",
  ),
  allowLocalOnNetwork: setting(
    "BINNACLE_ALLOW_LOCAL_ON_NETWORK",
    "false",
    flag,
    "`true` lets `local` listen on any address: whoever reaches it can sign in with the password that everybody knows",
  ),
  port: setting("BINNACLE_PORT", "8080", integer(0, 65_535), "Port to listen on; 0 takes a free one"),
  hubPort: setting(
    "BINNACLE_HUB_PORT",
    "8081",
    integer(0, 65_535),
    "Port to listen on where `hub` runs without `api`; 0 takes a free one",
  ),
  metricsPort: setting(
    "BINNACLE_METRICS_PORT",
    "9090",
    integer(0, 65_535),
    "Port of `/metrics` outside `local`; 0 takes a free one. In `local` it is on the port of everything else",
  ),
  metricsHost: optional(
    "BINNACLE_METRICS_HOST",
    filled,
    "Address that `/metrics` listens on outside `local`; without it that of `BINNACLE_HOST`",
  ),
  publicUrl: optional(
    "BINNACLE_PUBLIC_URL",
    baseUrl,
    "Address under which people and clusters reach the control plane, and the origin of its pages; `https://` outside `local`. Without it the address that it listens on",
  ),
  allowInsecurePublicUrl: setting(
    "BINNACLE_ALLOW_INSECURE_PUBLIC_URL",
    "false",
    flag,
    "`true` lets the public address be `http://` outside `local`: passwords and tokens then cross the network in the clear",
  ),
  tlsCertFile: optional(
    "BINNACLE_TLS_CERT_FILE",
    filled,
    "PEM file with the certificate of this server and those of its issuers, with which it serves HTTPS itself; without it a proxy ends TLS. It is read again when it changes",
  ),
  tlsKeyFile: optional(
    "BINNACLE_TLS_KEY_FILE",
    filled,
    "PEM file with the private key of that certificate, without a password",
  ),
  peerUrl: optional(
    "BINNACLE_PEER_URL",
    baseUrl,
    "Address under which other processes of this control plane reach a hub, such as `http://10.0.0.7:8081`. Without it the address that it listens on, or where that is every address, the one with which it reaches the database",
  ),
  dataDir: setting(
    "BINNACLE_DATA_DIR",
    ".data",
    filled,
    "Folder of the built-in database and of the keys made in `local`",
  ),
  database: setting(
    "BINNACLE_DATABASE",
    "external",
    oneOf(["external", "embedded"]),
    "`embedded` runs the built-in PostgreSQL in the data folder outside `local` too, for a control plane of one process on one machine",
  ),
  databasePoolSize: setting(
    "BINNACLE_DATABASE_POOL_SIZE",
    "20",
    integer(3, 500),
    "Database connections that this process opens at most; where PostgreSQL carries hints, one more",
  ),
  adminEmail: optional(
    "BINNACLE_ADMIN_EMAIL",
    email,
    "Email address of the first superuser; `admin@binnacle.local` in `local`, required elsewhere",
  ),
  accessTokenMinutes: setting("BINNACLE_ACCESS_TOKEN_MINUTES", "30", integer(1, 1440), "Lifetime of an access token"),
  refreshTokenDays: setting(
    "BINNACLE_REFRESH_TOKEN_DAYS",
    "7",
    integer(1, 365),
    "Lifetime of a refresh token, and so of a session",
  ),
  projectConfirmSeconds: setting(
    "BINNACLE_PROJECT_CONFIRM_SECONDS",
    "120",
    integer(1, 86_400),
    "How long a cluster may take to confirm a project before it counts as degraded",
  ),
  deploymentTimeoutSeconds: setting(
    "BINNACLE_DEPLOYMENT_TIMEOUT_SECONDS",
    "900",
    integer(60, 86_400),
    "How long a cluster may take to become ready with a change of an app before its deployment has failed",
  ),
  trustedProxies: setting(
    "BINNACLE_TRUSTED_PROXIES",
    "",
    list(addressRange),
    "Addresses or CIDR ranges whose `X-Forwarded-For` is trusted, comma-separated",
  ),
  corsOrigins: setting(
    "BINNACLE_CORS_ORIGINS",
    "",
    list(origin),
    "Origins that may call the API from a browser, comma-separated",
  ),
  eventStreamsPerUser: setting(
    "BINNACLE_EVENT_STREAMS_PER_USER",
    "100",
    integer(1, 100_000),
    "Event streams that one user may have open on this server; one more is a 429",
  ),
  bodyLimitBytes: setting("BINNACLE_BODY_LIMIT_BYTES", "1048576", integer(1024, 104_857_600), "Largest request body"),
  requestTimeoutMs: setting(
    "BINNACLE_REQUEST_TIMEOUT_MS",
    "30000",
    integer(1000, 600_000),
    "How long a client may take to send a request",
  ),
  drainDelayMs: setting(
    "BINNACLE_DRAIN_DELAY_MS",
    "0",
    integer(0, 300_000),
    "How long a server that stops goes on serving while `/readyz` says that it is not ready, for load balancers to notice; in Kubernetes 5000",
  ),
  drainTimeoutMs: setting(
    "BINNACLE_DRAIN_TIMEOUT_MS",
    "10000",
    integer(0, 600_000),
    "How long requests and jobs in flight may take to end when the server stops",
  ),
  logLevel: LOG_LEVEL,
  tracesEndpoint: TRACES_ENDPOINT,
  chartHosts: setting(
    "BINNACLE_CHART_HOSTS",
    "",
    list(hostWithPort),
    "Hosts of chart repositories that may have an address which is not public and may speak plain HTTP, comma-separated; `host` or `host:port`",
  ),
  gitHosts: setting(
    "BINNACLE_GIT_HOSTS",
    "",
    list(hostWithPort),
    "Hosts of Git that may have an address which is not public and may speak plain HTTP, comma-separated; `host` or `host:port`",
  ),
  templateCatalog: optional(
    "BINNACLE_TEMPLATE_REGISTRY",
    url("http:", "https:"),
    "Address of a registry of stack templates, a YAML or JSON list; without it the one that ships is offered",
  ),
  sandbox: setting(
    "BINNACLE_SANDBOX",
    "on",
    oneOf(["on", "off"]),
    "`off` leaves out the simulated cluster that `local` has; it is never part of `staging` and `production`",
  ),
  helm: setting(
    "BINNACLE_HELM",
    "helm",
    filled,
    "Path of the `helm` program that the operator of the simulated cluster uses for charts and addons",
  ),
  tofu: optional(
    "BINNACLE_TOFU",
    filled,
    "Path of the OpenTofu or Terraform program with which the worker makes clusters; without it `tofu`, then `terraform` on the search path",
  ),
  tofuParallel: setting(
    "BINNACLE_TOFU_PARALLEL",
    "4",
    integer(1, 100),
    "Provisioning jobs, and so OpenTofu processes, that a worker runs at once",
  ),
  tofuConfigFile: optional(
    "BINNACLE_TOFU_CONFIG_FILE",
    filled,
    "Path of a CLI configuration of OpenTofu, such as one that names a mirror of its plugins; without it OpenTofu has none",
  ),
  tofuPluginCache: optional(
    "BINNACLE_TOFU_PLUGIN_CACHE",
    filled,
    "Folder in which OpenTofu keeps its plugins between jobs; without it each job downloads them",
  ),
  tofuGraceMs: setting(
    "BINNACLE_TOFU_GRACE_MS",
    "60000",
    integer(1000, 600_000),
    "How long OpenTofu may take to save its state when the worker stops or a job is cancelled; then it is killed",
  ),
  provisioningTimeoutMinutes: setting(
    "BINNACLE_PROVISIONING_TIMEOUT_MINUTES",
    "60",
    integer(1, 1440),
    "How long a provisioning job may run before it has failed",
  ),
  bootstrapTimeoutMinutes: setting(
    "BINNACLE_BOOTSTRAP_TIMEOUT_MINUTES",
    "20",
    integer(1, 1440),
    "How long the machines of a provisioning job may take to become nodes and their operator to connect, after they were made",
  ),
  clusterAdminRanges: setting(
    "BINNACLE_CLUSTER_ADMIN_RANGES",
    "",
    list(cidrRange),
    "CIDR ranges from which the Kubernetes API and SSH of provisioned clusters can be reached, comma-separated; without any nobody reaches them",
  ),
  imagesDir: optional(
    "BINNACLE_IMAGES_DIR",
    filled,
    "Folder of the images that `npm run images` has written; the API then serves them under `/v2/` as a read-only registry, and the command line by `/install.sh`",
  ),
  imageRegistry: optional(
    "BINNACLE_IMAGE_REGISTRY",
    imageRegistry,
    "Registry from which clusters pull the operator's image, such as `registry.example.com/mirror`; without it this control plane, where it has images",
  ),
  auditRetentionDays: setting(
    "BINNACLE_AUDIT_RETENTION_DAYS",
    "400",
    integer(0, 36_500),
    "After how many days entries of the audit log are deleted; 0 keeps them for ever",
  ),
  build: optional("BINNACLE_BUILD", filled, "Git revision, stamped into the image when it is built"),
};

/** Secrets are never shown, neither in a message nor in a log. */
export const SECRETS = {
  databaseUrl: optional(
    "DATABASE_URL",
    url("postgres:", "postgresql:"),
    "PostgreSQL 14 or newer; without it the built-in one runs in the data folder. Required outside `local`",
  ),
  redisUrl: optional(
    "REDIS_URL",
    url("redis:", "rediss:"),
    "Redis that carries hints between replicas; without it PostgreSQL does",
  ),
  directDatabaseUrl: optional(
    "BINNACLE_DIRECT_DATABASE_URL",
    url("postgres:", "postgresql:"),
    "The same database without a pooler in between, for hints and migrations, where `DATABASE_URL` leads through one in transaction mode",
  ),
  signingKey: optional(
    "BINNACLE_SECRET_KEY",
    longSecret,
    "Signs tokens; at least 32 characters. Made on the first start in `local`, required elsewhere",
  ),
  vaultKeys: optional(
    "BINNACLE_VAULT_KEYS",
    parseVaultKeys,
    "Keys that seal secrets at rest, `id:base64,…`, 32 bytes each; the first one seals. Made on the first start in `local`, required elsewhere",
  ),
  adminPassword: optional(
    "BINNACLE_ADMIN_PASSWORD",
    password,
    "Password of the first superuser; `binnacle` in `local`, required elsewhere",
  ),
};

/** Every variable that Binnacle reads. A test compares `docs/operations/configuration.md` with this list. */
export const VARIABLES: readonly Variable<unknown, string | null>[] = [
  ...Object.values(SETTINGS),
  ...Object.values(SECRETS),
];
