import { maskRandom } from "@binnacle/contract";
import type { Env } from "@binnacle/process";
import { SECRETS } from "../config/variables.ts";

/** Names of variables, of Binnacle and of others, whose values nobody else should see. */
const SECRET_NAME = /PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|HEADERS|COOKIE/i;
/** A shorter value stands for itself in too many texts, and no secret of Binnacle may be as short. */
const SHORTEST = 4;

/**
 * Returns the function that makes a text safe to hand on: every secret of this process is replaced wherever it stands, and what looks
 * like one of somebody else too.
 */
export function maskerOf(env: Env): (text: string) => string {
  const known = secretsOf(env);
  return (text) => maskRandom(known.reduce((rest, secret) => rest.replaceAll(secret, "[masked]"), text));
}

/** The longest first, so that no part of one is left over. */
function secretsOf(env: Env): string[] {
  const names = new Set(Object.values(SECRETS).map(({ name }) => name));
  const values = Object.entries(env)
    .filter(([name]) => names.has(name) || SECRET_NAME.test(name))
    .flatMap(([, value = ""]) => [value, ...partsOf(value)]);
  const spellings = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]);
  return [...new Set(spellings)]
    .filter(({ length }) => length >= SHORTEST)
    .sort((one, other) => other.length - one.length);
}

/** The password of an address, and the keys of a list such as `k1:…,k2:…`. */
function partsOf(value: string): string[] {
  const password = URL.parse(value)?.password;
  const keys = value.split(",").map((item) => item.slice(item.indexOf(":") + 1));
  return password ? [password, decoded(password)] : keys;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One line for each variable: a setting with its value, a secret with whether it is set. */
export function configurationLines(
  variables: Readonly<Record<string, { readonly name: string; readonly fallback: string | null | undefined }>>,
  env: Env,
  isSecret: boolean,
): string[] {
  return Object.values(variables).map(({ name, fallback }) => {
    const value = env[name];
    if (isSecret) return `${name}: ${value ? "(set)" : "(not set)"}`;
    return value ? `${name}=${value}` : `${name}=${fallback ?? ""} (default)`;
  });
}
