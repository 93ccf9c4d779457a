import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { barePod, deployment, template } from "../controllers/objects.fixture.ts";
import { conditionOf, type Pod } from "../controllers/pod.ts";
import { World } from "../controllers/world.fixture.ts";
import { SIMULATED } from "./nodes.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const pod = (name = "one") => world.get<Pod>("pods", name);
const fate = (value: string, prefix = "sandbox") => ({ annotations: { [`${prefix}.binnacle.dev/fate`]: value } });
const warnings = (name = "one") =>
  world
    .list("events", "default")
    .filter(({ involvedObject, type }) => type === "Warning" && (involvedObject as { name: string }).name === name)
    .map(({ reason }) => reason);

describe("a pod", () => {
  test("[SC50] a pod is scheduled on a node, waits a moment, and runs", async () => {
    world.create("pods", barePod("one"));
    await world.pass(0);
    expect(pod()).toMatchObject({
      spec: { nodeName: expect.stringMatching(/^simulated-node-[123]$/) },
      status: {
        phase: "Pending",
        containerStatuses: [{ name: "main", ready: false, state: { waiting: { reason: "ContainerCreating" } } }],
      },
    });
    await world.pass(1);
    expect(pod()).toMatchObject({
      status: {
        phase: "Running",
        podIP: expect.stringMatching(/^10\.244\./),
        startTime: "2026-03-02T10:00:00Z",
        containerStatuses: [
          {
            name: "main",
            image: "web:1",
            containerID: expect.stringMatching(/^simulated:/),
            ready: true,
            started: true,
            restartCount: 0,
            state: { running: { startedAt: "2026-03-02T10:00:01Z" } },
          },
        ],
      },
    });
    for (const type of ["PodScheduled", "Initialized", "ContainersReady", "Ready"]) {
      expect(conditionOf(pod(), type)?.status).toBe("True");
    }
  });

  test.each(["sandbox", "test"])("[SC51] a pod is ready after %s.binnacle.dev/ready-after", async (prefix) => {
    world.create("pods", barePod("one", { annotations: { [`${prefix}.binnacle.dev/ready-after`]: "1m30s" } }));
    await world.pass(89);
    expect(pod().status?.phase).toBe("Pending");
    await world.pass(1);
    expect(pod().status?.phase).toBe("Running");
  });

  test.each(["sandbox", "test"])("[SC52] a pod keeps crashing when %s.binnacle.dev/fate says so", async (prefix) => {
    world.create("pods", barePod("one", fate("crash", prefix)));
    await world.pass(3);
    expect(pod().status).toMatchObject({
      phase: "Running",
      containerStatuses: [
        {
          ready: false,
          restartCount: 1,
          state: { waiting: { reason: "CrashLoopBackOff", message: expect.stringContaining("back-off 10s") } },
          lastState: { terminated: { exitCode: 1, reason: "Error" } },
        },
      ],
    });
    expect(conditionOf(pod(), "Ready")).toMatchObject({ status: "False", reason: "ContainersNotReady" });
    expect(warnings()).toEqual(["BackOff"]);
    await world.pass(10);
    expect(pod().status?.containerStatuses?.[0]).toMatchObject({ restartCount: 2, state: { running: {} } });
    await world.pass(1);
    expect(pod().status?.containerStatuses?.[0]?.state.waiting?.message).toContain("back-off 20s");
    await world.pass(3_600);
    expect(pod().status?.containerStatuses?.[0]?.state.waiting?.message).toContain("back-off 5m0s");
    expect(warnings()).toEqual(["BackOff"]);
  });

  test("[SC52] a pod with the fate oom is killed again and again for lack of memory", async () => {
    world.create("pods", barePod("one", fate("oom")));
    await world.pass(5);
    expect(pod().status?.containerStatuses?.[0]).toMatchObject({
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
    });
  });

  test.each([
    ["its annotation", barePod("one", fate("image"))],
    ["the name of its image", barePod("one", { image: "registry.example.com/does-not-exist:1" })],
  ])("[SC53] a pod cannot pull its image when %s says so", async (_, object) => {
    world.create("pods", object);
    await world.pass(1);
    expect(pod().status?.containerStatuses?.[0]?.state.waiting?.reason).toBe("ErrImagePull");
    await world.pass(600);
    expect(pod().status).toMatchObject({
      phase: "Pending",
      containerStatuses: [
        { state: { waiting: { reason: "ImagePullBackOff", message: expect.stringContaining("not found") } } },
      ],
    });
    expect(new Set(warnings())).toEqual(new Set(["Failed"]));
  });

  test("[SC53] a pod runs once its image is corrected", async () => {
    world.create("pods", barePod("one", { image: "does-not-exist" }));
    await world.pass(30);
    const containers = pod().spec.containers.map((container) => ({ ...container, image: "web:1" }));
    world.store.patch("pods", "one", "default", { spec: { containers } });
    await world.pass(1);
    expect(pod().status?.phase).toBe("Running");
  });

  test("[SC54] a pod runs and never gets ready, or fails, when its annotation says so", async () => {
    world.create("pods", barePod("one", fate("unready")));
    world.create("pods", barePod("other", fate("fail")));
    await world.pass(600);
    expect(pod().status).toMatchObject({
      phase: "Running",
      containerStatuses: [{ ready: false, state: { running: {} } }],
    });
    expect(warnings()).toEqual(["Unhealthy"]);
    expect(pod("other").status).toMatchObject({
      phase: "Failed",
      containerStatuses: [{ state: { terminated: { exitCode: 1 } } }],
    });
  });

  test("[SC54] a failed pod of a set is replaced, and finished pods do not pile up", async () => {
    world.stop();
    world = new World({ mostFinishedPods: 5 });
    world.create("deployments.apps", deployment("web", { template: template(fate("fail")) }));
    await world.pass(600);
    const phases = world.pods().map(({ status }) => status?.phase);
    expect(phases.filter((phase) => phase === "Failed")).toHaveLength(5);
    expect(phases).toHaveLength(6);
  });

  test("[SC55] a deleted pod stops within its grace period, and at once when it has none", async () => {
    world.create("pods", barePod("one"));
    world.create("pods", barePod("other"));
    await world.pass(5);
    world.store.delete("pods", "one", "default");
    world.store.delete("pods", "other", "default", { gracePeriodSeconds: 0 });
    await world.pass(0);
    expect(world.pods().map(({ metadata }) => metadata.name)).toEqual(["one"]);
    await world.pass(1);
    expect(world.pods()).toEqual([]);
  });

  test("[SC55] a deleted pod that a finalizer holds is left alone", async () => {
    const object = barePod("one");
    world.create("pods", { ...object, metadata: { ...object.metadata, finalizers: ["example.com/hold"] } });
    await world.pass(5);
    world.store.delete("pods", "one", "default");
    const changes = world.changes();
    await world.pass(600);
    expect(changes.filter(({ resource }) => resource === "pods").length).toBeLessThan(5);
    world.store.patch("pods", "one", "default", { metadata: { finalizers: null } });
    await world.pass(0);
    expect(world.pods()).toEqual([]);
  });
});

