import type { ReleaseId } from "./revision.ts";

/** The arguments of each call of Helm. They can be seen by others on the machine, so no value is ever among them. */

const HISTORY_MAX = 5;
/** For hooks of the chart, each of which Helm waits for. */
const HOOK_TIMEOUT_S = 300;
export const PROCESS_TIMEOUT_MS = 2 * HOOK_TIMEOUT_S * 1_000;

/** The chart as a file, and what Helm is told about it. */
export interface ChartSource {
  readonly chart: string;
  readonly options: readonly string[];
}

const place = ({ namespace }: Pick<ReleaseId, "namespace">) => [
  `--namespace=${namespace}`,
  `--timeout=${HOOK_TIMEOUT_S}s`,
];

/** The values come through standard input. */
export function upgradeArguments(
  id: ReleaseId,
  source: ChartSource,
  labels: Readonly<Record<string, string>>,
): string[] {
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
