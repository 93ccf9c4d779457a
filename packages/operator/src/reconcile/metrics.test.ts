import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

const FACTS = {
  version: "0.1.0",
  isConnected: true,
  isLeading: true,
  residentBytes: 1,
  cpuSeconds: 2,
  startedAtSeconds: 3,
};

test("[OP3977] each reconcile counts with its duration and its kind, and a failed one as failed", () => {
  const metrics = createMetrics();
  metrics.reconciled("app", 40, false);
  metrics.reconciled("app", 2_000, true);
  metrics.reconciled("app", 900_000, false);
  metrics.reconciled("project", 10, false);
  const text = metrics.text(FACTS);
  const name = "binnacle_operator_reconcile_duration_seconds";
  expect(text).toContain(`${name}_bucket{kind="app",le="0.01"} 0\n`);
  expect(text).toContain(`${name}_bucket{kind="app",le="0.05"} 1\n`);
  expect(text).toContain(`${name}_bucket{kind="app",le="2.5"} 2\n`);
  expect(text).toContain(`${name}_bucket{kind="app",le="300"} 2\n`);
  expect(text).toContain(`${name}_bucket{kind="app",le="+Inf"} 3\n`);
  expect(text).toContain(`${name}_sum{kind="app"} 902.04\n${name}_count{kind="app"} 3\n`);
  expect(text).toContain(`${name}_bucket{kind="project",le="0.01"} 1\n`);
  expect(text).toContain('binnacle_operator_reconcile_errors_total{kind="app"} 1\n');
});

test("[OP3977] a queue is read when somebody asks, and has all its numbers from the start", () => {
  const metrics = createMetrics();
  let ready = 0;
  metrics.queue("addon_instance", () => ({ ready, failing: 2, longestRunMs: 1_500 }));
  ready = 7;
  const text = metrics.text(FACTS);
  expect(text).toContain('binnacle_operator_queue_depth{kind="addon_instance"} 7\n');
  expect(text).toContain('binnacle_operator_queue_failing{kind="addon_instance"} 2\n');
  expect(text).toContain('binnacle_operator_reconcile_errors_total{kind="addon_instance"} 0\n');
  expect(text).toContain('binnacle_operator_reconcile_running_seconds{kind="addon_instance"} 1.5\n');
});

test("[OP3978] the process counts as alive until a run lasts for an hour", () => {
  const metrics = createMetrics();
  expect(metrics.isAlive).toBe(true);
  let longestRunMs = 3_599_999;
  metrics.queue("project", () => ({ ready: 0, failing: 9, longestRunMs: 0 }));
  metrics.queue("app", () => ({ ready: 100, failing: 0, longestRunMs }));
  expect(metrics.isAlive).toBe(true);
  longestRunMs += 1;
  expect(metrics.isAlive).toBe(false);
});

test("[OP3979] the metrics tell how many Helms run and wait, and how long each kind was silent", () => {
  const metrics = createMetrics();
  expect(metrics.text(FACTS)).toContain("binnacle_operator_helm_running 0\n");
  metrics.helm(() => ({ running: 2, waiting: 7 }));
  metrics.watches(() => [{ kind: "App", silentMs: 61_500 }]);
  const text = metrics.text(FACTS);
  expect(text).toContain("binnacle_operator_helm_running 2\n");
  expect(text).toContain("binnacle_operator_helm_waiting 7\n");
  expect(text).toContain('binnacle_operator_watch_silence_seconds{kind="App"} 61.5\n');
});
