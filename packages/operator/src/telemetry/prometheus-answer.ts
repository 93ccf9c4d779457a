import type { Metrics } from "@binnacle/contract";
import { fieldsIn, listIn, textIn } from "../kube/object-fields.ts";
import type { Measure } from "./prometheus.ts";
import { UNITS } from "./prometheus.ts";

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

/** What is no number says nothing. */
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
