import { scanPlaceholders } from "../catalog/placeholders.ts";
import type { ComponentSpec, WorkloadSpec } from "./component.ts";

/**
 * The texts in `exports` of a component may hold placeholders, in the grammar of `scanPlaceholders`:
 *
 *     ${host}, ${port}, ${url}, ${<port's name>_port}, ${<port's name>_url}   what a workload exports by itself
 *     ${secret.KEY}                                                          the secret KEY of the same component
 *
 * `|uri` behind a name escapes the value for use inside a URL. A text that names a secret is secret as a whole.
 */

type Ports = NonNullable<WorkloadSpec["ports"]>;
type Exporting = Pick<ComponentSpec, "type" | "exports"> & {
  readonly workload_spec?: Pick<WorkloadSpec, "kind" | "ports">;
};

/** The ports that get a Service. Jobs get none, because they serve nobody. */
export const servedPorts = ({ workload_spec: spec }: Pick<Exporting, "workload_spec">): Readonly<Ports> =>
  spec?.kind === "job" || spec?.kind === "cronjob" ? [] : (spec?.ports ?? []);

type Variable = NonNullable<WorkloadSpec["env"]>[number];
const FURTHER_CONTAINERS = ["init_containers", "sidecars"] as const;

/** The variables of all containers of a workload, each with its place in the specification. */
export function workloadVariables(
  spec: Pick<WorkloadSpec, "env" | (typeof FURTHER_CONTAINERS)[number]> | undefined,
): { readonly variable: Variable; readonly at: readonly (string | number)[] }[] {
  const placed = (env: readonly Variable[] = [], ...at: readonly (string | number)[]) =>
    env.map((variable, index) => ({ variable, at: [...at, "env", index] }));
  return [
    ...placed(spec?.env),
    ...FURTHER_CONTAINERS.flatMap((list) => (spec?.[list] ?? []).flatMap(({ env }, index) => placed(env, list, index))),
  ];
}

/** Schemes that a port is named after. Any other name says nothing about how the port is spoken to. */
const SCHEMES: ReadonlySet<string> = new Set([
  ...["http", "https", "ws", "wss", "grpc", "grpcs", "tcp", "tls"],
  ...["postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "valkey", "memcached", "clickhouse"],
  ...[
    "amqp",
    "amqps",
    "kafka",
    "nats",
    "mqtt",
    "mqtts",
    "smtp",
    "smtps",
    "imap",
    "ldap",
    "ldaps",
    "ftp",
    "sftp",
    "ssh",
  ],
]);
const BY_NUMBER: Readonly<Record<number, string>> = { 80: "http", 443: "https" };

/**
 * The name of a port is a scheme, or begins with one and a dash (`https-admin`). Otherwise 80 and 443 are those of the web,
 * and all else is `tcp`: a guess of `http` would give a database an address that no driver takes.
 */
export function schemeOf({ name, port, protocol = "TCP" }: Ports[number]): string {
  if (protocol !== "TCP") return protocol.toLowerCase();
  const [word = ""] = name.split("-");
  if (word === "http" && port === 443) return "https";
  return SCHEMES.has(word) ? word : (BY_NUMBER[port] ?? "tcp");
}

/** What a workload exports by itself: `host`, `port` and `url` lead to its first port, `<name>_port` and `<name>_url` to each. */
export function servedExports(component: Pick<Exporting, "workload_spec">, host: string): Record<string, string> {
  const ports = servedPorts(component);
  const [first] = ports;
  if (!first) return {};
  const urlOf = (port: Ports[number]) => `${schemeOf(port)}://${host}:${port.port}`;
  return {
    host,
    port: String(first.port),
    url: urlOf(first),
    ...Object.fromEntries(
      ports.flatMap((port) => [
        [`${port.name}_port`, String(port.port)],
        [`${port.name}_url`, urlOf(port)],
      ]),
    ),
  };
}

const SECRET = "secret.";
const FILTER = "|uri";

function parsed(placeholder: string) {
  const isEscaped = placeholder.endsWith(FILTER);
  const name = isEscaped ? placeholder.slice(0, -FILTER.length) : placeholder;
  return { name, isEscaped, secret: name.startsWith(SECRET) ? name.slice(SECRET.length) : null };
}

export interface UnknownPlaceholder {
  /** Of the export. */
  readonly key: string;
  readonly placeholder: string;
  /** Placeholders that the component could use instead. */
  readonly known: readonly string[];
}

/** An addon has no secrets that its exports could name: they are among its values, and its definition composes them. */
export function unknownPlaceholders(component: Exporting): UnknownPlaceholder[] {
  const isAddon = component.type === "addon";
  const served = component.type === undefined || component.type === "workload" ? servedExports(component, "") : {};
  const known = [...Object.keys(served), ...(isAddon ? [] : [`${SECRET}KEY`])];
  return Object.entries(component.exports ?? {}).flatMap(([key, text]) =>
    scanPlaceholders(text).flatMap((part): UnknownPlaceholder[] => {
      if (typeof part === "string") return [];
      const { name, secret } = parsed(part.name);
      const isKnown = secret === null ? Object.hasOwn(served, name) : secret !== "" && !isAddon;
      return isKnown ? [] : [{ key, placeholder: part.name, known }];
    }),
  );
}

export interface ComposedExport {
  readonly text: string;
  readonly isSecret: boolean;
}

/** As much as a secret takes. A short text that names a large secret many times would otherwise fill the memory. */
export const LONGEST_EXPORT = 65_536;

/** The composed text, or why there is none yet: a placeholder without a value, or a text that is too long. */
export function composeExport(
  template: string,
  served: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): ComposedExport | "unknown" | "too_long" {
  const texts: string[] = [];
  let [length, isSecret] = [0, false];
  for (const part of scanPlaceholders(template)) {
    const text = typeof part === "string" ? part : meaningOf(part.name, served, secrets);
    if (text === null) return "unknown";
    length += text.length;
    if (length > LONGEST_EXPORT) return "too_long";
    isSecret ||= typeof part !== "string" && parsed(part.name).secret !== null;
    texts.push(text);
  }
  return { text: texts.join(""), isSecret };
}

function meaningOf(
  placeholder: string,
  served: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): string | null {
  const { name, secret, isEscaped } = parsed(placeholder);
  const [values, key] = secret === null ? [served, name] : [secrets, secret];
  const text = Object.hasOwn(values, key) ? (values[key] ?? null) : null;
  // Half of a surrogate pair cannot be encoded.
  return text !== null && isEscaped ? encodeURIComponent(text.toWellFormed()) : text;
}
