import type { ArchivedFile } from "@binnacle/charts";
import { DEFAULT_HOOK_TIMEOUT_S } from "@binnacle/contract";
import type { Identity, KubeAccess } from "../kube/kube-access.ts";
import type { HelmRelease, ReleaseId } from "./revision.ts";
import type { Rights } from "./rights.ts";

/** The arguments of each call of Helm. They can be seen by others on the machine, so no value is ever among them. */

const HISTORY_MAX = 5;
/** A chart may have hooks before and after its objects. */
export const processTimeoutMs = (hookTimeoutS = DEFAULT_HOOK_TIMEOUT_S): number => 2 * hookTimeoutS * 1_000;

/** A chart on disk, with the options that Helm gets for it. */
export interface ChartSource {
  readonly chart: string;
  readonly options: readonly string[];
  readonly files: () => Promise<readonly ArchivedFile[]>;
}

/** As whom Helm asks the API server. */
type Asker = Pick<Rights, "user">;

const place = ({ namespace }: Pick<ReleaseId, "namespace">, { user }: Asker) => [
  `--namespace=${namespace}`,
  `--kube-as-user=${user}`,
];
/** A field that somebody has edited would stop Helm otherwise. */
const FORCED = ["--server-side=true", "--force-conflicts"];
/** Helm waits this long for each hook. */
const patience = (seconds = DEFAULT_HOOK_TIMEOUT_S) => `--timeout=${seconds}s`;

export interface Upgrade {
  readonly source: ChartSource;
  readonly rights: Rights;
  /** There is a revision already; templates can read this. */
  readonly isUpgrade: boolean;
}

/**
 * Renders everything that an upgrade would make, including hooks and definitions. Templates may look objects up in the
 * API server, so that the result is the same as later.
 */
export const renderArguments = (id: ReleaseId, { source, rights, isUpgrade }: Upgrade): string[] => [
  "template",
  ...place(id, rights),
  "--dry-run=server",
  "--include-crds",
  ...(isUpgrade ? ["--is-upgrade"] : []),
  "--values=-",
  ...source.options,
  "--",
  id.name,
  source.chart,
];

/** The values come through standard input. */
export function upgradeArguments(
  id: Pick<HelmRelease, "namespace" | "name" | "hookTimeoutSeconds">,
  { source, rights }: Upgrade,
  labels: Readonly<Record<string, string>>,
): string[] {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    "upgrade",
    "--install",
    ...place(id, rights),
    patience(id.hookTimeoutSeconds),
    // Definitions are of the whole cluster.
    ...(rights.isClusterWide ? [] : ["--skip-crds"]),
    ...FORCED,
    `--history-max=${HISTORY_MAX}`,
    `--labels=${pairs.join(",")}`,
    "--values=-",
    // Without it, no values at all would mean those of the last time.
    "--reset-values",
    ...source.options,
    "--",
    id.name,
    source.chart,
  ];
}

export const rollbackArguments = (id: ReleaseId, to: number, asker: Asker): string[] => [
  "rollback",
  ...place(id, asker),
  patience(),
  ...FORCED,
  "--",
  id.name,
  String(to),
];

/** The history names the objects, so it stays until none of them is left. */
export const uninstallArguments = (id: ReleaseId, asker: Asker): string[] => [
  "uninstall",
  ...place(id, asker),
  patience(),
  "--keep-history",
  "--",
  id.name,
];

const encoded = (text: string) => Buffer.from(text).toString("base64");

/** The way to the cluster for a program that reads kubeconfigs, as the same user. Every JSON document is a YAML document. */
export function kubeconfigText(
  { server, ca, isInsecure, serverName }: Omit<KubeAccess, "identity">,
  { token, certificate, key }: Identity,
): string {
  const cluster = {
    server,
    ...(ca && !isInsecure ? { "certificate-authority-data": encoded(ca) } : {}),
    ...(isInsecure ? { "insecure-skip-tls-verify": true } : {}),
    ...(serverName ? { "tls-server-name": serverName } : {}),
  };
  const user = {
    ...(token ? { token } : {}),
    ...(certificate && key ? { "client-certificate-data": encoded(certificate), "client-key-data": encoded(key) } : {}),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "cluster",
    contexts: [{ name: "cluster", context: { cluster: "cluster", user: "operator" } }],
    clusters: [{ name: "cluster", cluster }],
    users: [{ name: "operator", user }],
  });
}