describe("the scheduler", () => {
  const asking = (name: string, requests: object, more: object = {}) => ({
    ...barePod(name),
    spec: { containers: [{ name: "main", image: "web:1", resources: { requests } }], ...more },
  });

  test("[SC56] the scheduler puts no more on a node than fits, reports what is missing, and goes on when there is room", async () => {
    world.stop();
    world = new World({ nodes: 2, nodeCapacity: { cpu: "2", memory: "4Gi", pods: "10" } });
    for (const name of ["a", "b", "c"]) world.create("pods", asking(name, { memory: "3Gi", cpu: "100m" }));
    await world.pass(5);
    const running = () => world.pods().filter(({ status }) => status?.phase === "Running").length;
    expect(running()).toBe(2);
    const [waiting] = world.pods().filter(({ spec }) => spec.nodeName === undefined);
    expect(waiting && conditionOf(waiting, "PodScheduled")).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message: "0/2 nodes are available: 2 Insufficient memory.",
    });
    expect(warnings(waiting?.metadata.name)).toEqual(["FailedScheduling"]);
    world.store.delete("pods", world.pods().find(({ spec }) => spec.nodeName)?.metadata.name ?? "", "default");
    await world.pass(5);
    expect(running()).toBe(2);
    expect(world.pods()).toHaveLength(2);
  });

  test.each([
    ["a selector that no node has", asking("one", {}, { nodeSelector: { disk: "fast" } })],
    ["its annotation", barePod("one", fate("unschedulable"))],
  ])("[SC56] the scheduler leaves a pod waiting for %s", async (_, object) => {
    world.create("pods", object);
    await world.pass(60);
    expect(conditionOf(pod(), "PodScheduled")).toMatchObject({ reason: "Unschedulable" });
    expect(pod().status?.phase).toBe("Pending");
  });

  test("[SC56] the scheduler waits for the volume claims of a pod", async () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    world.create("pods", asking("one", {}, { volumes }));
    await world.pass(5);
    expect(conditionOf(pod(), "PodScheduled")?.message).toContain('persistentvolumeclaim "data" not found');
    world.create("persistentvolumeclaims", {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", namespace: "default" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    await world.pass(5);
    expect(pod().status?.phase).toBe("Running");
  });

  test("[SC57] the nodes say that they are simulated, and come back when they are deleted", async () => {
    await world.pass(0);
    const names = ["simulated-node-1", "simulated-node-2", "simulated-node-3"];
    expect(world.list("nodes").map(({ metadata }) => metadata.name)).toEqual(names);
    for (const node of world.list("nodes")) {
      expect(node.metadata.labels?.[SIMULATED]).toBe("true");
      expect(conditionOf(node, "Ready")?.status).toBe("True");
      expect(node["status"]).toMatchObject({ nodeInfo: { osImage: expect.stringContaining("Simulated") } });
    }
    world.store.delete("nodes", "simulated-node-2", undefined);
    await world.pass(0);
    expect(world.list("nodes").map(({ metadata }) => metadata.name)).toEqual(names);
  });
});
