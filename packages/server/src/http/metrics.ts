import { collectDefaultMetrics, Registry } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  /** Counts an answer, each time it is called, among those of this route, method and status. */
  counterOf(method: string, route: string, status: number): (elapsedMs: number) => void;
}

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Durations {
  readonly labels: { readonly method: string; readonly route: string };
  /** By the first bucket that holds them; the last are those beyond all buckets. */
  readonly counts: number[];
  sum: number;
}

interface Requests {
  readonly labels: { readonly method: string; readonly route: string; readonly status: number };
  value: number;
}

/** Counted in plain numbers and put into words when asked for: there is a request at any moment, and a question each half minute. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests: Requests[] = [];
  const durations = new Map<string, Durations>();
  const durationsOf = (method: string, route: string) => {
    const key = `${method} ${route}`;
    const counts = new Array<number>(BUCKETS_SECONDS.length + 1).fill(0);
    const series = durations.get(key) ?? { labels: { method, route }, counts, sum: 0 };
    durations.set(key, series);
    return series;
  };
  register(registry, "counter", "binnacle_http_requests_total", "Requests answered", () => requests);
  register(
    registry,
    "histogram",
    "binnacle_http_request_duration_seconds",
    "Time from a request's arrival to the end of its answer",
    (name) => [...durations.values()].flatMap((series) => histogramOf(name, series)),
  );
  return {
    registry,
    counterOf(method, route, status) {
      const count = { labels: { method, route, status }, value: 0 };
      const duration = durationsOf(method, route);
      requests.push(count);
      return (elapsedMs) => {
        const seconds = elapsedMs / 1000;
        let bucket = 0;
        while (seconds > (BUCKETS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
        duration.counts[bucket] = (duration.counts[bucket] ?? 0) + 1;
        duration.sum += seconds;
        count.value++;
      };
    },
  };
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

function register(
  registry: Registry,
  type: "counter" | "histogram",
  name: string,
  help: string,
  valuesOf: (name: string) => readonly Sample[],
): void {
  // All that the registry asks of a metric, which its types take for a class of its own.
  const metric = { name, get: async () => ({ name, help, type, aggregator: "sum", values: valuesOf(name) }) };
  registry.registerMetric(metric as never);
}

/** Each bucket holds those of the smaller ones too. */
function histogramOf(name: string, { labels, counts, sum }: Durations): Sample[] {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { le: BUCKETS_SECONDS[index] ?? "+Inf", ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
