import type { ChartRef } from "@binnacle/contract";
import type { ReleaseId } from "./revision.ts";
import type { Rights } from "./rights.ts";

/** The arguments of each call of Helm. They can be seen by others on the machine, so no value is ever among them. */

const HISTORY_MAX = 5;
/** For hooks of the chart, each of which Helm waits for. */
const HOOK_TIMEOUT_S = 300;
export const PROCESS_TIMEOUT_MS = 2 * HOOK_TIMEOUT_S * 1_000;

/** No path on our disk, and nothing that could pass for an option. */
const CHART_NAME = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/;
const VERSION = /^[!-~][ -~]*$/;

type Source = { readonly chart: string; readonly options: readonly string[] };
/** As whom Helm asks the API server. */
type Asker = Pick<Rights, "user">;

/** Where Helm finds the chart, or what is wrong with the address. */
export function chartSource({ repo, name, version }: ChartRef): Source | { readonly problem: string } {
  const url = URL.parse(repo);
  if (!url || !["http:", "https:", "oci:"].includes(url.protocol)) {
    return { problem: "The chart's repository is no address that begins with https or oci." };
  }
  if (url.username || url.password) {
    return { problem: "The address of the chart's repository holds a password, which it must not." };
  }
  if (!CHART_NAME.test(name)) return { problem: "The chart has a name that no chart can have." };
  if (version !== undefined && !VERSION.test(version)) return { problem: "The chart's version is none." };
  const options = version === undefined ? [] : [`--version=${version}`];
  if (url.protocol === "oci:") return { chart: `${repo.replace(/\/+$/, "")}/${name}`, options };
  return { chart: name, options: [...options, `--repo=${repo}`] };
}

const place = ({ namespace }: Pick<ReleaseId, "namespace">, { user }: Asker) => [
  `--namespace=${namespace}`,
  `--kube-as-user=${user}`,
];
const patience = `--timeout=${HOOK_TIMEOUT_S}s`;

/** Needs no cluster. */
export const pullArguments = ({ chart, options }: Source, folder: string): string[] => [
  "pull",
  `--destination=${folder}`,
  ...options,
  "--",
  chart,
];

export interface Upgrade {
  /** A chart on our disk. */
  readonly archive: string;
  readonly rights: Rights;
  /** There is a revision already, which charts can tell. */
  readonly isUpgrade: boolean;
}

/**
 * All that an upgrade would make, hooks and definitions among it. The API server is asked for what the templates look up,
 * so that they say the same as later.
 */
export const renderArguments = (id: ReleaseId, { archive, rights, isUpgrade }: Upgrade): string[] => [
  "template",
  ...place(id, rights),
  "--dry-run=server",
  "--include-crds",
  ...(isUpgrade ? ["--is-upgrade"] : []),
  "--values=-",
  "--",
  id.name,
  archive,
];

/** The values come through standard input. */
export function upgradeArguments(
  id: ReleaseId,
  { archive, rights }: Upgrade,
  labels: Readonly<Record<string, string>>,
): string[] {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    "upgrade",
    "--install",
    ...place(id, rights),
    patience,
    // Definitions are of the whole cluster.
    ...(rights.isClusterWide ? [] : ["--skip-crds"]),
    `--history-max=${HISTORY_MAX}`,
    `--labels=${pairs.join(",")}`,
    "--values=-",
    // Without it, no values at all would mean those of the last time.
    "--reset-values",
    "--",
    id.name,
    archive,
  ];
}

export const rollbackArguments = (id: ReleaseId, to: number, asker: Asker): string[] => [
  "rollback",
  ...place(id, asker),
  patience,
  "--",
  id.name,
  String(to),
];

/** The history says what was installed, so it stays until nothing of that is left. */
export const uninstallArguments = (id: ReleaseId, asker: Asker): string[] => [
  "uninstall",
  ...place(id, asker),
  patience,
  "--keep-history",
  "--",
  id.name,
];
