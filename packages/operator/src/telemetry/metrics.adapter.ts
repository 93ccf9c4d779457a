import { type Answerer, Unanswerable } from "../link/answerer.ts";
import type { Prometheus } from "./prometheus.adapter.ts";
import { clusterQuery, componentsQuery, type Measure, rangeUpTo } from "./prometheus.ts";
import { appSeries, clusterSeries, type Series } from "./prometheus-answer.ts";

const USED = ["cpu_used", "memory_used"] as const;
const CAPACITY = ["cpu_capacity", "memory_capacity"] as const;

export interface MetricsPorts {
  readonly prometheus: Prometheus;
  /** Null where the cluster holds no such app. */
  readonly componentsOf: (namespace: string, app: string) => readonly string[] | null;
  readonly nowMs: () => number;
}

/** Series from a Prometheus, where there is one. */
export function createMetrics({ prometheus, componentsOf, nowMs }: MetricsPorts): Answerer["metrics"] {
  return async ({ app, range_seconds }) => {
    const components = app && componentsOf(app.namespace, app.name);
    if (app && !components) throw new Unanswerable("not_found", `The cluster holds no app ${app.name}.`);
    const source = await prometheus.find();
    if (!source) return null;
    const range = rangeUpTo(nowMs(), range_seconds);
    const { stepSeconds } = range;

    const ofCluster = async (measure: Measure): Promise<Series[]> =>
      clusterSeries(measure, await source.range({ ...range, query: clusterQuery(measure, stepSeconds) }));

    const ofApp = async (measure: (typeof USED)[number]): Promise<Series[]> => {
      if (!app || !components || components.length === 0) return [];
      const query = componentsQuery(measure, { ...app, components }, stepSeconds);
      return appSeries(measure, app.name, await source.range({ ...range, query }));
    };

    const series = await Promise.all([...USED.map(app ? ofApp : ofCluster), ...CAPACITY.map(ofCluster)]);
    return { step: `${stepSeconds}s`, series: series.flat() };
  };
}
