import { expect, test } from "vitest";
import { someApp, WEB, workload } from "./app.fixture.ts";
import { effectiveComponents, specOf } from "./app.ts";
import { imagesOf, replicasOf, wireAppSummary } from "./app-summary.ts";

const status = (name: string, ready: number, desired?: number) => ({
  name,
  ready_replicas: ready,
  ...(desired === undefined ? {} : { ready, desired }),
});

test("[AP109] the images of an app summary are those of all containers, each once", () => {
  const side = { name: "proxy", image: "envoy:1" };
  const components = [
    WEB,
    workload("worker", {
      workload_spec: { image: "worker:2", init_containers: [{ name: "init", image: "busybox:1" }], sidecars: [side] },
    }),
    workload("again"),
    workload("none", { workload_spec: {} }),
    { name: "db", type: "addon" as const, addon_spec: { instance: "db" } },
  ];
  expect(imagesOf(components)).toEqual(["nginx:1.29", "worker:2", "busybox:1", "envoy:1"]);
});

const TWO = [WEB, workload("worker", { workload_spec: { image: "worker:2" } })];

test.each([
  ["nothing is reported", { components: TWO }, { ready: 0, desired: 3 }],
  [
    "both are reported",
    { component_statuses: [status("web", 1, 2), status("worker", 3, 4)] },
    { ready: 4, desired: 6 },
  ],
  ["an earlier operator reports", { component_statuses: [status("web", 2)] }, { ready: 2, desired: 3 }],
  ["a component is gone", { component_statuses: [status("old", 5, 5)] }, { ready: 0, desired: 3 }],
  [
    "it scales by itself",
    { components: [workload("web", { workload_spec: { autoscale: { min: 4, max: 6, cpu_percent: 70 } } })] },
    { ready: 0, desired: 4 },
  ],
  ["it is paused", { replicas_before_pause: { web: 2 } }, { ready: 0, desired: 0 }],
  ["it has an addon", { components: [{ name: "db", type: "addon" as const }] }, { ready: 0, desired: 0 }],
])("[AP113] the replicas of an app are counted where %s", (_, changes, expected) => {
  const app = someApp({ components: TWO, ...changes });
  expect(replicasOf(effectiveComponents(specOf(app)), app.component_statuses)).toEqual(expected);
});

test("[AP109] the summary of an app that waits says why, and one without a deployment has none", () => {
  const none = { deployment_id: null, deployment_operation: null, deployment_status: null };
  const names = { project_name: "shop", cluster_name: "production" };
  const app = {
    ...someApp({ phase: "pending" }),
    listed_components: "[]",
    ...{ ...names, ...none, deployment_created_at: null, deployment_created_by: null },
  };
  expect(wireAppSummary(app, new Date("2026-02-01T00:00:00.000Z"))).toMatchObject({
    phase_reason: "operator_disconnected",
    stale: true,
    last_deployment: null,
    ...names,
  });
});
