import type { ReleasePodsSource } from "../helm/release-pods.ts";
import { AnswerError, type Answerer } from "../link/ports.ts";
import type { AppComponent } from "./app-components.ts";
import { podPattern, releasePodPattern } from "./pod-selection.ts";
import type { Prometheus } from "./prometheus.adapter.ts";
import {
  appSeries,
  clusterQuery,
  clusterSeries,
  componentsQuery,
  type Measure,
  rangeUpTo,
  type Series,
} from "./prometheus.ts";

const USED = ["cpu_used", "memory_used"] as const;
const CAPACITY = ["cpu_capacity", "memory_capacity"] as const;

export interface MetricsPorts {
  readonly prometheus: Prometheus;
  /** Null where the cluster holds no such app. */
  readonly componentsOf: (namespace: string, app: string) => readonly AppComponent[] | null;
  readonly releasePods: Pick<ReleasePodsSource, "known">;
  readonly nowMs: () => number;
}

/** Series from a Prometheus, where there is one. */
export function createMetrics({ prometheus, componentsOf, releasePods, nowMs }: MetricsPorts): Answerer["metrics"] {
  const patternOf = (app: string, { name, release, isDaemonSet }: AppComponent): string | null =>
    release ? releasePodPattern(releasePods.known(release)?.makers ?? []) : podPattern(app, name, isDaemonSet);

  /** Those that have pods; null where there is no such app. */
  const measurable = ({ namespace, name: app }: { readonly namespace: string; readonly name: string }) =>
    componentsOf(namespace, app)?.flatMap((component) => {
      const pattern = patternOf(app, component);
      return pattern === null ? [] : [{ name: component.name, podPattern: pattern }];
    }) ?? null;

  return async ({ app, range_seconds }) => {
    const components = app && measurable(app);
    if (app && !components) throw new AnswerError("not_found", `The cluster holds no app ${app.name}.`);
    const source = await prometheus.find();
    if (!source) return null;
    const range = rangeUpTo(nowMs(), range_seconds);
    const { stepSeconds } = range;

    const ofCluster = async (measure: Measure): Promise<Series[]> =>
      clusterSeries(measure, await source.range({ ...range, query: clusterQuery(measure, stepSeconds) }));

    const ofApp = async (measure: (typeof USED)[number]): Promise<Series[]> => {
      if (!app || !components || components.length === 0) return [];
      const query = componentsQuery(measure, { namespace: app.namespace, components }, stepSeconds);
      return appSeries(measure, app.name, await source.range({ ...range, query }));
    };

    const series = await Promise.all([...USED.map(app ? ofApp : ofCluster), ...CAPACITY.map(ofCluster)]);
    return { step: `${stepSeconds}s`, series: series.flat() };
  };
}
