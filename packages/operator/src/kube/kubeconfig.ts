import { dirname, resolve } from "node:path";
import { load } from "js-yaml";

/** Says what is wrong with the way to the cluster, never with which secret. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

export type Source = { readonly text: string } | { readonly file: string };

/** A program that hands out credentials, as `aws eks get-token` does. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string | null;
}

export interface KubeconfigUser {
  readonly token: Source | null;
  readonly certificate: Source | null;
  readonly key: Source | null;
  readonly exec: ExecPlugin | null;
}

/** The way to one cluster as one user, with files yet to be read. */
export interface Kubeconfig {
  readonly server: string;
  readonly ca: Source | null;
  readonly isInsecure: boolean;
  readonly serverName: string | null;
  readonly namespace: string | null;
  readonly user: KubeconfigUser;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the current context. Relative paths in the file are relative to its folder. */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  const folder = dirname(path);
  const fail = (problem: string): never => {
    throw new KubeconfigError(`The kubeconfig ${path} ${problem}.`);
  };
  const config = fieldsOf(parsedYaml(text)) ?? fail("is not a YAML mapping");
  const contextName = stringIn(config, "current-context") ?? fail("has no current-context");
  const context = namedIn(config, "contexts", "context", contextName) ?? fail(`has no context ${contextName}`);
  const clusterName = stringIn(context, "cluster") ?? fail(`names no cluster in the context ${contextName}`);
  const cluster = namedIn(config, "clusters", "cluster", clusterName) ?? fail(`has no cluster ${clusterName}`);
  const userName = stringIn(context, "user");
  const user = userName === null ? {} : (namedIn(config, "users", "user", userName) ?? fail(`has no user ${userName}`));

  const server = stringIn(cluster, "server") ?? fail(`gives no server for the cluster ${clusterName}`);
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? ""))
    fail(`gives no http(s) address as server of ${clusterName}`);
  if (stringIn(cluster, "proxy-url")) fail(`asks for a proxy-url for ${clusterName}, which is not supported`);
  if (fieldsOf(user["auth-provider"])) fail(`uses an auth-provider for ${userName}; use exec instead`);
  if (stringIn(user, "username")) fail(`has a username and password for ${userName}, which Kubernetes no longer takes`);

  const certificate = sourceIn(user, "client-certificate", folder);
  const key = sourceIn(user, "client-key", folder);
  if ((certificate === null) !== (key === null)) fail(`has only one of certificate and key for ${userName}`);
  const tokenFile = stringIn(user, "tokenFile");
  const token = stringIn(user, "token");
  const exec = fieldsOf(user["exec"]);
  const plugin = exec
    ? (pluginOf(exec, folder) ?? fail(`has an exec without command or apiVersion for ${userName}`))
    : null;
  return {
    server: server.replace(/\/+$/, ""),
    ca: sourceIn(cluster, "certificate-authority", folder),
    isInsecure: cluster["insecure-skip-tls-verify"] === true,
    serverName: stringIn(cluster, "tls-server-name"),
    namespace: stringIn(context, "namespace"),
    user: {
      token: tokenFile ? { file: resolve(folder, tokenFile) } : token ? { text: token } : null,
      certificate,
      key,
      exec: plugin,
    },
  };
}

/** A syntax error is reported without its line, which may hold a secret. */
function parsedYaml(text: string): unknown {
  try {
    return load(text);
  } catch {
    return null;
  }
}

function namedIn(config: Fields, list: string, field: string, name: string): Fields | null {
  const entries = config[list];
  if (!Array.isArray(entries)) return null;
  const entry: unknown = entries.find((candidate: unknown) => fieldsOf(candidate)?.["name"] === name);
  return fieldsOf(fieldsOf(entry)?.[field]);
}

/** As in kubectl, data within the file goes before a path. */
function sourceIn(fields: Fields, name: string, folder: string): Source | null {
  const data = stringIn(fields, `${name}-data`);
  if (data) return { text: Buffer.from(data, "base64").toString("utf8") };
  const file = stringIn(fields, name);
  return file ? { file: resolve(folder, file) } : null;
}

function pluginOf(exec: Fields, folder: string): ExecPlugin | null {
  const command = stringIn(exec, "command");
  const apiVersion = stringIn(exec, "apiVersion");
  if (!command || !apiVersion) return null;
  const args = Array.isArray(exec["args"]) ? exec["args"].map(String) : [];
  const env = Array.isArray(exec["env"]) ? exec["env"].map((entry: unknown) => fieldsOf(entry) ?? {}) : [];
  return {
    apiVersion,
    // A bare name is looked up in the path; anything with a slash is meant relative to the file.
    command: command.includes("/") ? resolve(folder, command) : command,
    args,
    env: Object.fromEntries(env.map((entry) => [String(entry["name"]), String(entry["value"])])),
    installHint: stringIn(exec, "installHint"),
  };
}

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;

function stringIn(fields: Fields, name: string): string | null {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : null;
}
