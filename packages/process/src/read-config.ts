import { oneOf, type Parser } from "./parsers.ts";

export interface Variable<T, Fallback extends string | null | undefined = string | null | undefined> {
  readonly name: string;
  /** The text that an unset variable is read as. Null leaves the value null; undefined makes the variable required. */
  readonly fallback: Fallback;
  readonly parse: Parser<T>;
  /** The text of the variable in the table of all variables. */
  readonly meaning: string;
}

export type Variables = Readonly<Record<string, Variable<unknown>>>;

type ValueOf<V> = V extends Variable<infer T, infer Fallback> ? T | Extract<Fallback, null> : never;
export type ValuesOf<V extends Variables> = { readonly [K in keyof V]: ValueOf<V[K]> };

export const required = <T>(name: string, parse: Parser<T>, meaning: string): Variable<T, undefined> => ({
  name,
  fallback: undefined,
  parse,
  meaning,
});

export const setting = <T>(name: string, fallback: string, parse: Parser<T>, meaning: string): Variable<T, string> => ({
  name,
  fallback,
  parse,
  meaning,
});

export const optional = <T>(name: string, parse: Parser<T>, meaning: string): Variable<T, null> => ({
  name,
  fallback: null,
  parse,
  meaning,
});

/**
 * Kubernetes sets variables for every Service of a namespace in every pod, unless that is turned off. A Service named
 * `binnacle` or `binnacle-…` sets variables with our prefix that are not mistakes: `BINNACLE_SERVICE_HOST`, and
 * `BINNACLE_PORT=tcp://10.0.0.7:8080`, which only its value distinguishes from the port to listen on.
 */
const NAMED_LIKE_ONE = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const VALUED_LIKE_ONE = /^(tcp|udp|sctp):\/\//;

function isServiceLink(name: string, value: string): boolean {
  return NAMED_LIKE_ONE.test(name) || (name.endsWith("_PORT") && VALUED_LIKE_ONE.test(value));
}

export type Env = Readonly<Record<string, string | undefined>>;

/** The variables of a program. */
export interface Reader<S extends Variables, P extends Variables> {
  /** As in "BINNACLE_PROT is not a variable of Binnacle". */
  readonly program: string;
  /** Settings may be shown and logged. */
  readonly settings: S;
  /** Secrets are never shown, neither in a message nor in a log. */
  readonly secrets: P;
  /** Removes secrets from a refused setting before it is shown: a URL may carry a password. */
  readonly shown: (text: string) => string;
  /** Returns the conflicts between values. Values that did not parse are left out of the arguments. */
  readonly clashes?: (settings: Partial<ValuesOf<S>>, secrets: Partial<ValuesOf<P>>) => readonly string[];
}

/** Carries all problems, not only the first. */
export class ConfigProblems extends Error {
  override readonly name = "ConfigProblems";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/** The values of the settings, and separately those of the secrets. */
export type ConfigOf<S extends Variables, P extends Variables> = ValuesOf<S> & { readonly secrets: ValuesOf<P> };

/** Reads all variables. Secrets are separate, so that the settings can be logged. Throws ConfigProblems. */
export function readConfig<S extends Variables, P extends Variables>(
  { program, settings, secrets, shown, clashes }: Reader<S, P>,
  given: Env,
): ConfigOf<S, P> {
  const env = withoutServiceLinks(given);
  const problems = unknownNames(env, settings, secrets).map((name) => `${name} is not a variable of ${program}`);
  const open = valuesOf(settings, env, (name, problem, text) =>
    problems.push(`${name} ${problem}${text === null ? "" : ` (it is ${shown(JSON.stringify(text))})`}`),
  );
  const hidden = valuesOf(secrets, env, (name, problem) => problems.push(`${name} ${problem}`));
  problems.push(...(clashes?.(open, hidden) ?? []));
  if (problems.length > 0) throw new ConfigProblems(problems);
  return { ...(open as ValuesOf<S>), secrets: hidden as ValuesOf<P> };
}

function withoutServiceLinks(given: Env): Env {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isServiceLink(name, value ?? "")));
}

function unknownNames(env: Env, ...known: readonly Variables[]): string[] {
  const names = new Set(known.flatMap((variables) => Object.values(variables).map(({ name }) => name)));
  return Object.keys(env)
    .filter((name) => name.startsWith("BINNACLE_") && !names.has(name))
    .sort();
}

/** A variable that does not parse is reported and left out. */
function valuesOf<V extends Variables>(
  variables: V,
  env: Env,
  report: (name: string, problem: string, text: string | null) => void,
): Partial<ValuesOf<V>> {
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
  return values as Partial<ValuesOf<V>>;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_LEVEL = setting(
  "BINNACLE_LOG_LEVEL",
  "info",
  oneOf(LOG_LEVELS),
  "`trace`, `debug`, `info`, `warn`, `error` or `silent`",
);
