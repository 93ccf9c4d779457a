import type { Env } from "@binnacle/process";

export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
}

/** The part of Docker's `config.json` that is read; Podman's `auth.json` has the same. */
interface DockerConfig {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

const FROM_ENVIRONMENT = "Set REGISTRY_USERNAME and REGISTRY_PASSWORD instead.";

/**
 * Who pushes to a registry: what the environment says, else what `docker login` has stored. Null pushes as anybody. No message quotes
 * what was stored.
 */
export function registryCredential(host: string, env: Env, stored: string | null): RegistryCredential | null {
  const { REGISTRY_USERNAME: username, REGISTRY_PASSWORD: password } = env;
  if (username && password) return { username, password };
  if (username || password) throw new Error("Set both REGISTRY_USERNAME and REGISTRY_PASSWORD, or neither.");
  if (stored === null) return null;
  const { auths = {}, credHelpers = {}, credsStore } = dockerConfig(stored);
  const entry = Object.entries(auths).find(([key]) => hostOf(key) === host)?.[1];
  const helper = credHelpers[host] ?? (entry && !entry.auth ? credsStore : undefined);
  if (helper) throw new Error(`docker login has left the password of ${host} to another program. ${FROM_ENVIRONMENT}`);
  if (entry?.identitytoken) throw new Error(`docker login has stored a token for ${host}. ${FROM_ENVIRONMENT}`);
  return entry?.auth ? decoded(entry.auth, host) : null;
}

function dockerConfig(text: string): DockerConfig {
  try {
    return JSON.parse(text) as DockerConfig;
  } catch {
    throw new Error(`The file of docker login is not JSON. ${FROM_ENVIRONMENT}`);
  }
}

/** Keys are hosts, or addresses such as `https://registry.example.com/v2/`. */
const hostOf = (key: string) => key.replace(/^https?:\/\//, "").replace(/\/.*$/, "");

function decoded(auth: string, host: string): RegistryCredential {
  const text = Buffer.from(auth, "base64").toString("utf8");
  const end = text.indexOf(":");
  if (end < 1) throw new Error(`The entry of ${host} in the file of docker login is damaged. ${FROM_ENVIRONMENT}`);
  return { username: text.slice(0, end), password: text.slice(end + 1) };
}
