import { safeText } from "@binnacle/contract";
import { isServiceLink } from "./config/service-link.ts";
import { type LogLevel, SECRETS, SETTINGS, VARIABLES, type Variable } from "./config/variables.ts";

/** The whole configuration: parsed once at the start, typed, with the secret apart so that the rest can be logged. */
export interface Config {
  readonly hubUrl: string;
  readonly clusterId: string;
  readonly kubeconfig: string | null;
  readonly namespace: string;
  readonly tokenSecret: string | null;
  readonly helm: string;
  readonly prometheusUrl: string | null;
  readonly healthPort: number;
  readonly logLevel: LogLevel;
  readonly secrets: { readonly token: string };
}

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
  const problems = unknownNames(env).map((name) => `${name} is not a variable of the Binnacle operator`);
  const settings = valuesOf(SETTINGS, env, (name, problem, text) =>
    // An address may carry a password, which is no more to be shown than the token is.
    problems.push(`${name} ${problem}${text === null ? "" : ` (it is ${safeText(JSON.stringify(text))})`}`),
  );
  const secrets = valuesOf(SECRETS, env, (name, problem) => problems.push(`${name} ${problem}`));
  if (problems.length > 0) throw new ConfigProblems(problems);
  return { ...settings, secrets };
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
  report: (name: string, problem: string, text: string | null) => void,
): ValuesOf<V> {
  const values: Record<string, unknown> = {};
  for (const [key, { name, fallback, parse }] of Object.entries(variables)) {
    const text = env[name] || fallback;
    try {
      if (text === undefined) report(name, "is required", null);
      else values[key] = text === null ? null : parse(text);
    } catch (error) {
      report(name, (error as Error).message, text ?? null);
    }
  }
  return values as ValuesOf<V>;
}
