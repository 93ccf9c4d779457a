import fc from "fast-check";
import { Counter, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

const REQUESTS = "binnacle_http_requests_total";
const DURATIONS = "binnacle_http_request_duration_seconds";

const answer = fc.record({
  method: fc.constantFrom("GET", "POST"),
  route: fc.constantFrom("/things", "/things/:id", '(no"ne)\\'),
  status: fc.constantFrom(200, 404, 500),
  elapsedMs: fc.oneof(fc.constantFrom(0, 1, 2.5, 10, 10_000, 10_001), fc.double({ min: 0, max: 20_000, noNaN: true })),
});

test("[OP3] requests are counted and timed as Prometheus' own client does it", async () => {
  const check = fc.asyncProperty(fc.array(answer, { maxLength: 40 }), async (answers) => {
    const { registry, counterOf } = createMetrics();
    const registers = [new Registry()];
    const labelNames = ["method", "route"];
    const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
    const requests = new Counter({
      name: REQUESTS,
      help: "Requests answered",
      labelNames: [...labelNames, "status"],
      registers,
    });
    const help = "Time from a request's arrival to the end of its answer";
    const durations = new Histogram({ name: DURATIONS, help, labelNames, buckets, registers });
    const counters = new Map<string, (elapsedMs: number) => void>();
    for (const { method, route, status, elapsedMs } of answers) {
      const key = `${method} ${route} ${status}`;
      const count = counters.get(key) ?? counterOf(method, route, status);
      counters.set(key, count);
      count(elapsedMs);
      requests.inc({ method, route, status });
      durations.observe({ method, route }, elapsedMs / 1000);
    }
    for (const name of [REQUESTS, DURATIONS]) {
      expect(await registry.getSingleMetricAsString(name)).toBe(await registers[0]?.getSingleMetricAsString(name));
    }
  });
  await fc.assert(check, { numRuns: 50 });
});
