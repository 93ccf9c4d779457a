import { expect, test } from "vitest";
import { ANNOTATIONS } from "../../packages/contract/src/index.ts";
import type { KubeObject } from "../../packages/sandbox/src/store/kube-object.ts";
import { heldApps } from "./figures.ts";

const app = {
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "App",
  metadata: { name: "app-0", namespace: "fleet", annotations: { [ANNOTATIONS.generation]: "2" } },
} as unknown as KubeObject;

const workload = (status: object, namespace = "fleet") =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "app-0-web", namespace, generation: 3 },
    spec: { replicas: 1, template: { spec: { containers: [{ image: "web:2" }] } } },
    status,
  }) as unknown as KubeObject;

const held = (...workloads: KubeObject[]) =>
  heldApps("c", { list: (resource) => (resource === "apps.binnacle.dev" ? [app] : workloads) });

const READY = { observedGeneration: 3, updatedReplicas: 1, readyReplicas: 1 };

test("[FL5] an image that is rolled out and ready counts as held by its cluster", () => {
  expect(held(workload(READY))).toEqual([{ clusterId: "c", key: "fleet/app-0", generation: 2, readyImage: "web:2" }]);
});

test.each([
  ["not observed", [workload({ ...READY, observedGeneration: 2 })]],
  ["not updated", [workload({ ...READY, updatedReplicas: 0 })]],
  ["not ready", [workload({ ...READY, readyReplicas: 0 })]],
  ["of another namespace", [workload(READY, "other")]],
  ["not there", []],
])("[FL5] an image of a workload that is %s does not count as held", (_, workloads) => {
  expect(held(...workloads)).toMatchObject([{ readyImage: null }]);
});
