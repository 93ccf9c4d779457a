import type { Metrics } from "@binnacle/client";

export interface MetricChart {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly {
    readonly label: string;
    readonly points: readonly (readonly [number, number | null])[];
  }[];
}

const TITLES: Readonly<Record<string, string>> = {
  cpu_usage: "CPU",
  cpu_used: "CPU",
  memory_usage: "Memory",
  memory_used: "Memory",
  cpu_capacity: "CPU of the cluster",
  memory_capacity: "Memory of the cluster",
};

/** How much the cluster has says nothing about an app. */
const isOfCluster = (name: string): boolean => name.endsWith("_capacity");

/** One chart for each metric, with a line for each of its series; none where nothing of the app was measured. */
export function chartsOf({ series }: Pick<Metrics, "series">): readonly MetricChart[] {
  if (series.every(({ name }) => isOfCluster(name))) return [];
  const byName = Map.groupBy(series, ({ name }) => name);
  return [...byName].map(([name, all]) => ({
    title: TITLES[name] ?? words(name),
    unit: all[0]?.unit ?? "",
    series: all.map(({ labels, points }) => ({
      label: labels["component"] ?? (labels["app"] ? "Whole app" : Object.values(labels).join(" / ") || words(name)),
      points: points.flatMap(([time, value]) => (time === undefined ? [] : [[time, value ?? null] as const])),
    })),
  }));
}

const words = (name: string): string =>
  (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ").replace(/^Cpu\b/, "CPU");
