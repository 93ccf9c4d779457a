import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  observe(method: string, route: string, status: number, elapsedMs: number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "binnacle_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "binnacle_http_request_duration_seconds",
    help: "Time from a request's arrival to the end of its answer",
    labelNames: ["method", "route"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Looking a series up by its labels costs more than counting; there are only as many as routes, methods and statuses.
  const series = new Map<string, (elapsedMs: number) => void>();
  return {
    registry,
    observe(method, route, status, elapsedMs) {
      const key = `${method} ${status} ${route}`;
      let observe = series.get(key);
      if (!observe) {
        const count = requests.labels({ method, route, status });
        const duration = durations.labels({ method, route });
        observe = (ms) => {
          count.inc();
          duration.observe(ms / 1000);
        };
        series.set(key, observe);
      }
      observe(elapsedMs);
    },
  };
}
