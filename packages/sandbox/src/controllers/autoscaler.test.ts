import { afterEach, beforeEach, expect, test } from "vitest";
import type { Autoscaler } from "./autoscaler.ts";
import type { Deployment } from "./deployment.ts";
import { deployment, template } from "./objects.fixture.ts";
import { conditionOf } from "./pod.ts";
import { World } from "./world.fixture.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const SCALERS = "horizontalpodautoscalers.autoscaling";
const scaler = () => world.get<Autoscaler>(SCALERS, "web");
const replicas = () => world.get<Deployment>("deployments.apps", "web").spec.replicas;

function scale(spec: object): void {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const target = { type: "Utilization", averageUtilization: 50 };
  const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
  const metadata = { name: "web", namespace: "default" };
  world.create(SCALERS, {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata,
    spec: { scaleTargetRef, maxReplicas: 6, metrics, ...spec },
  });
}

const using = (cpu: string) => {
  const containers = [{ name: "main", image: "web:1", resources: { requests: { cpu: "100m" } } }];
  return template({ annotations: { "kwok.x-k8s.io/usage-cpu": cpu }, spec: { containers } });
};

test("[SC70] the autoscaler scales with use as the controller manager, and reports what it has seen", async () => {
  world.create("deployments.apps", deployment("web", { replicas: 2, template: using("100m") }));
  await world.pass(5);
  scale({});
  await world.pass(1);
  expect(replicas()).toBe(4);
  expect(scaler()["status"]).toMatchObject({
    currentReplicas: 2,
    desiredReplicas: 4,
    lastScaleTime: expect.any(String),
    currentMetrics: [
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 100, averageValue: "100m" } } },
    ],
  });
  expect(conditionOf(scaler(), "AbleToScale")).toMatchObject({ status: "True", reason: "SucceededRescale" });
  const { managedFields = [] } = world.get("deployments.apps", "web").metadata;
  expect(managedFields).toContainEqual(
    expect.objectContaining({ manager: "kube-controller-manager", subresource: "scale" }),
  );
  await world.pass(60);
  expect(replicas()).toBe(6);
  expect(conditionOf(scaler(), "ScalingLimited")).toMatchObject({ status: "True", reason: "TooManyReplicas" });
});

test("[SC71] the autoscaler raises to its minimum at once, and scales down only after five calm minutes", async () => {
  world.create("deployments.apps", deployment("web", { replicas: 4, template: using("1m") }));
  await world.pass(5);
  scale({ minReplicas: 2 });
  await world.pass(290);
  expect(replicas()).toBe(4);
  await world.pass(30);
  expect(replicas()).toBe(2);
  world.store.patch("deployments.apps", "web", "default", { spec: { replicas: 1 } });
  await world.pass(15);
  expect(replicas()).toBe(2);
});

test("[SC71] the autoscaler leaves zero replicas alone, and reports when it cannot measure or find its target", async () => {
  scale({});
  await world.pass(1);
  expect(conditionOf(scaler(), "AbleToScale")).toMatchObject({ status: "False", reason: "FailedGetScale" });
  world.create("deployments.apps", deployment("web", { replicas: 0 }));
  await world.pass(1);
  expect(conditionOf(scaler(), "ScalingActive")).toMatchObject({ status: "False", reason: "ScalingDisabled" });
  world.store.patch("deployments.apps", "web", "default", { spec: { replicas: 1 } });
  await world.pass(30);
  expect(conditionOf(scaler(), "AbleToScale")).toMatchObject({ status: "True" });
  expect(conditionOf(scaler(), "ScalingActive")).toMatchObject({ status: "False", reason: "FailedGetResourceMetric" });
  expect(replicas()).toBe(1);
});
