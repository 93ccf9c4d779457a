import { parseVaultKeys, type VaultKey } from "./vault/vault.ts";

/** The whole configuration: parsed once at the start, typed, with the secrets apart so that the rest can be logged. */
export interface Config {
  readonly environment: Environment;
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string;
  readonly dataDir: string;
  readonly databasePoolSize: number;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly bodyLimitBytes: number;
  readonly requestTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly accessTokenMinutes: number;
  readonly refreshTokenDays: number;
  readonly adminEmail: string | null;
  readonly logLevel: LogLevel;
  readonly build: string | null;
  readonly secrets: Secrets;
}

export interface Secrets {
  /** Null in `local`: the first start makes them and keeps them in the data folder. */
  readonly signingKey: string | null;
  readonly vaultKeys: readonly VaultKey[] | null;
  readonly adminPassword: string | null;
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
}

export const ENVIRONMENTS = ["local", "staging", "production"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const ROLES = ["api", "worker"] as const;
export type Role = (typeof ROLES)[number];

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOCAL_ADMIN = { username: "admin", email: "admin@binnacle.local", password: "binnacle" } as const;

/** What the documents of old installations and this repository show: public, so never a secret. */
const KNOWN_SECRETS = ["changeme", "change-me", "secret", "password", LOCAL_ADMIN.password];

export class ConfigProblems extends Error {
  override readonly name = "ConfigProblems";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

interface Variable<T> {
  readonly name: string;
  readonly fallback: string | null;
  readonly secret?: true;
  readonly meaning: string;
  readonly parse: (text: string) => T;
}

const variable = <T>(definition: Variable<T>) => definition;

/** Every variable that Binnacle reads. `docs/operations/configuration.md` is held against this list by a test. */
export const VARIABLES = {
  environment: variable({
    name: "BINNACLE_ENVIRONMENT",
    fallback: "local",
    meaning: "`local`, `staging` or `production`",
    parse: oneOf(ENVIRONMENTS),
  }),
  roles: variable({
    name: "BINNACLE_ROLES",
    fallback: "api,worker",
    meaning: "What this process does, comma-separated",
    parse: (text) => list(text).map(oneOf(ROLES)),
  }),
  host: variable({ name: "BINNACLE_HOST", fallback: "127.0.0.1", meaning: "Address to listen on", parse: filled }),
  port: variable({
    name: "BINNACLE_PORT",
    fallback: "8080",
    meaning: "Port to listen on; 0 takes a free one",
    parse: integer(0, 65_535),
  }),
  publicUrl: variable({
    name: "BINNACLE_PUBLIC_URL",
    fallback: "http://127.0.0.1:8080",
    meaning: "Address under which people and clusters reach the control plane",
    parse: httpUrl,
  }),
  dataDir: variable({
    name: "BINNACLE_DATA_DIR",
    fallback: ".data",
    meaning: "Folder of the embedded database and of the keys made in `local`",
    parse: filled,
  }),
  databaseUrl: variable({
    name: "DATABASE_URL",
    fallback: null,
    secret: true,
    meaning: "PostgreSQL 14 or newer; without it the embedded one runs in the data folder",
    parse: url("postgres:", "postgresql:"),
  }),
  databasePoolSize: variable({
    name: "BINNACLE_DATABASE_POOL_SIZE",
    fallback: "20",
    meaning: "Database connections that this process opens at most",
    parse: integer(2, 500),
  }),
  redisUrl: variable({
    name: "REDIS_URL",
    fallback: null,
    secret: true,
    meaning: "Redis that carries hints between replicas; without it they stay in the process",
    parse: url("redis:", "rediss:"),
  }),
  signingKey: variable({
    name: "BINNACLE_SECRET_KEY",
    fallback: null,
    secret: true,
    meaning: "Signs tokens; at least 32 characters. Made on the first start in `local`, required elsewhere",
    parse: longSecret,
  }),
  vaultKeys: variable({
    name: "BINNACLE_VAULT_KEYS",
    fallback: null,
    secret: true,
    meaning:
      "Keys that seal secrets at rest, `id:base64,…`, 32 bytes each; the first one seals. Made on the first start in `local`, required elsewhere",
    parse: parseVaultKeys,
  }),
  adminEmail: variable({
    name: "BINNACLE_ADMIN_EMAIL",
    fallback: null,
    meaning: "Email address of the first superuser. `admin@binnacle.local` in `local`, required elsewhere",
    parse: email,
  }),
  adminPassword: variable({
    name: "BINNACLE_ADMIN_PASSWORD",
    fallback: null,
    secret: true,
    meaning: "Password of the first superuser. `binnacle` in `local`, required elsewhere",
    parse: adminPassword,
  }),
  accessTokenMinutes: variable({
    name: "BINNACLE_ACCESS_TOKEN_MINUTES",
    fallback: "30",
    meaning: "Lifetime of an access token",
    parse: integer(1, 1440),
  }),
  refreshTokenDays: variable({
    name: "BINNACLE_REFRESH_TOKEN_DAYS",
    fallback: "7",
    meaning: "Lifetime of a refresh token, and so of a session",
    parse: integer(1, 365),
  }),
  trustedProxies: variable({
    name: "BINNACLE_TRUSTED_PROXIES",
    fallback: "",
    meaning: "Addresses or CIDR ranges whose `X-Forwarded-For` is believed, comma-separated",
    parse: (text) => list(text).map(addressRange),
  }),
  corsOrigins: variable({
    name: "BINNACLE_CORS_ORIGINS",
    fallback: "",
    meaning: "Origins that may call the API from a browser, comma-separated; none by default",
    parse: (text) => list(text).map(origin),
  }),
  bodyLimitBytes: variable({
    name: "BINNACLE_BODY_LIMIT_BYTES",
    fallback: "1048576",
    meaning: "Largest request body",
    parse: integer(1024, 104_857_600),
  }),
  requestTimeoutMs: variable({
    name: "BINNACLE_REQUEST_TIMEOUT_MS",
    fallback: "30000",
    meaning: "How long a client may take to send a request",
    parse: integer(1000, 600_000),
  }),
  drainTimeoutMs: variable({
    name: "BINNACLE_DRAIN_TIMEOUT_MS",
    fallback: "10000",
    meaning: "How long requests and jobs in flight may take to end when the server stops",
    parse: integer(0, 600_000),
  }),
  logLevel: variable({
    name: "BINNACLE_LOG_LEVEL",
    fallback: "info",
    meaning: "`trace`, `debug`, `info`, `warn`, `error` or `silent`",
    parse: oneOf(LOG_LEVELS),
  }),
  build: variable({
    name: "BINNACLE_BUILD",
    fallback: null,
    meaning: "Git revision, stamped into the image when it is built",
    parse: filled,
  }),
};

type Values = { [K in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[K]["parse"]> | null };

export function parseConfig(env: Env): Config {
  const problems = unknownVariables(env).map((name) => `${name} is not a variable of Binnacle`);
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES)) {
    const text = env[variable.name] || variable.fallback;
    values[key] = null;
    if (text === null) continue;
    try {
      values[key] = variable.parse(text);
    } catch (error) {
      const shown = "secret" in variable ? "" : ` (it is ${JSON.stringify(text)})`;
      problems.push(`${variable.name} ${(error as Error).message}${shown}`);
    }
  }
  const { signingKey, vaultKeys, adminPassword, databaseUrl, redisUrl, ...rest } = values as Values;
  const secrets = { signingKey, vaultKeys, adminPassword, databaseUrl, redisUrl };
  problems.push(...missingOutsideLocal({ ...rest, ...secrets }));
  if (problems.length > 0) throw new ConfigProblems(problems);
  return { ...(rest as Omit<Config, "secrets">), secrets };
}

function missingOutsideLocal(values: Values): string[] {
  if (values.environment === "local" || values.environment === null) return [];
  const required = ["signingKey", "vaultKeys", "adminEmail", "adminPassword", "databaseUrl"] as const;
  const missing = required
    .filter((key) => values[key] === null)
    .map((key) => `${VARIABLES[key].name} is required where BINNACLE_ENVIRONMENT is ${values.environment}`);
  const known = (["signingKey", "adminPassword"] as const)
    .filter((key) => KNOWN_SECRETS.includes(values[key]?.toLowerCase() ?? ""))
    .map((key) => `${VARIABLES[key].name} is a well-known default; choose a secret of your own`);
  return [...missing, ...known];
}

/**
 * A Kubernetes Service named `binnacle…` puts `BINNACLE_PORT=tcp://…` and the like into every pod beside it; those
 * variables are nobody's mistake.
 */
function unknownVariables(env: Env): string[] {
  const known = new Set<string>(Object.values(VARIABLES).map(({ name }) => name));
  const serviceLink = /^BINNACLE(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP)(_[A-Z]+)?)$/;
  return Object.keys(env)
    .filter((name) => name.startsWith("BINNACLE_") && !known.has(name) && !serviceLink.test(name))
    .filter((name) => !/^BINNACLE(_[A-Z0-9]+)*_PORT$/.test(name) || !env[name]?.startsWith("tcp://"))
    .sort();
}

