import type { Metrics } from "@binnacle/contract";
import { fieldsIn, listIn, textIn } from "../kube/object-fields.ts";

/** A query to Prometheus. Metric names are those of cAdvisor, kube-state-metrics and the node exporter. */

export interface RangeQuery {
  readonly query: string;
  /** Unix times in seconds. */
  readonly start: number;
  readonly end: number;
  readonly stepSeconds: number;
}

/** A chart shows no more. */
const MOST_POINTS = 300;

const STEPS_SECONDS = [15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800];

export function stepSecondsFor(rangeSeconds: number): number {
  const shortest = Math.ceil(rangeSeconds / (MOST_POINTS - 1));
  return STEPS_SECONDS.find((step) => step >= shortest) ?? shortest;
}

/** At whole steps, so that the same moments come again with the next question. */
export function rangeUpTo(nowMs: number, rangeSeconds: number): Omit<RangeQuery, "query"> {
  const stepSeconds = stepSecondsFor(rangeSeconds);
  const end = Math.floor(nowMs / 1_000 / stepSeconds) * stepSeconds;
  return { start: end - Math.floor(rangeSeconds / stepSeconds) * stepSeconds, end, stepSeconds };
}

/** Long enough for two scrapes of a slow Prometheus, of which one failed. */
const SHORTEST_WINDOW_SECONDS = 180;

const rate = (selector: string, stepSeconds: number) =>
  `rate(${selector}[${Math.max(stepSeconds, SHORTEST_WINDOW_SECONDS)}s])`;

/** The first that is measured, moment by moment. */
const firstOf = (...expressions: readonly string[]) => expressions.join(" or ");

/** Scraped twice, a container still counts once. */
const ofContainers = (expression: string) => `sum(max by (namespace, pod, container) (${expression}))`;

/** Neither the sum of a pod nor the container that holds its network. */
const CONTAINERS = `container!="",container!="POD"`;

export type Measure = "cpu_used" | "memory_used" | "cpu_capacity" | "memory_capacity";

const UNITS: Readonly<Record<Measure, string>> = {
  cpu_used: "cores",
  memory_used: "bytes",
  cpu_capacity: "cores",
  memory_capacity: "bytes",
};

export function clusterQuery(measure: Measure, stepSeconds: number): string {
  switch (measure) {
    case "cpu_used":
      return firstOf(
        `sum(${rate(`container_cpu_usage_seconds_total{id="/"}`, stepSeconds)})`,
        `sum(${rate(`node_cpu_seconds_total{mode!~"idle|iowait|steal"}`, stepSeconds)})`,
        ofContainers(rate(`container_cpu_usage_seconds_total{${CONTAINERS}}`, stepSeconds)),
      );
    case "memory_used":
      return firstOf(
        `sum(container_memory_working_set_bytes{id="/"})`,
        "sum(node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes)",
        ofContainers(`container_memory_working_set_bytes{${CONTAINERS}}`),
      );
    case "cpu_capacity":
      return firstOf(
        `sum(max by (node) (kube_node_status_capacity{resource="cpu"}))`,
        "sum(machine_cpu_cores)",
        `count(node_cpu_seconds_total{mode="idle"})`,
      );
    case "memory_capacity":
      return firstOf(
        `sum(max by (node) (kube_node_status_capacity{resource="memory"}))`,
        "sum(machine_memory_bytes)",
        "sum(node_memory_MemTotal_bytes)",
      );
  }
}

/** Whether there is anything to read that is asked for here. */
export const IS_MEASURED = firstOf(
  "count(container_memory_working_set_bytes)",
  "count(node_memory_MemTotal_bytes)",
  "count(kube_node_status_capacity)",
);

export interface AppPlace {
  readonly namespace: string;
  /** With what the names of its pods match. */
  readonly components: readonly { readonly name: string; readonly podPattern: string }[];
}

/** One series of each component, under the label `component`. */
export function componentsQuery(measure: "cpu_used" | "memory_used", app: AppPlace, stepSeconds: number): string {
  return firstOf(
    ...app.components.map(({ name, podPattern }) => {
      const selector = `{namespace=${quoted(app.namespace)},pod=~${quoted(podPattern)},${CONTAINERS}}`;
      const measured =
        measure === "cpu_used"
          ? rate(`container_cpu_usage_seconds_total${selector}`, stepSeconds)
          : `container_memory_working_set_bytes${selector}`;
      return `label_replace(${ofContainers(measured)}, "component", ${quoted(name)}, "", "")`;
    }),
  );
}

/** Prometheus takes the escapes of JSON. */
const quoted = (text: string): string => JSON.stringify(text);

export type Series = Metrics["series"][number];

export interface Found {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: Series["points"];
}

/** The series of an answer, or what Prometheus says is wrong. */
export function seriesIn(answer: unknown): readonly Found[] | { readonly problem: string } {
  const { status, error, data } = fieldsIn(answer);
  if (status === "error") return { problem: textIn(error) || "it does not say why" };
  const { resultType, result } = fieldsIn(data);
  if (status !== "success" || !Array.isArray(result)) return { problem: "the answer is not that of a Prometheus" };
  return listIn(result).map(({ metric, value, values }) => ({
    labels: Object.fromEntries(Object.entries(fieldsIn(metric)).map(([name, text]) => [name, textIn(text)])),
    points: (resultType === "vector" ? [value] : Array.isArray(values) ? values : []).flatMap(pointsIn),
  }));
}

/** Values that are not numbers are dropped. */
function pointsIn(pair: unknown): Series["points"] {
  const [time, text] = Array.isArray(pair) ? pair : [];
  const value = Number(text);
  return typeof time === "number" && typeof text === "string" && Number.isFinite(value) ? [[time, value]] : [];
}

export const clusterSeries = (measure: Measure, found: readonly Found[]): Series[] =>
  found.slice(0, 1).flatMap(({ points }) => filled(measure, {}, points));

/** The app as the sum of its components, and each of them. */
export function appSeries(measure: Measure, app: string, found: readonly Found[]): Series[] {
  const components = found
    .map(({ labels, points }) => ({ component: labels["component"] ?? "", points }))
    .sort((a, b) => (a.component < b.component ? -1 : 1));
  return [
    ...filled(measure, { app }, addedUp(components.map(({ points }) => points))),
    ...components.flatMap(({ component, points }) => filled(measure, { app, component }, points)),
  ];
}

function filled(name: Measure, labels: Record<string, string>, points: Series["points"]): Series[] {
  return points.length === 0 ? [] : [{ name, unit: UNITS[name], labels, points }];
}

/** At each moment at which any was measured. */
export function addedUp(all: readonly Series["points"][]): Series["points"] {
  const sums = new Map<number, number>();
  for (const [time = 0, value = 0] of all.flat()) sums.set(time, (sums.get(time) ?? 0) + value);
  return [...sums].sort(([a], [b]) => a - b);
}
