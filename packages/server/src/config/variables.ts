import { isIP } from "node:net";
import {
  baseUrl,
  filled,
  hostWithPort,
  integer,
  LOG_LEVEL,
  list,
  oneOf,
  optional,
  type Parser,
  setting,
  url,
  type Variable,
} from "@binnacle/process";
import { TRACES_ENDPOINT } from "@binnacle/tracing";
import { parseVaultKeys } from "../vault/vault.ts";

function flag(text: string): boolean {
  if (text !== "true" && text !== "false") throw new Error("must be true or false");
  return text === "true";
}

function nonEmptyList<T>(item: Parser<T>): Parser<readonly T[]> {
  return (text) => {
    const items = list(item)(text);
    if (items.length === 0) throw new Error("must name at least one");
    return items;
  };
}

function origin(text: string): string {
  const address = URL.parse(text);
  if (!address || !/^https?:$/.test(address.protocol) || address.origin !== text.replace(/\/$/, "")) {
    throw new Error("must list origins such as https://console.example.com");
  }
  return address.origin;
}

const PREFIX_BITS: Record<number, number> = { 4: 32, 6: 128 };

function addressRange(text: string): string {
  const [address = "", prefix = "0", ...more] = text.split("/");
  const bits = PREFIX_BITS[isIP(address)];
  if (bits === undefined || more.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) {
    throw new Error("must list IP addresses or CIDR ranges");
  }
  return text;
}

/** Clouds take no single address as a range. */
function cidrRange(text: string): string {
  if (!text.includes("/")) throw new Error("must list CIDR ranges such as 203.0.113.0/24");
  return addressRange(text);
}

function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new Error("must be an email address");
  return text.toLowerCase();
}

function longSecret(text: string): string {
  if (text.length < 32) throw new Error("must have at least 32 characters");
  return text;
}

export function password(text: string): string {
  if (text.length < 8 || text.length > 128) throw new Error("must have 8 to 128 characters");
  return text;
}

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
  dataDir: setting(
    "BINNACLE_DATA_DIR",
    ".data",
    filled,
    "Folder of the built-in database and of the keys made in `local`",
  ),
  databasePoolSize: setting(
    "BINNACLE_DATABASE_POOL_SIZE",
    "20",
    integer(3, 500),
    "Database connections that this process opens at most",
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
    "Addresses or CIDR ranges whose `X-Forwarded-For` is believed, comma-separated",
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
  templateRegistry: optional(
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
    "Redis that carries hints between replicas; without it they stay in the process",
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