function list(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
}

function filled(text: string): string {
  if (!text.trim()) throw new Error("must not be empty");
  return text;
}

function oneOf<const T extends string>(choices: readonly T[]) {
  return (text: string): T => {
    const choice = choices.find((candidate) => candidate === text);
    if (!choice) throw new Error(`must be one of ${choices.join(", ")}`);
    return choice;
  };
}

function integer(minimum: number, maximum: number) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

function url(...protocols: string[]) {
  return (text: string): string => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new Error(`must be an address that begins with ${protocols.map((name) => `${name}//`).join(" or ")}`);
    }
    return text;
  };
}

function httpUrl(text: string): string {
  return url("http:", "https:")(text).replace(/\/+$/, "");
}

function origin(text: string): string {
  if (httpUrl(text) !== new URL(text).origin) throw new Error("must list origins such as https://console.example.com");
  return text;
}

function addressRange(text: string): string {
  if (!/^[0-9a-fA-F:.]+(\/\d{1,3})?$/.test(text)) throw new Error("must list IP addresses or CIDR ranges");
  return text;
}

function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new Error("must be an email address");
  return text.toLowerCase();
}

function longSecret(text: string): string {
  if (text.length < 32) throw new Error("must have at least 32 characters");
  return text;
}

function adminPassword(text: string): string {
  if (text.length < 8 || text.length > 128) throw new Error("must have 8 to 128 characters");
  return text;
}
