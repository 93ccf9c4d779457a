import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { barePod, daemonSet, deployment, template } from "./objects.fixture.ts";
import { World } from "./world.fixture.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

describe("a claim", () => {
  const claim = (spec: object = {}) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  });
  const CLAIMS = "persistentvolumeclaims";

  test("[SC75] a volume claim is bound to a volume of its own, which grows and is deleted with the claim", async () => {
    world.create(CLAIMS, claim());
    await world.pass(0);
    const { uid } = world.get(CLAIMS, "data").metadata;
    expect(world.get(CLAIMS, "data")).toMatchObject({
      spec: { volumeName: `pvc-${uid}`, storageClassName: "simulated" },
      status: { phase: "Bound", capacity: { storage: "1Gi" } },
    });
    expect(world.get("persistentvolumes", `pvc-${uid}`, null)).toMatchObject({
      spec: { claimRef: { name: "data", namespace: "default", uid }, capacity: { storage: "1Gi" } },
      status: { phase: "Bound" },
    });
    world.store.patch(CLAIMS, "data", "default", { spec: { resources: { requests: { storage: "2Gi" } } } });
    await world.pass(0);
    expect(world.get(CLAIMS, "data")).toMatchObject({ status: { capacity: { storage: "2Gi" } } });
    world.store.delete(CLAIMS, "data", "default");
    await world.pass(0);
    expect([...world.list(CLAIMS), ...world.list("persistentvolumes")]).toEqual([]);
  });

  test("[SC75] a volume claim of a missing storage class stays pending, and an event says why", async () => {
    world.create(CLAIMS, claim({ storageClassName: "fast" }));
    await world.pass(10);
    expect(world.get(CLAIMS, "data")).toMatchObject({ status: { phase: "Pending" } });
    expect(world.list("events")).toContainEqual(expect.objectContaining({ reason: "ProvisioningFailed" }));
  });

  test("[SC76] a volume claim that a pod uses is deleted after the pod", async () => {
    world.create(CLAIMS, claim());
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    world.create("pods", barePod("one", { spec: { volumes } }));
    await world.pass(5);
    world.store.delete(CLAIMS, "data", "default");
    await world.pass(60);
    expect(world.get(CLAIMS, "data").metadata.deletionTimestamp).toBeDefined();
    world.store.delete("pods", "one", "default");
    await world.pass(5);
    expect(world.list(CLAIMS)).toEqual([]);
  });
});

describe("a service", () => {
  const service = (spec: object = {}) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
  });
  const SLICES = "endpointslices.discovery.k8s.io";

  test("[SC77] a Service has the endpoints of its ready pods, and drops those that are deleted", async () => {
    world.create("services", service());
    world.create("deployments.apps", deployment("web", { replicas: 2 }));
    world.create("pods", barePod("never", { annotations: { "sandbox.binnacle.dev/fate": "unready" } }));
    await world.pass(5);
    const ips = world.pods().map(({ status }) => status?.podIP);
    expect(new Set(ips).size).toBe(3);
    expect(world.get("endpoints", "web")).toMatchObject({
      subsets: [
        {
          addresses: [{ targetRef: { kind: "Pod" } }, { targetRef: { kind: "Pod" } }],
          notReadyAddresses: [{ targetRef: { name: "never" } }],
          ports: [{ name: "http", port: 8080, protocol: "TCP" }],
        },
      ],
    });
    const [slice] = world.list(SLICES);
    expect(slice).toMatchObject({
      metadata: { labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080 }],
    });
    const ready = () =>
      (world.list(SLICES)[0]?.["endpoints"] as { conditions: { ready: boolean } }[] | undefined)?.filter(
        ({ conditions }) => conditions.ready,
      ).length;
    expect(ready()).toBe(2);
    world.store.scale("deployments.apps", "web", "default", 0);
    await world.pass(5);
    expect(ready() ?? 0).toBe(0);
    world.store.delete("services", "web", "default");
    await world.pass(0);
    expect([...world.list("endpoints"), ...world.list(SLICES)]).toEqual([]);
  });

  test("[SC78] a Service of the type LoadBalancer gets an address of a range for documentation", async () => {
    world.create("services", service({ type: "LoadBalancer" }));
    await world.pass(0);
    const { loadBalancer } = world.get("services", "web")["status"] as { loadBalancer: { ingress: object[] } };
    expect(loadBalancer.ingress).toMatchObject([{ ip: expect.stringMatching(/^192\.0\.2\./) }]);
  });
});

describe("a daemon set", () => {
  test("[SC79] a DaemonSet has a pod on every node, and replaces its pods one by one", async () => {
    world.create("daemonsets.apps", daemonSet("agent"));
    await world.pass(5);
    expect(new Set(world.pods().map(({ spec }) => spec.nodeName)).size).toBe(3);
    expect(world.get("daemonsets.apps", "agent")["status"]).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberReady: 3,
      numberAvailable: 3,
      updatedNumberScheduled: 3,
    });
    world.store.patch("daemonsets.apps", "agent", "default", { spec: { template: template({ image: "agent:2" }) } });
    const available: number[] = [];
    await world.pass(30, () => {
      const status = world.get("daemonsets.apps", "agent")["status"] as { numberAvailable?: number };
      available.push(status.numberAvailable ?? 0);
    });
    expect(Math.min(...available)).toBe(2);
    expect(world.pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(["agent:2", "agent:2", "agent:2"]);
  });
});
