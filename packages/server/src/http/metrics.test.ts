import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

test("[OP3] requests are counted and timed by route and not by address", async () => {
  const { registry, answered } = createMetrics();
  answered("GET", "/things/:id", 200, 2);
  answered("GET", "/things/:id", 200, 30_000);
  answered("GET", "/things/:id", 404, 2);
  const text = await registry.metrics();
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="/things/:id",status="200"} 2\n');
  expect(text).toContain('binnacle_http_requests_total{method="GET",route="/things/:id",status="404"} 1\n');
  const durations = "binnacle_http_request_duration_seconds";
  expect(text).toContain(`${durations}_bucket{le="0.0025",method="GET",route="/things/:id"} 2\n`);
  expect(text).toContain(`${durations}_bucket{le="10",method="GET",route="/things/:id"} 2\n`);
  expect(text).toContain(`${durations}_count{method="GET",route="/things/:id"} 3\n`);
});
