import { safeText } from "@binnacle/contract";
import { type Env, type LogLevel, readConfig } from "@binnacle/process";
import { type Environment, type Role, SECRETS, SETTINGS } from "./config/variables.ts";
import type { VaultKey } from "./vault/vault.ts";

export { type Environment, type Role, VARIABLES } from "./config/variables.ts";

/** The whole configuration: parsed once at the start, typed, with the secrets apart so that the rest can be logged. */
export interface Config {
  readonly environment: Environment;
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  readonly hubPort: number;
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
  readonly projectConfirmSeconds: number;
  readonly adminEmail: string | null;
  readonly chartHosts: readonly string[];
  readonly templateRegistry: string | null;
  readonly logLevel: LogLevel;
  readonly sandbox: "on" | "off";
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

export const LOCAL_ADMIN = { username: "admin", email: "admin@binnacle.local", password: "binnacle" } as const;

/** Made of nothing but the words that manuals and examples use: public, so never a secret. */
const WELL_KNOWN = /^(change[-_ ]?me|secret|password|passwd|default|example|admin|binnacle|key|[\d\W_])+$/i;

/** Throws ConfigProblems with everything that is wrong, not only with the first of it. */
export function parseConfig(env: Env): Config {
  return readConfig(
    {
      program: "Binnacle",
      settings: SETTINGS,
      secrets: SECRETS,
      shown: safeText,
      clashes: ({ environment }, secrets) =>
        environment && environment !== "local"
          ? [...missingOutsideLocal(env, environment), ...wellKnownSecrets(secrets)]
          : [],
    },
    env,
  );
}

/** A hub of its own stands beside the API, perhaps on the same machine. */
export function listeningPort({ roles, port, hubPort }: Pick<Config, "roles" | "port" | "hubPort">) {
  const isHubAlone = roles.includes("hub") && !roles.includes("api");
  return isHubAlone ? { port: hubPort, variable: SETTINGS.hubPort.name } : { port, variable: SETTINGS.port.name };
}

const REQUIRED_OUTSIDE_LOCAL = [
  SECRETS.databaseUrl,
  SECRETS.signingKey,
  SECRETS.vaultKeys,
  SETTINGS.adminEmail,
  SECRETS.adminPassword,
];

function missingOutsideLocal(env: Env, environment: Environment): string[] {
  return REQUIRED_OUTSIDE_LOCAL.filter(({ name }) => !env[name]).map(
    ({ name }) => `${name} is required where BINNACLE_ENVIRONMENT is ${environment}`,
  );
}

function wellKnownSecrets(secrets: Partial<Secrets>): string[] {
  return (["signingKey", "adminPassword"] as const)
    .filter((key) => WELL_KNOWN.test(secrets[key] ?? ""))
    .map((key) => `${SECRETS[key].name} is a well-known default; choose a secret of your own`);
}
