import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Deployment } from "./deployment.ts";
import { deployment, template } from "./objects.fixture.ts";
import { conditionOf } from "./pod.ts";
import type { ReplicaSet } from "./replica-set.ts";
import { World } from "./world.fixture.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const web = () => world.get<Deployment>("deployments.apps", "web");
const sets = () => world.list<ReplicaSet>("replicasets.apps");
const change = (spec: object) => world.store.patch("deployments.apps", "web", "default", { spec });

describe("a deployment", () => {
  test("[SC10] a Deployment becomes a ReplicaSet and pods, and reports when they are available", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 2 }));
    await world.pass(0);
    expect(web()).toMatchObject({
      metadata: { annotations: { "deployment.kubernetes.io/revision": "1" } },
      status: {
        observedGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        unavailableReplicas: 2,
      },
    });
    expect(conditionOf(web(), "Available")).toMatchObject({ status: "False", reason: "MinimumReplicasUnavailable" });
    await world.pass(5);
    expect(web()["status"]).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 });
    expect(web()["status"]).not.toHaveProperty("unavailableReplicas");
    expect(conditionOf(web(), "Available")).toMatchObject({ status: "True", reason: "MinimumReplicasAvailable" });
    expect(conditionOf(web(), "Progressing")).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
    const [set] = sets();
    const hash = set?.metadata.labels?.["pod-template-hash"] ?? "";
    expect(set?.metadata.name).toBe(`web-${hash}`);
    for (const pod of world.pods()) {
      expect(pod.metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
      expect(pod.metadata.labels).toMatchObject({ app: "web", "pod-template-hash": hash });
    }
  });

  test("[SC11] a Deployment rolls out a new template, keeps the old ReplicaSet, and returns to it as a new revision", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 3 }));
    await world.pass(5);
    change({ template: template({ image: "web:2" }) });
    await world.pass(20);
    expect(sets().map(({ spec }) => spec.replicas)).toEqual([0, 3]);
    expect(world.pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(["web:2", "web:2", "web:2"]);
    expect(web().metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "2" });
    change({ template: template({ image: "web:1" }) });
    await world.pass(20);
    expect(sets().map(({ spec }) => spec.replicas)).toEqual([3, 0]);
    expect(web().metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "3" });
    expect(sets()[0]?.metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "3" });
  });

  test("[SC11] a Deployment deletes old ReplicaSets beyond its limit", async () => {
    world.create("deployments.apps", deployment("web", { revisionHistoryLimit: 1 }));
    for (const image of ["web:2", "web:3", "web:4"]) {
      await world.pass(10);
      change({ template: template({ image }) });
    }
    await world.pass(20);
    expect(sets().map(({ spec }) => spec.template.spec.containers[0]?.image)).toEqual(["web:3", "web:4"]);
  });

  test("[SC12] a Deployment with the strategy Recreate has no pods of two versions at once", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 2, strategy: { type: "Recreate" } }));
    await world.pass(5);
    change({ template: template({ image: "web:2" }) });
    const mixes = new Set<number>();
    await world.pass(20, () => mixes.add(new Set(world.pods().map(({ spec }) => spec.containers[0]?.image)).size));
    expect(Math.max(...mixes)).toBe(1);
    expect(web()["status"]).toMatchObject({ updatedReplicas: 2, availableReplicas: 2 });
  });

  test("[SC13] a paused Deployment is scaled and not rolled out", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 1 }));
    await world.pass(5);
    change({ paused: true, replicas: 3, template: template({ image: "web:2" }) });
    await world.pass(5);
    expect(world.pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(["web:1", "web:1", "web:1"]);
    expect(conditionOf(web(), "Progressing")).toMatchObject({ status: "Unknown", reason: "DeploymentPaused" });
    change({ paused: null });
    await world.pass(20);
    expect(world.pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("[SC14] a Deployment reports when it has made no progress for too long, and recovers", async () => {
    const broken = template({ annotations: { "sandbox.binnacle.dev/fate": "crash" } });
    world.create("deployments.apps", deployment("web", { replicas: 2, progressDeadlineSeconds: 60, template: broken }));
    await world.pass(50);
    expect(conditionOf(web(), "Progressing")).toMatchObject({ status: "True" });
    await world.pass(30);
    expect(conditionOf(web(), "Progressing")).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    change({ template: { metadata: { annotations: null } } });
    await world.pass(20);
    expect(conditionOf(web(), "Progressing")).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
  });

  test("[SC14] a complete Deployment does not exceed its deadline when it is scaled or loses a pod", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 2, progressDeadlineSeconds: 60 }));
    await world.pass(5);
    change({ replicas: 3 });
    world.store.delete("pods", world.pods()[0]?.metadata.name ?? "", "default");
    await world.pass(600);
    expect(conditionOf(web(), "Progressing")).toMatchObject({ status: "True", reason: "NewReplicaSetAvailable" });
    expect(web()["status"]).toMatchObject({ availableReplicas: 3 });
  });

  test("[SC15] a Deployment counts a pod as available only after minReadySeconds", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 1, minReadySeconds: 30 }));
    await world.pass(10);
    expect(web()["status"]).toMatchObject({ readyReplicas: 1 });
    expect(web()["status"]).not.toHaveProperty("availableReplicas");
    await world.pass(30);
    expect(web()["status"]).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
  });

  test("[SC16] a deleted Deployment takes its pods along, and with orphaning leaves them to the next Deployment", async () => {
    world.create("deployments.apps", deployment("web", { replicas: 2 }));
    await world.pass(5);
    const names = world.pods().map(({ metadata }) => metadata.name);
    world.store.delete("deployments.apps", "web", "default", { propagation: "Orphan" });
    await world.pass(5);
    expect(world.pods().map(({ metadata }) => metadata.name)).toEqual(names);
    world.create("deployments.apps", deployment("web", { replicas: 2 }));
    await world.pass(5);
    expect(world.pods().map(({ metadata }) => metadata.name)).toEqual(names);
    expect(sets()).toHaveLength(1);
    world.store.delete("deployments.apps", "web", "default");
    await world.pass(5);
    expect([...sets(), ...world.pods()]).toEqual([]);
  });
});
