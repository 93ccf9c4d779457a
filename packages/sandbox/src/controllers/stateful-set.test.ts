import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { statefulSet, template } from "./objects.fixture.ts";
import { isReady } from "./pod.ts";
import type { StatefulSet } from "./stateful-set.ts";
import { World } from "./world.fixture.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const SETS = "statefulsets.apps";
const db = () => world.get<StatefulSet>(SETS, "db");
const names = () => world.pods().map(({ metadata }) => metadata.name);
const claims = [
  { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
];
const change = (spec: object) => world.store.patch(SETS, "db", "default", { spec });

describe("a stateful set", () => {
  test("[SC20] a StatefulSet starts its pods in order, each with a name and a claim of its own", async () => {
    world.create(SETS, statefulSet("db", { replicas: 3, serviceName: "db", volumeClaimTemplates: claims }));
    await world.pass(0);
    expect(names()).toEqual(["db-0"]);
    const growth: number[] = [];
    await world.pass(20, () => {
      const ready = world.pods().filter(isReady).length;
      growth.push(names().length - ready);
    });
    expect(Math.max(...growth)).toBe(1);
    expect(names()).toEqual(["db-0", "db-1", "db-2"]);
    expect(world.pods()[1]).toMatchObject({
      metadata: { labels: { "statefulset.kubernetes.io/pod-name": "db-1", "apps.kubernetes.io/pod-index": "1" } },
      spec: {
        hostname: "db-1",
        subdomain: "db",
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-db-1" } }],
      },
    });
    expect(world.list("persistentvolumeclaims").map(({ metadata }) => metadata.name)).toEqual([
      "data-db-0",
      "data-db-1",
      "data-db-2",
    ]);
    expect(db()["status"]).toMatchObject({ replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
  });

  test("[SC16] a StatefulSet adopts the pods of an earlier one that was deleted with orphaning, and leaves them running", async () => {
    const set = statefulSet("db", { replicas: 2, volumeClaimTemplates: claims });
    world.create(SETS, set);
    await world.pass(20);
    const before = world.pods().map(({ metadata }) => metadata.uid);
    world.store.delete(SETS, "db", "default", { propagation: "Orphan" });
    await world.pass(5);
    expect(world.list(SETS)).toEqual([]);
    expect(world.pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    world.create(SETS, set);
    await world.pass(5);
    expect(world.pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(db()["status"]).toMatchObject({ replicas: 2, readyReplicas: 2, updatedReplicas: 2 });
  });

  test("[SC21] a parallel StatefulSet starts and stops all pods at once", async () => {
    world.create(SETS, statefulSet("db", { replicas: 3, podManagementPolicy: "Parallel" }));
    await world.pass(0);
    expect(names()).toHaveLength(3);
    await world.pass(5);
    change({ replicas: 0 });
    await world.pass(0);
    expect(world.pods().every(({ metadata }) => metadata.deletionTimestamp)).toBe(true);
    await world.pass(5);
    expect(names()).toEqual([]);
    expect(db().status?.currentRevision).toBe((db()["status"] as Record<string, unknown>)["updateRevision"]);
  });

  test("[SC20] a StatefulSet scales down from the last pod, one at a time, and keeps the claims", async () => {
    world.create(SETS, statefulSet("db", { replicas: 3, volumeClaimTemplates: claims }));
    await world.pass(20);
    change({ replicas: 1 });
    const steps = new Set<string>();
    await world.pass(20, () => steps.add(names().join(" ")));
    expect([...steps]).toEqual(["db-0 db-1", "db-0"]);
    expect(world.list("persistentvolumeclaims")).toHaveLength(3);
  });

  test("[SC22] a StatefulSet replaces its pods from the last to the first, one at a time", async () => {
    world.create(SETS, statefulSet("db", { replicas: 3 }));
    await world.pass(20);
    const before = db().status?.currentRevision;
    change({ template: template({ image: "web:2" }) });
    const missing: number[] = [];
    const order: string[] = [];
    await world.pass(30, () => {
      missing.push(3 - world.pods().filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp).length);
      for (const { metadata, spec } of world.pods()) {
        if (spec.containers[0]?.image === "web:2" && !order.includes(metadata.name)) order.push(metadata.name);
      }
    });
    expect(Math.max(...missing)).toBe(1);
    expect(order).toEqual(["db-2", "db-1", "db-0"]);
    const status = db()["status"] as Record<string, unknown>;
    expect(status["currentRevision"]).toBe(status["updateRevision"]);
    expect(status["currentRevision"]).not.toBe(before);
    expect(status).toMatchObject({ updatedReplicas: 3, currentReplicas: 3 });
  });

  test("[SC22] a StatefulSet leaves pods below the partition alone, and all pods with the strategy OnDelete", async () => {
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 2 } };
    world.create(SETS, statefulSet("db", { replicas: 3, updateStrategy }));
    await world.pass(20);
    change({ template: template({ image: "web:2" }) });
    await world.pass(20);
    const images = () => world.pods().map(({ spec }) => spec.containers[0]?.image);
    expect(images()).toEqual(["web:1", "web:1", "web:2"]);
    world.store.delete("pods", "db-0", "default");
    await world.pass(10);
    expect(images()).toEqual(["web:1", "web:1", "web:2"]);
    change({ updateStrategy: { type: "OnDelete", rollingUpdate: null }, template: template({ image: "web:3" }) });
    await world.pass(20);
    expect(images()).toEqual(["web:1", "web:1", "web:2"]);
  });

  test("[SC22] a parallel StatefulSet replaces pods that never became ready", async () => {
    const broken = template({ annotations: { "sandbox.binnacle.dev/fate": "crash" } });
    world.create(SETS, statefulSet("db", { replicas: 2, podManagementPolicy: "Parallel", template: broken }));
    await world.pass(20);
    change({ template: { metadata: { annotations: null } } });
    await world.pass(30);
    expect(db()["status"]).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
  });
});
