import { isServiceLink } from "./config/service-link.ts";
import {
  type Environment,
  type LogLevel,
  type Role,
  SECRETS,
  SETTINGS,
  VARIABLES,
  type Variable,
} from "./config/variables.ts";
import type { VaultKey } from "./vault/vault.ts";

export { type Environment, type LogLevel, type Role, VARIABLES } from "./config/variables.ts";

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

export class ConfigProblems extends Error {
  override readonly name = "ConfigProblems";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

type Env = Readonly<Record<string, string | undefined>>;
type Variables = Readonly<Record<string, Variable<unknown>>>;
type ValueOf<V> = V extends Variable<infer T, infer Fallback> ? T | Extract<Fallback, null> : never;
type ValuesOf<V extends Variables> = { readonly [K in keyof V]: ValueOf<V[K]> };

/** Throws ConfigProblems with everything that is wrong, not only with the first of it. */
export function parseConfig(given: Env): Config {
  const env = withoutServiceLinks(given);
  const problems = unknownNames(env).map((name) => `${name} is not a variable of Binnacle`);
  const settings = valuesOf(SETTINGS, env, (name, problem, text) =>
    problems.push(`${name} ${problem} (it is ${JSON.stringify(text)})`),
  );
  const secrets = valuesOf(SECRETS, env, (name, problem) => problems.push(`${name} ${problem}`));
  if (settings.environment && settings.environment !== "local") {
    problems.push(...missingOutsideLocal(env, settings.environment), ...wellKnownSecrets(secrets));
  }
  if (problems.length > 0) throw new ConfigProblems(problems);
  return { ...settings, secrets };
}

/** A hub of its own stands beside the API, perhaps on the same machine. */
export function listeningPort({ roles, port, hubPort }: Pick<Config, "roles" | "port" | "hubPort">) {
  const isHubAlone = roles.includes("hub") && !roles.includes("api");
  return isHubAlone ? { port: hubPort, variable: SETTINGS.hubPort.name } : { port, variable: SETTINGS.port.name };
}

function withoutServiceLinks(given: Env): Env {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isServiceLink(name, value ?? "")));
}

function unknownNames(env: Env): string[] {
  const known = new Set(VARIABLES.map(({ name }) => name));
  return Object.keys(env)
    .filter((name) => name.startsWith("BINNACLE_") && !known.has(name))
    .sort();
}

/** A variable that does not parse is reported and left out; nobody gets to see the values then. */
function valuesOf<V extends Variables>(
  variables: V,
  env: Env,
  report: (name: string, problem: string, text: string) => void,
): ValuesOf<V> {
  const values: Record<string, unknown> = {};
  for (const [key, { name, fallback, parse }] of Object.entries(variables)) {
    const text = env[name] || fallback;
    try {
      values[key] = text === null ? null : parse(text);
    } catch (error) {
      report(name, (error as Error).message, text ?? "");
    }
  }
  return values as ValuesOf<V>;
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

function wellKnownSecrets(secrets: Secrets): string[] {
  return (["signingKey", "adminPassword"] as const)
    .filter((key) => WELL_KNOWN.test(secrets[key] ?? ""))
    .map((key) => `${SECRETS[key].name} is a well-known default; choose a secret of your own`);
}
