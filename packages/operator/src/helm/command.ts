import type { ChartRef } from "@binnacle/contract";
import type { ReleaseId } from "./revision.ts";

/** The arguments of each call of Helm. They can be seen by others on the machine, so no value is ever among them. */

const HISTORY_MAX = 5;
/** For hooks of the chart, each of which Helm waits for. */
const HOOK_TIMEOUT_S = 300;
export const PROCESS_TIMEOUT_MS = 2 * HOOK_TIMEOUT_S * 1_000;

/** No path on our disk, and nothing that could pass for an option. */
const CHART_NAME = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)*$/;
const VERSION = /^[!-~][ -~]*$/;

type Source = { readonly chart: string; readonly options: readonly string[] };

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

const place = ({ namespace }: Pick<ReleaseId, "namespace">) => [
  `--namespace=${namespace}`,
  `--timeout=${HOOK_TIMEOUT_S}s`,
];

/** The values come through standard input. */
export function upgradeArguments(id: ReleaseId, source: Source, labels: Readonly<Record<string, string>>): string[] {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    "upgrade",
    "--install",
    ...place(id),
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

export const rollbackArguments = (id: ReleaseId, to: number): string[] => [
  "rollback",
  ...place(id),
  "--",
  id.name,
  String(to),
];

/** The history says what was installed, so it stays until nothing of that is left. */
export const uninstallArguments = (id: ReleaseId): string[] => [
  "uninstall",
  ...place(id),
  "--keep-history",
  "--",
  id.name,
];
